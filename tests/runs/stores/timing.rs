//! What timers promise.

use statemark_runs::{Append, Expect, ManualClock, PendingTimer, Store};

use super::{Promise, begun, notes, run, timer};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("timers come due, the earliest first", earliest_first),
    ("a claimed timer is nobody else's for a while", claimed),
    ("an append replaces the timers of its run", replaced),
    ("an append that says nothing of timers leaves them", left),
    ("a claim outlives an append that keeps the timer", outlives),
    ("the next timer is the earliest that is free", next),
    ("of many who ask, one gets a timer", one_gets_it),
];

fn set(store: &dyn Store, id: &str, timers: &[PendingTimer]) {
    let append = Append {
        timers: Some(timers.to_vec()),
        ..notes(id, Expect::Any, &["x"])
    };
    store.append(&append).unwrap();
}

/// What is due now, claimed for a second: `run timer seq`.
fn due(store: &dyn Store, now: u64, limit: usize) -> Vec<String> {
    let due = store.claim_due(now, limit, 1_000).unwrap();
    let shown = due
        .iter()
        .map(|due| format!("{} {} {}", due.run, due.timer.name, due.timer.seq));
    shown.collect()
}

fn earliest_first(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    begun(store, "b", 1);
    set(
        store,
        "a",
        &[timer(BEGIN + 5, "late", 1), timer(BEGIN + 1, "y", 2)],
    );
    set(
        store,
        "b",
        &[
            timer(BEGIN + 1, "x", 9),
            timer(BEGIN + 1, "y", 2),
            timer(BEGIN, "z", 1),
        ],
    );
    assert_eq!(due(store, BEGIN - 1, 9), [""; 0]);
    assert_eq!(due(store, BEGIN + 4, 0), [""; 0]);
    assert_eq!(due(store, BEGIN + 4, 3), ["b z 1", "b x 9", "a y 2"]);
    assert_eq!(due(store, BEGIN + 5, 9), ["b y 2", "a late 1"]);
}

fn claimed(store: &dyn Store, clock: &ManualClock) {
    begun(store, "a", 1);
    set(store, "a", &[timer(BEGIN, "t", 1)]);
    assert_eq!(due(store, BEGIN, 9), ["a t 1"]);
    assert_eq!(due(store, BEGIN, 9), [""; 0]);
    clock.advance(999);
    assert_eq!(due(store, BEGIN + 5_000, 9), [""; 0]);
    // Whoever had it may be dead: it comes again.
    clock.advance(1);
    assert_eq!(due(store, BEGIN, 9), ["a t 1"]);
}

fn replaced(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    begun(store, "b", 1);
    set(store, "b", &[timer(BEGIN, "other", 1)]);
    set(store, "a", &[timer(BEGIN, "t", 1), timer(BEGIN, "t", 2)]);
    set(store, "a", &[timer(BEGIN, "t", 2), timer(BEGIN, "u", 3)]);
    assert_eq!(due(store, BEGIN, 9), ["b other 1", "a t 2", "a u 3"]);
    set(store, "a", &[]);
    set(store, "b", &[]);
    assert_eq!(store.next_due().unwrap(), None);
}

fn left(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    set(store, "a", &[timer(BEGIN, "t", 1)]);
    store.append(&notes("a", Expect::Any, &["x"])).unwrap();
    assert_eq!(due(store, BEGIN, 9), ["a t 1"]);
    store.append(&notes("a", Expect::Any, &["x"])).unwrap();
    assert_eq!(due(store, BEGIN, 9), [""; 0]);
}

fn outlives(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    set(store, "a", &[timer(BEGIN, "t", 1)]);
    assert_eq!(due(store, BEGIN, 9), ["a t 1"]);
    set(store, "a", &[timer(BEGIN, "t", 1), timer(BEGIN, "u", 2)]);
    assert_eq!(due(store, BEGIN, 9), ["a u 2"]);
    // Armed anew, it is another one.
    set(store, "a", &[timer(BEGIN, "t", 7)]);
    assert_eq!(due(store, BEGIN, 9), ["a t 7"]);
}

fn next(store: &dyn Store, clock: &ManualClock) {
    assert_eq!(store.next_due().unwrap(), None);
    begun(store, "a", 1);
    begun(store, "b", 1);
    set(store, "a", &[timer(BEGIN + 7, "t", 1)]);
    set(
        store,
        "b",
        &[timer(BEGIN + 3, "t", 1), timer(BEGIN + 9, "u", 1)],
    );
    assert_eq!(store.next_due().unwrap(), Some(BEGIN + 3));
    assert_eq!(due(store, BEGIN + 3, 9), ["b t 1"]);
    assert_eq!(store.next_due().unwrap(), Some(BEGIN + 7));
    clock.advance(1_000);
    assert_eq!(store.next_due().unwrap(), Some(BEGIN + 3));
}

fn one_gets_it(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let timers: Vec<PendingTimer> = (0..20).map(|seq| timer(BEGIN, "t", seq)).collect();
    set(store, "a", &timers);
    let mut got: Vec<u64> = std::thread::scope(|scope| {
        let ask = || store.claim_due(BEGIN, 7, 1_000).unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        let all = threads.into_iter().flat_map(|it| it.join().unwrap());
        all.map(|due| due.timer.seq).collect()
    });
    got.sort_unstable();
    assert_eq!(got, (0..20).collect::<Vec<u64>>());
    assert_eq!(store.head(&run("a")).unwrap().seq, 2);
}
