//! Machines that have learned their steps do the same as one that is watched, which never takes a learned one.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::exercise::{self, Fickle};
use super::machines::{self, Entropy};
use super::notation::table;
use crate::learned::Learner;
use crate::{
    ActionId, Cause, DEFAULT_LEARNING_LIMIT, EventId, FieldId, GuardId, Host, Machine, Outcome,
    Recorder, StateId, StepError, Table, TimerId, Value, dump, verify,
};

/// One machine that learns from its first step on, and one that is watched.
struct Pair<'t> {
    learning: Machine<'t, Fickle>,
    watched: Machine<'t, Fickle>,
    /// Bytes that the first may learn in.
    limit: usize,
    /// Learned steps that it took, before it forgot.
    taken: u64,
}

impl<'t> Pair<'t> {
    fn start(table: &'t Table, seed: u64, limit: usize) -> Option<Self> {
        let learning = Machine::start(table, Fickle::new(seed)).ok()?;
        let watched = learning.clone();
        let mut pair = Self {
            learning,
            watched,
            limit,
            taken: 0,
        };
        pair.begin();
        Some(pair)
    }

    /// Has the machine learn anew, and at once.
    fn begin(&mut self) {
        self.taken += self.learning.learner.counts().0;
        self.learning.set_learning_limit(0);
        self.learning.learner = Learner::at_once(self.limit);
    }

    fn set_step_limit(&mut self, limit: u32) {
        self.taken += self.learning.learner.counts().0;
        self.learning.set_step_limit(limit);
        self.watched.set_step_limit(limit);
        self.begin();
    }

    /// Does one thing to both: `what` says which, `which` to what.
    fn step(&mut self, what: u8, which: u8) -> Result<Outcome, StepError> {
        let Self {
            learning, watched, ..
        } = self;
        let number = u16::from(which);
        let event = EventId::new(number % 7);
        let mut recorder = Recorder::new();
        let (found, expected) = match what {
            0 => {
                let timer = TimerId::new(number % 3);
                let found = learning.elapse(timer);
                (found, watched.elapse_observed(timer, &mut recorder))
            }
            1 => {
                let found = learning.send_observed(event, &mut Recorder::new());
                (found, watched.send_observed(event, &mut recorder))
            }
            2 => {
                let states = learning.table().sections().states.len();
                let targets = [StateId::from_index(usize::from(which) % states).unwrap()];
                let found = learning.jump_observed(&targets, &mut ());
                (found, watched.jump_observed(&targets, &mut recorder))
            }
            3 => {
                let leaves: Vec<StateId> = learning.configuration().leaves().collect();
                let found = learning.send_to_observed(event, &leaves, &mut ());
                let expected = watched.send_to_observed(event, &leaves, &mut recorder);
                (found, expected)
            }
            _ => {
                let found = learning.send(event);
                (found, watched.send_observed(event, &mut recorder))
            }
        };
        assert_eq!(found, expected);
        match what {
            4 => assert_eq!(learning.candidates(), watched.candidates()),
            5 => assert_eq!(learning.can(event), watched.can(event)),
            6 if which == 0 => {
                *learning = learning.clone();
                self.begin();
            }
            7 if which == 0 => {
                let at = learning.configuration().clone();
                let host = learning.host().clone();
                *learning = Machine::restore(learning.table(), host, at).unwrap();
                self.set_step_limit(LIMIT);
            }
            8 if which < 16 => self.set_step_limit(1 + 2 * u32::from(which)),
            _ => {}
        }
        self.compare();
        found
    }

    fn send(&mut self, event: EventId) {
        let expected = self.watched.send_observed(event, &mut Recorder::new());
        assert_eq!(self.learning.send(event), expected);
    }

    fn compare(&self) {
        let (learning, watched) = (&self.learning, &self.watched);
        let at = learning.configuration();
        assert_eq!(at, watched.configuration());
        assert_eq!(learning.host(), watched.host(), "what the host heard");
        assert_eq!(learning.is_ended(), watched.is_ended());
        for (state, _) in learning.table().states() {
            assert_eq!(learning.is_in(state), watched.is_in(state));
        }
        assert!(learning.learner.counts().2 <= self.limit);
    }

