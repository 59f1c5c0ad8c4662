//! Random events, forks and rewinds, and a model that keeps every state in a list.

use std::collections::BTreeMap;

use proptest::prelude::*;
use statemark_runs::runs::{ForkRun, RewindRun, Timeline};
use statemark_runs::{
    Actor, Order, Role, RunState, SendEvent, StartRun, cache_state, load_timeline, plan_fork,
    plan_rewind, replay_run, state,
};

use crate::harness::Bench;

const SPEC: &str = r#"# Ship

## STATE-MACHINE

```mermaid
stateDiagram-v2
    [*] --> plan
    plan --> work : go / count()
    work --> plan : again
    work --> stop : pause
    stop --> work[H] : go
    work --> late : after 10s
    state work {
        [*] --> build
        build --> check : go
        check --> build : back / count()
    }
    late --> plan : again
```

```json definition
{
  "id": "ship",
  "context": {"count": 0},
  "actions": {"count": {"assign": {"count": "count + 1"}}}
}
```
"#;

/// What is done to one of the runs.
#[derive(Clone, Debug)]
enum Act {
    Send(&'static str),
    Pass(u64),
    /// At a record, or before some states were entered.
    Fork(u64, Vec<&'static str>),
    Rewind(u64),
    Keep,
}

fn act() -> impl Strategy<Value = Act> {
    let event = prop::sample::select(vec!["go", "again", "pause", "back"]);
    let states = prop::sample::select(vec!["plan", "work", "build", "check", "stop", "late"]);
    let reset = prop::collection::vec(states, 0..3);
    prop_oneof![
        6 => event.prop_map(Act::Send),
        1 => (1_u64..9_000).prop_map(Act::Pass),
        1 => (any::<u64>(), reset).prop_map(|(at, reset)| Act::Fork(at, reset)),
        2 => any::<u64>().prop_map(Act::Rewind),
        1 => Just(Act::Keep),
    ]
}

/// A run as the model knows it: the state after each record, and whether the record counts.
#[derive(Clone, Default)]
struct Known {
    states: Vec<(RunState, bool)>,
    /// The record that it was forked at.
    own: u64,
}

impl Known {
    /// The records that it has by now, all of one append: they count.
    fn grow(&mut self, state: &RunState, upto: u64) {
        while number(self.states.len()) < upto {
            self.states.push((state.clone(), true));
        }
    }

    /// Where a fork begins that shall not have entered some states, by what the timeline says of their visits.
    fn begins(&self, timeline: &Timeline, at: u64, reset: &[&str]) -> Option<u64> {
        let counts = |seq: u64| self.states[index(seq) - 1].1;
        if !counts(at) {
            return None;
        }
        let mut begins = at;
        for state in reset {
            let visits = timeline.visits.iter();
            let entered = visits
                .filter(|it| it.state == *state && it.counts && it.entered <= at)
                .map(|it| it.entered)
                .max()?;
            let before = (1..entered).rev().find(|seq| counts(*seq));
            begins = begins.min(before.unwrap_or(1));
        }
        Some(begins)
    }

    fn back(&mut self, to: u64) -> RunState {
        for (_, counts) in self.states.iter_mut().skip(index(to)) {
            *counts = false;
        }
        self.states[index(to) - 1].0.clone()
    }
}

/// What a rewind takes back.
fn rewound_parts(state: &RunState) -> impl PartialEq + std::fmt::Debug + use<> {
    let state = state.clone();
    (
        state.leaves,
        state.history,
        state.context,
        state.visits,
        state.timers,
        state.transitions,
        state.ended,
        state.forked,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fold_is_what_the_list_says(acts in prop::collection::vec((any::<usize>(), act()), 1..60)) {
        let bench = Bench::new(&[("case.md", SPEC)]);
        let start = StartRun { workflow: "ship".to_owned(), ..StartRun::default() };
        let begun = bench.runs.execute(&bench.order("0"), &start).unwrap();
        let mut all: BTreeMap<String, Known> = BTreeMap::new();
        all.entry("0".to_owned()).or_default().grow(&begun.loaded.state, 1);
        for (which, act) in acts {
            let name = (which % all.len()).to_string();
            let order = bench.order(&name);
            let count = all.len();
            let known = all.get_mut(&name).unwrap();
            let last = number(known.states.len());
            match act {
                Act::Send(event) => {
                    let event = event.to_owned();
                    let sent = bench.runs.execute(&order, &SendEvent { event, data: None, ..SendEvent::default() }).unwrap();
                    known.grow(&sent.loaded.state, sent.loaded.head.seq);
                }
                Act::Pass(milliseconds) => bench.clock.advance(milliseconds),
                Act::Keep => {
                    let loaded = bench.runs.load(&order.run).unwrap();
                    cache_state(&bench.runs, &loaded).unwrap();
                }
                Act::Fork(at, reset) => {
                    let at = at % last + 1;
                    let new = bench.order(&count.to_string());
                    let fork = ForkRun {
                        reset: reset.iter().map(|&it| it.to_owned()).collect(),
                        ..ForkRun::new(order.run.clone(), at)
                    };
                    let plan = plan_fork(&bench.runs, &fork);
                    let fork = bench.runs.execute(&new, &fork);
                    let begins = known.begins(&load_timeline(&bench.runs, &order.run).unwrap(), at, &reset);
                    prop_assert_eq!(plan.ok().map(|it| it.at), begins);
                    prop_assert_eq!(fork.is_ok(), begins.is_some());
                    if let (Ok(fork), Some(at)) = (fork, begins) {
                        prop_assert_eq!(&fork.loaded.head.forked, &Some((order.run.clone(), at)));
                        let mut forked = known.clone();
                        forked.states.truncate(index(at));
                        forked.own = at;
                        // Whatever was taken back behind that record counts there.
                        let live = state::live_records(bench.runs.store(), &order.run, Some(at), &[]).unwrap();
                        for (place, state) in forked.states.iter_mut().enumerate() {
                            state.1 = live.contains(number(place) + 1);
                        }
                        forked.grow(&fork.loaded.state, at + 1);
                        all.insert(count.to_string(), forked);
                    }
                }
                Act::Rewind(to) => {
                    let to = to % last + 1;
                    let mut rewind = RewindRun::to(to);
                    let plan = plan_rewind(&bench.runs, &order.run, &rewind);
                    let legal = known.states[index(to) - 1].1 && to > known.own;
                    prop_assert!(legal || plan.is_err());
                    let Ok(plan) = plan else { continue };
                    rewind.token = Some(plan.token);
                    // After an agent's, limits would go on counting what was taken back.
                    let actor = Actor::new(Role::Person);
                    let order = Order { actor, ..order.clone() };
                    let written = bench.runs.execute(&order, &rewind).unwrap();
                    prop_assert_eq!(&written.records[0].kind, "run.rewound");
                    let state = known.back(to);
                    known.grow(&state, last + 1);
                }
            }
            for (name, known) in &all {
                let run = name.parse().unwrap();
                let loaded = bench.runs.load(&run).unwrap();
                let anew = state::replay(bench.runs.store(), &run, None).unwrap();
                prop_assert_eq!(&*loaded.state, &anew);
                prop_assert_eq!(loaded.head.seq, number(known.states.len()));
                let expected = &known.states.last().unwrap().0;
                prop_assert_eq!(rewound_parts(expected), rewound_parts(&anew));
                let live = state::live_records(bench.runs.store(), &run, None, &[]).unwrap();
                for (place, (_, counts)) in known.states.iter().enumerate() {
                    prop_assert_eq!(live.contains(number(place) + 1), *counts);
                }
            }
        }
        for name in all.keys() {
            let replay = replay_run(&bench.runs, &name.parse().unwrap(), None).unwrap();
            prop_assert_eq!(replay.difference, None);
        }
    }
}

fn index(seq: u64) -> usize {
    usize::try_from(seq).unwrap()
}

fn number(length: usize) -> u64 {
    u64::try_from(length).unwrap()
}
