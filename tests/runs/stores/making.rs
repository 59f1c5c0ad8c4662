//! What making a run of several appends promises.

use statemark_runs::{Expect, KeyUse, MAX_BODY, ManualClock, Store, StoreError};

use super::{
    Promise, all, begun, conflict, is_lost, is_too_large, key, note, notes, run, texts, timer,
    under,
};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("a run is made of several appends", made),
    ("a run is made as a fork", made_as_fork),
    ("a run is made whole or not at all", whole),
];

fn made(store: &dyn Store, _: &ManualClock) {
    let first = under(notes("a", Expect::Any, &["1", "2"]), "k", "r");
    let second = notes("a", Expect::Any, &["3"]);
    let mut third = under(notes("a", Expect::NoRun, &["4"]), "l", "s");
    third.timers = Some(vec![timer(BEGIN, "t", 4)]);
    store.create(None, &[first.clone(), second, third]).unwrap();
    assert_eq!(texts(store, "a"), ["1", "2", "3", "4"]);
    all(store, "a");
    let request = first.key.unwrap().1;
    let seen = store.key_use(&run("a"), &key("k")).unwrap();
    assert_eq!(
        seen,
        Some(KeyUse {
            request,
            first: 1,
            last: 2
        })
    );
    assert_eq!(store.next_due().unwrap(), Some(BEGIN));
    let again = store.create(None, &[notes("a", Expect::Any, &["x"])]);
    assert_eq!(conflict(&again), 4);
    let again = store.create(None, &[first_again()]);
    assert_eq!(conflict(&again), 4);
}

/// Under the key and with the request of the first: a run that is there is there, whatever made it.
fn first_again() -> statemark_runs::Append {
    under(notes("a", Expect::Any, &["1", "2"]), "k", "r")
}

fn made_as_fork(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 3);
    let from = run("a");
    let appends = [
        notes("b", Expect::Any, &["x"]),
        notes("b", Expect::Any, &["y"]),
    ];
    store.create(Some((&from, 2)), &appends).unwrap();
    assert_eq!(texts(store, "b"), ["1", "2", "x", "y"]);
    all(store, "b");
    assert_eq!(store.head(&run("b")).unwrap().forked, Some((run("a"), 2)));
    let lost = store.create(Some((&from, 4)), &[notes("c", Expect::Any, &["x"])]);
    assert!(is_lost(&lost));
    let lost = store.create(
        Some((&run("nobody"), 1)),
        &[notes("c", Expect::Any, &["x"])],
    );
    assert!(is_lost(&lost));
}

fn whole(store: &dyn Store, _: &ManualClock) {
    let good = || notes("a", Expect::Any, &["1"]);
    let mut large = good();
    large.records = vec![note(BEGIN, &"x".repeat(MAX_BODY))];
    assert!(is_too_large(&store.create(None, &[good(), large])));
    let one = || under(good(), "k", "r");
    for other in [one(), under(good(), "k", "another")] {
        let reused = store.create(None, &[one(), good(), other]);
        assert!(
            matches!(reused, Err(StoreError::KeyReused { .. })),
            "{reused:?}"
        );
    }
    let mut fenced = good();
    fenced.fence = Some(statemark_runs::Fence(7));
    let refused = store.create(None, &[good(), fenced]);
    assert!(
        matches!(refused, Err(StoreError::Fenced { .. })),
        "{refused:?}"
    );
    assert!(is_lost(&store.head(&run("a"))));
    assert_eq!(store.key_use(&run("a"), &key("k")).unwrap(), None);
    store.create(None, &[good()]).unwrap();
    assert_eq!(texts(store, "a"), ["1"]);
}