    fn taken(&self) -> u64 {
        self.taken + self.learning.learner.counts().0
    }
}

/// Small, so that machines that run in circles don't take long.
const LIMIT: u32 = 30;

/// Runs a random machine; gives the number of learned steps that it took.
fn run(bytes: &[u8], seed: u64, steps: &[(u8, u8)], limit: usize) -> u64 {
    let sections = machines::machine(&mut Entropy::new(bytes));
    let Ok(table) = verify(sections) else {
        return 0;
    };
    let Some(mut pair) = Pair::start(&table, seed, limit) else {
        return 0;
    };
    pair.set_step_limit(LIMIT);
    for &(what, which) in steps.iter().cycle().take(3 * steps.len()) {
        let _ = pair.step(what, which);
    }
    assert!(
        pair.taken() == 0 || table.has_regions(),
        "{}",
        dump(table.sections())
    );
    pair.taken()
}

proptest! {
    #![proptest_config(Config { cases: 500, failure_persistence: None, ..Config::default() })]

    #[test]
    fn learned_steps_are_the_general_ones(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        seed in any::<u64>(),
        steps in proptest::collection::vec((0_u8..100, any::<u8>()), 60),
        limit in prop_oneof![Just(600), Just(2_000), Just(DEFAULT_LEARNING_LIMIT)],
    ) {
        run(&bytes, seed, &steps, limit);
    }
}

/// The random machines are worth something here: many of their steps are learned, with little memory, too.
#[test]
fn random_machines_take_learned_steps() {
    for (limit, least) in [
        (600, 2_000),
        (2_000, 4_000),
        (DEFAULT_LEARNING_LIMIT, 4_000),
    ] {
        let mut taken = 0;
        for seed in 0..300_u64 {
            let chance = |at: u64| exercise::mix(seed << 20 | at).to_le_bytes();
            let bytes: Vec<u8> = (0..300).map(|at| chance(at)[0]).collect();
            let steps: Vec<(u8, u8)> = (0..60)
                .map(|at| (chance(at)[1] % 100, chance(at)[2]))
                .collect();
            taken += run(&bytes, seed, &steps, limit);
        }
        assert!(taken > least, "{taken} within {limit} bytes");
    }
}

/// A radio: three regions, and a deep history that brings all of them back.
const RADIO: &str = "
root to=off
  off
    - on=power to=back
  on parallel entry=light exit=dark
    - on=power to=off
    tape to=stopped
      stopped
        - on=play do=spin to=playing
      playing exit=brake
        - on=pause to=paused
        - on=stop to=stopped
      paused
        - on=play to=playing
        - on=stop to=stopped
    sound to=normal
      normal
        - on=mute to=muted
        - on=louder to=loud
      muted
        - on=mute to=normal
      loud
        - on=quieter to=normal
    lamp to=bright
      bright
        - on=darken to=dim
      dim
        - on=lighten to=bright
    back deep to=stopped
";

#[test]
fn a_walk_by_chance_is_mostly_learned() {
    let table = table(RADIO);
    let mut pair = Pair::start(&table, 7, DEFAULT_LEARNING_LIMIT).unwrap();
    let events: Vec<EventId> = table.events().map(|(id, _)| id).collect();
    for at in 0..40_000 {
        let chance = u16::from_le_bytes([0, 1].map(|byte| exercise::mix(at).to_le_bytes()[byte]));
        pair.send(events[usize::from(chance) % events.len()]);
        pair.compare();
    }
    let (taken, places, bytes) = pair.learning.learner.counts();
    assert!(
        taken > 35_000,
        "{taken} steps, {places} places, {bytes} bytes"
    );
    assert!(places > 300, "{places} places, {bytes} bytes");
}

