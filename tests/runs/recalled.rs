//! What a process remembers of a run is a guess for its next append alone: nothing is decided by it that the journal
//! doesn't confirm.

use std::sync::Arc;

use statemark_runs::runs::{PauseRun, SendOutcome};
use statemark_runs::{
    Expect, Key, Order, RunError, SendEvent, StartRun, Store, StoreError, replay_run, state,
};

use crate::harness::Bench;
use crate::stores::in_memory;

const SPEC: &str = "# Lamp\n\n## STATE-MACHINE\n\n```mermaid\nstateDiagram-v2\n    [*] --> Off\n    Off --> On: flip\n    On --> Off: flip\n    On --> Broken: hit\n    Broken --> [*]\n```\n";

/// Two processes over one store.
struct Two {
    own: Bench,
    other: Bench,
    store: Arc<dyn Store>,
    order: Order,
}

impl Two {
    fn new() -> Self {
        let (store, clock) = in_memory();
        let bench = || Bench::over(&[("lamp.md", SPEC)], Arc::clone(&clock), Arc::clone(&store));
        let own = bench();
        let order = own.order("lamp-1");
        let two = Self {
            other: bench(),
            own,
            store,
            order,
        };
        start(&two.own, &two.order);
        two
    }

    /// Whether the process guesses how the run ends.
    fn guesses(&self) -> bool {
        self.own.runs.recall(&self.order.run).is_some()
    }

    /// What the process takes the run to be, and what the run is.
    fn leaves(&self) -> (Vec<String>, Vec<String>) {
        let recalled = self.own.runs.recall(&self.order.run).unwrap();
        let state = state::replay(&*self.store, &self.order.run, None).unwrap();
        (recalled.state.leaves.clone(), state.leaves)
    }

    /// Has the process write until it guesses, and leaves the lamp off.
    fn settle(&self) {
        for _ in 0..4 {
            assert_eq!(send(&self.own, &self.order, "flip").unwrap().0, "taken");
        }
        assert!(self.guesses());
        assert_eq!(self.leaves().1, ["Off"]);
    }

    fn check_journal(&self) {
        let replay = replay_run(&self.other.runs, &self.order.run, None).unwrap();
        assert!(replay.difference.is_none(), "{:?}", replay.difference);
    }
}

fn start(bench: &Bench, order: &Order) {
    let start = StartRun {
        workflow: "lamp".to_owned(),
        ..StartRun::default()
    };
    bench.runs.execute(order, &start).unwrap();
}

/// Sends an event. Returns what came of it, and where the run is then.
fn send(
    bench: &Bench,
    order: &Order,
    event: &str,
) -> Result<(&'static str, Vec<String>), RunError> {
    let send = SendEvent {
        event: event.to_owned(),
        ..SendEvent::default()
    };
    let written = bench.runs.execute(order, &send)?;
    let outcome = match written.outcome {
        SendOutcome::Taken(_) => "taken",
        SendOutcome::Asked(_) => "asked",
        SendOutcome::Refused(_) => "refused",
    };
    Ok((outcome, written.loaded.state.leaves.clone()))
}

#[test]
fn who_writes_alone_guesses_and_who_takes_turns_does_not() {
    let two = Two::new();
    assert!(!two.guesses());
    two.settle();
    send(&two.other, &two.order, "flip").unwrap();
    assert!(two.guesses(), "it hasn't heard of it");
    send(&two.own, &two.order, "flip").unwrap();
    for _ in 0..4 {
        assert!(!two.guesses());
        send(&two.other, &two.order, "flip").unwrap();
        send(&two.own, &two.order, "flip").unwrap();
    }
    two.settle();
    two.check_journal();
}

#[test]
fn a_wrong_guess_decides_nothing() {
    let two = Two::new();
    // Taken by the guess, refused by the run.
    two.settle();
    send(&two.other, &two.order, "flip").unwrap();
    send(&two.other, &two.order, "hit").unwrap();
    let leaves = ["Off", "Broken"].map(|it| vec![it.to_owned()]);
    assert_eq!(two.leaves(), leaves.into());
    assert_eq!(send(&two.own, &two.order, "flip").unwrap().0, "refused");
    two.check_journal();

    // Refused by the guess, taken by the run.
    let two = Two::new();
    two.settle();
    send(&two.other, &two.order, "flip").unwrap();
    assert_eq!(send(&two.own, &two.order, "hit").unwrap().0, "taken");
    two.check_journal();

    // Nothing by the guess, since it wouldn't be paused twice.
    let two = Two::new();
    two.settle();
    let pause = PauseRun::default();
    two.own.runs.execute(&two.order, &pause).unwrap();
    two.other
        .runs
        .execute(&two.order, &statemark_runs::runs::ContinueRun::default())
        .unwrap();
    let paused = two.own.runs.execute(&two.order, &pause).unwrap();
    assert!(!paused.records.is_empty());
    two.check_journal();
}

#[test]
fn an_expected_end_is_that_of_the_journal() {
    let two = Two::new();
    two.settle();
    let seq = two.store.head(&two.order.run).unwrap().seq;
    send(&two.other, &two.order, "flip").unwrap();
    let expecting = |expected| Order {
        expected: Some(expected),
        ..two.order.clone()
    };
    let error = send(&two.own, &expecting(seq), "flip").unwrap_err();
    let RunError::Store(StoreError::Conflict { actual }) = error else {
        panic!("{error}");
    };
    assert_eq!(actual, seq + 1);
    assert_eq!(
        send(&two.own, &expecting(actual), "flip").unwrap().0,
        "taken"
    );
}

#[test]
fn a_key_has_its_first_answer_whatever_the_guess() {
    let two = Two::new();
    two.settle();
    let key: Key = "k".parse().unwrap();
    let keyed = Order {
        key: Some(key),
        ..two.order.clone()
    };
    assert_eq!(send(&two.own, &keyed, "flip").unwrap().0, "taken");
    // The guess would take it, and a guess would refuse it: neither is asked.
    let seq = two.store.head(&two.order.run).unwrap().seq;
    assert_eq!(send(&two.own, &keyed, "flip").unwrap().0, "taken");
    send(&two.own, &two.order, "hit").unwrap();
    assert_eq!(send(&two.own, &keyed, "flip").unwrap().0, "taken");
    assert_eq!(two.store.head(&two.order.run).unwrap().seq, seq + 1);
    let error = send(&two.own, &keyed, "hit").unwrap_err();
    assert!(
        matches!(error, RunError::Store(StoreError::KeyReused { .. })),
        "{error}"
    );
}

#[test]
fn a_run_that_was_replaced_by_one_as_long_is_another() {
    let two = Two::new();
    two.settle();
    let length = two.store.head(&two.order.run).unwrap().seq;
    two.store.remove(&two.order.run, Expect::Any).unwrap();
    start(&two.other, &two.order);
    let mut sent = 0;
    while two.store.head(&two.order.run).unwrap().seq < length {
        // Its lamp is on where the other one's is off.
        let event = if sent == 0 { "hit" } else { "flip" };
        send(&two.other, &two.order, event).unwrap();
        sent += 1;
    }
    assert_eq!(two.store.head(&two.order.run).unwrap().seq, length);
    let (guess, leaves) = two.leaves();
    assert_ne!(guess, leaves);
    let (_, after) = send(&two.own, &two.order, "flip").unwrap();
    assert_eq!(after, guess, "it is what the new one is after it");
    two.check_journal();
}
