//! Random events, forks and rewinds, and a model that keeps every state in a list.

use std::collections::BTreeMap;

use proptest::prelude::*;
use statemark_store::runs::{Fork, Rewind};
use statemark_store::{Actor, Order, Role, RunState, Send, Start, fold};

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
    Fork(u64),
    Rewind(u64),
    Keep,
}

fn act() -> impl Strategy<Value = Act> {
    let event = prop::sample::select(vec!["go", "again", "pause", "back"]);
    prop_oneof![
        6 => event.prop_map(Act::Send),
        1 => (1_u64..9_000).prop_map(Act::Pass),
        1 => any::<u64>().prop_map(Act::Fork),
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

    fn back(&mut self, to: u64) -> RunState {
        for (_, counts) in self.states.iter_mut().skip(index(to)) {
            *counts = false;
        }
        self.states[index(to) - 1].0.clone()
    }
}

/// What a rewind takes back.
fn taken(state: &RunState) -> impl PartialEq + std::fmt::Debug + use<> {
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
        let start = Start { workflow: "ship".to_owned(), ..Start::default() };
        let begun = bench.runs.start(&bench.order("0"), &start).unwrap();
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
                    let sent = bench.runs.send(&order, &Send { event, data: None }).unwrap();
                    known.grow(&sent.loaded.state, sent.loaded.head.seq);
                }
                Act::Pass(milliseconds) => bench.clock.advance(milliseconds),
                Act::Keep => {
                    let loaded = bench.runs.load(&order.run).unwrap();
                    bench.runs.keep_fold(&loaded).unwrap();
                }
                Act::Fork(at) => {
                    let at = at % last + 1;
                    let new = bench.order(&count.to_string());
                    let fork = bench.runs.fork(&new, &Fork::new(order.run.clone(), at));
                    prop_assert_eq!(fork.is_ok(), known.states[index(at) - 1].1);
                    if let Ok(fork) = fork {
                        let mut forked = known.clone();
                        forked.states.truncate(index(at));
                        forked.own = at;
                        // Whatever was taken back behind that record counts there.
                        let live = fold::live(bench.runs.store(), &order.run, Some(at), &[]).unwrap();
                        for (place, state) in forked.states.iter_mut().enumerate() {
                            state.1 = live.counts(number(place) + 1);
                        }
                        forked.grow(&fork.loaded.state, at + 1);
                        all.insert(count.to_string(), forked);
                    }
                }
                Act::Rewind(to) => {
                    let to = to % last + 1;
                    let mut rewind = Rewind::to(to);
                    let plan = bench.runs.plan_rewind(&order.run, &rewind);
                    let legal = known.states[index(to) - 1].1 && to > known.own;
                    prop_assert!(legal || plan.is_err());
                    let Ok(plan) = plan else { continue };
                    rewind.token = Some(plan.token);
                    // After an agent's, limits would go on counting what was taken back.
                    let actor = Actor::new(Role::Person);
                    let order = Order { actor, ..order.clone() };
                    let written = bench.runs.rewind(&order, &rewind).unwrap();
                    prop_assert_eq!(&written.records[0].kind, "run.rewound");
                    let state = known.back(to);
                    known.grow(&state, last + 1);
                }
            }
            for (name, known) in &all {
                let run = name.parse().unwrap();
                let loaded = bench.runs.load(&run).unwrap();
                let anew = fold::read_anew(bench.runs.store(), &run, None).unwrap();
                prop_assert_eq!(&loaded.state, &anew);
                prop_assert_eq!(loaded.head.seq, number(known.states.len()));
                let expected = &known.states.last().unwrap().0;
                prop_assert_eq!(taken(expected), taken(&anew));
                let live = fold::live(bench.runs.store(), &run, None, &[]).unwrap();
                for (place, (_, counts)) in known.states.iter().enumerate() {
                    prop_assert_eq!(live.counts(number(place) + 1), *counts);
                }
            }
        }
        for name in all.keys() {
            let replay = bench.runs.replay(&name.parse().unwrap(), None).unwrap();
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