#[test]
fn a_machine_waits_before_it_learns() {
    let table = table(RADIO);
    let mut machine = Machine::start(&table, ()).unwrap();
    let power = table.event_named("power").unwrap();
    for step in 0..40 {
        assert_eq!(machine.send(power), Ok(Outcome::Taken));
        assert_eq!(machine.learner.counts().1 > 0, step >= 32, "{step}");
    }
    assert!(machine.learner.counts().0 > 0);
    let mut copy = machine.clone();
    assert_eq!(
        copy.learner.counts(),
        (0, 0, 0),
        "a clone learns for itself"
    );
    assert_eq!(copy.configuration(), machine.configuration());
    assert_eq!(copy.send(power), machine.send(power));
    assert_eq!(copy.configuration(), machine.configuration());
    let before = machine.configuration().clone();
    assert!(format!("{machine:?}").contains(&format!("{before:?}")));
    machine.set_learning_limit(0);
    assert_eq!(machine.configuration(), &before);
    for _ in 0..40 {
        let _ = machine.send(power).unwrap();
    }
    assert_eq!(machine.learner.counts(), (0, 0, 0), "there is no memory");
}

/// Answers guards in turn.
#[derive(Clone, Debug, Default, PartialEq)]
struct Turns {
    asked: u32,
    acted: u32,
}

impl Host for Turns {
    fn guard(&mut self, _: GuardId) -> bool {
        self.asked += 1;
        self.asked.is_multiple_of(2)
    }

    fn action(&mut self, _: ActionId) {
        self.acted += 1;
    }
}

#[test]
fn a_step_that_asks_the_host_is_asked_every_time() {
    let table = table(
        "
root to=p
  p parallel
    - on=always do=note internal
    a to=a1
      a1
        - on=go if=ready do=note to=a2
      a2
        - on=go if=ready to=a1
    b to=b1
      b1
        - on=then do=raise.go,note to=b1
",
    );
    let mut machine = Machine::start(&table, Turns::default()).unwrap();
    machine.learner = Learner::at_once(DEFAULT_LEARNING_LIMIT);
    let [always, go, then] = ["always", "go", "then"].map(|it| table.event_named(it).unwrap());
    for round in 0..50 {
        let _ = machine.send(always).unwrap();
        let outcome = if round % 2 == 0 {
            Outcome::Ignored
        } else {
            Outcome::Taken
        };
        assert_eq!(machine.send(go), Ok(outcome), "{round}");
    }
    assert_eq!((machine.host().asked, machine.host().acted), (50, 50 + 13));
    for _ in 0..50 {
        let _ = machine.send(then).unwrap();
    }
    assert_eq!(machine.host().asked, 100, "also within a step");
    assert!(machine.learner.counts().0 >= 45, "`always` was learned");
}

#[test]
fn a_lower_limit_on_microsteps_holds_for_what_was_learned() {
    let table = table(
        "
root to=p
  p parallel
    a to=a1
      a1
        - on=go to=a2
      a2
        - to=a3
      a3
        - to=a1
    b to=b1
      b1
",
    );
    let mut machine = Machine::start(&table, ()).unwrap();
    machine.learner = Learner::at_once(DEFAULT_LEARNING_LIMIT);
    let go = table.event_named("go").unwrap();
    for _ in 0..3 {
        assert_eq!(machine.send(go), Ok(Outcome::Taken));
    }
    assert_eq!(machine.learner.counts().0, 2);
    machine.set_step_limit(2);
    machine.learner = Learner::at_once(DEFAULT_LEARNING_LIMIT);
    for _ in 0..3 {
        assert_eq!(machine.send(go), Err(StepError::StepLimit { limit: 2 }));
    }
    machine.set_step_limit(3);
    assert_eq!(machine.send(go), Ok(Outcome::Taken));
    let none = EventId::new(1);
    assert_eq!(machine.send(none), Err(StepError::NotAnEvent(none)));
}

/// Notes all that it is told.
#[derive(Clone, Debug, Default, PartialEq)]
struct Notes(Vec<String>);

impl Host for Notes {
    fn field(&self, _: FieldId) -> Value<'_> {
        Value::Int(i128::try_from(self.0.len() % 2).unwrap())
    }

    fn action(&mut self, action: ActionId) {
        self.0.push(format!("act {action}"));
    }

    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        self.0.push(format!("try {action}"));
        match self.0.len() % 3 {
            0 => Err("chance".into()),
            _ => Ok(()),
        }
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.0.push(format!("schedule {timer} {delay}"));
    }

    fn cancel(&mut self, timer: TimerId) {
        self.0.push(format!("cancel {timer}"));
    }

    fn begin(&mut self) {
        self.0.push("begin".into());
    }

    fn rollback(&mut self) {
        self.0.push("rollback".into());
    }
}

/// Timers are part of what is learned; data and actions that can fail are asked every time.
#[test]
fn what_the_host_is_told_is_learned() {
    let table = table(
        "
root to=p
  p parallel
    a to=a1
      a1 entry=schedule.nap exit=cancel.nap
        - on=go do=note to=a2
      a2
        - on=go to=a1
    b to=b1
      b1
        - on=try do=note,try.it,note to=b2
        - on=ask if=some>0 do=note internal
      b2
        - on=try do=try.it to=b1
",
    );
    let mut learning = Machine::start(&table, Notes::default()).unwrap();
    let mut other = learning.clone();
    other.set_learning_limit(0);
    learning.learner = Learner::at_once(DEFAULT_LEARNING_LIMIT);
    let events = ["go", "try", "ask"].map(|it| table.event_named(it).unwrap());
    for at in 0..2_000 {
        let event = events[usize::from(exercise::mix(at).to_le_bytes()[0] % 3)];
        assert_eq!(learning.send(event), other.send(event));
        let failures = [&mut learning, &mut other].map(Machine::take_failure);
        let [found, expected] = failures.map(|it| it.map(|it| (it.action, it.done)));
        assert_eq!(found, expected, "the failed action and those before it");
        assert_eq!(learning.configuration(), other.configuration());
        assert_eq!(learning.host(), other.host());
    }
    let taken = learning.learner.counts().0;
    assert!(taken > 600, "{taken} learned steps");
}

/// Parallel switches; event `e<n>` turns one.
fn switches(count: usize) -> String {
    let mut text = String::from("root to=p\n  p parallel\n");
    for at in 0..count {
        text.push_str(&format!(
            "    r{at} to=off{at}\n      off{at}\n        - on=e{at} do=raise.on to=on{at}\n      on{at}\n        - on=e{at} to=off{at}\n"
        ));
    }
    text
}

/// Counts up in Gray code, so that each step leads to a place where the machine has never been.
#[test]
fn a_machine_that_goes_through_ever_new_places_gives_up() {
    let table = table(&switches(16));
    let mut pair = Pair::start(&table, 7, DEFAULT_LEARNING_LIMIT).unwrap();
    let mut most = 0;
    for at in 1..6_000_u32 {
        let event = u8::try_from(at.trailing_zeros()).unwrap();
        let event = table.event_named(&format!("e{event}")).unwrap();
        pair.send(event);
        pair.compare();
        most = most.max(pair.learning.learner.counts().1);
    }
    assert!(most > 200, "{most} places");
    assert_eq!(pair.learning.learner.counts(), (0, 0, 0), "it has given up");
    assert_eq!(pair.learning.learner.limit(), 0);
}

#[test]
fn a_machine_that_moves_on_learns_other_places() {
    let table = table(&switches(10));
    let event = |at: u32| table.event_named(&format!("e{at}")).unwrap();
    let mut pair = Pair::start(&table, 7, 8_000).unwrap();
    for phase in 0..100 {
        // Each phase has four places of its own, again and again.
        for round in 0..400 {
            let at = round % 2;
            pair.send(event(at));
            pair.compare();
        }
        pair.send(event(2 + (phase + 1_u32).trailing_zeros()));
    }
    assert!(pair.taken() > 38_000, "{}", pair.taken());
}
