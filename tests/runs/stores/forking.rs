//! What forking promises.

use statemark_runs::{Append, Appended, Expect, MAX_PAGE, ManualClock, Store};

use super::{
    Promise, all, begun, conflict, is_invalid, is_lost, key, note, notes, run, texts, under,
};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("a fork begins with its parent's records", begins),
    ("a fork and its parent go their own ways", part),
    ("forks of forks read through all of them", of_forks),
    ("a fork needs a record and a free name", needs),
    ("a fork is made once under its key", once),
    (
        "a fork has none of its parent's keys, leases and folds",
        has_its_own,
    ),
    ("pages of forks join without gaps", pages),
    ("a run that others begin with stays", stays),
];

fn forked(store: &dyn Store, from: &str, at: u64, id: &str, texts: &[&str]) {
    let done = store.fork(&run(from), at, &notes(id, Expect::NoRun, texts));
    let (first, last) = (at + 1, at + texts.len() as u64);
    assert_eq!(done.unwrap(), Appended::Done { first, last });
}

fn begins(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 3);
    let mut append = notes("b", Expect::NoRun, &["else"]);
    append.records[0].time = BEGIN + 70;
    store.fork(&run("a"), 2, &append).unwrap();
    assert_eq!(texts(store, "b"), ["1", "2", "else"]);
    assert_eq!(all(store, "a")[..2], all(store, "b")[..2]);
    let head = store.head(&run("b")).unwrap();
    assert_eq!(head.forked, Some((run("a"), 2)));
    assert_eq!(head.created, BEGIN + 70);
    assert_eq!(store.head(&run("a")).unwrap().forked, None);
}

fn part(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 2);
    forked(store, "a", 2, "b", &["b3"]);
    for id in ["a", "b", "a", "b"] {
        store.append(&notes(id, Expect::Any, &[id])).unwrap();
    }
    assert_eq!(texts(store, "a"), ["1", "2", "a", "a"]);
    assert_eq!(texts(store, "b"), ["1", "2", "b3", "b", "b"]);
    assert_eq!(
        conflict(&store.append(&notes("b", Expect::At(4), &["x"]))),
        5
    );
}

fn of_forks(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 4);
    forked(store, "a", 3, "b", &["b4", "b5"]);
    // Behind its own records, at the seam, and in what it shares itself.
    forked(store, "b", 5, "c", &["c6"]);
    forked(store, "b", 3, "d", &["d4"]);
    forked(store, "c", 2, "e", &["e3"]);
    forked(store, "e", 1, "f", &["f2"]);
    forked(store, "c", 4, "g", &["g5"]);
    assert_eq!(texts(store, "c"), ["1", "2", "3", "b4", "b5", "c6"]);
    assert_eq!(texts(store, "d"), ["1", "2", "3", "d4"]);
    assert_eq!(texts(store, "e"), ["1", "2", "e3"]);
    assert_eq!(texts(store, "f"), ["1", "f2"]);
    assert_eq!(texts(store, "g"), ["1", "2", "3", "b4", "g5"]);
    let mut last = "g".to_owned();
    for number in 0..40 {
        let id = format!("h{number}");
        forked(store, &last, 5 + number, &id, &[&id]);
        last = id;
    }
    assert_eq!(texts(store, &last).len(), 45);
}

fn needs(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 2);
    begun(store, "b", 1);
    let fork =
        |from: &str, at, id: &str| store.fork(&run(from), at, &notes(id, Expect::NoRun, &["x"]));
    assert!(is_lost(&fork("nobody", 1, "c")));
    for at in [0, 3, u64::MAX] {
        assert!(is_lost(&fork("a", at, "c")), "{at}");
    }
    assert_eq!(conflict(&fork("a", 1, "b")), 1);
    assert_eq!(conflict(&fork("a", 1, "a")), 2);
    // It is a new run, whatever the append expects.
    let any = store.fork(&run("a"), 1, &notes("b", Expect::Any, &["x"]));
    assert_eq!(conflict(&any), 1);
    assert!(is_invalid(&store.fork(
        &run("a"),
        1,
        &notes("c", Expect::NoRun, &[])
    )));
    assert!(is_lost(&store.head(&run("c"))));
    forked(store, "a", 1, "c", &["x"]);
}

fn once(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 2);
    let append = under(notes("b", Expect::NoRun, &["x"]), "k", "r");
    let done = store.fork(&run("a"), 2, &append).unwrap();
    assert_eq!(done, Appended::Done { first: 3, last: 3 });
    store.append(&notes("b", Expect::Any, &["y"])).unwrap();
    let again = Append {
        records: vec![note(BEGIN, "z")],
        ..append
    };
    let done = store.fork(&run("a"), 2, &again).unwrap();
    assert_eq!(done, Appended::Replayed { first: 3, last: 3 });
    assert_eq!(texts(store, "b"), ["1", "2", "x", "y"]);
}

fn has_its_own(store: &dyn Store, _: &ManualClock) {
    let append = under(notes("a", Expect::NoRun, &["x"]), "k", "r");
    store.append(&append).unwrap();
    store.put_fold_cache(&run("a"), 1, b"fold").unwrap();
    let lease = store.lease(&run("a"), "ann", 1_000).unwrap();
    forked(store, "a", 1, "b", &["y"]);
    assert_eq!(store.key_use(&run("b"), &key("k")).unwrap(), None);
    assert_eq!(store.fold_cache(&run("b"), u64::MAX).unwrap(), None);
    assert_eq!(
        store.lease(&run("b"), "ben", 1_000).unwrap().fence,
        lease.fence
    );
}

fn pages(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", MAX_PAGE + 10);
    let at = MAX_PAGE as u64 + 3;
    forked(store, "a", at, "b", &["x", "y"]);
    let page = |after, limit| {
        let records = store.records(&run("b"), after, limit).unwrap();
        let seqs: Vec<u64> = records.iter().map(|record| record.seq).collect();
        seqs
    };
    assert_eq!(page(at - 2, 3), [at - 1, at, at + 1]);
    assert_eq!(page(at, 1), [at + 1]);
    assert_eq!(page(at + 1, 9), [at + 2]);
    assert_eq!(page(at - 1, 1), [at]);
    assert_eq!(all(store, "b").len(), MAX_PAGE + 5);
}

fn stays(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 2);
    forked(store, "a", 1, "b", &["x"]);
    forked(store, "b", 2, "c", &["y"]);
    assert!(is_invalid(&store.remove(&run("a"), Expect::Any)));
    assert!(is_invalid(&store.remove(&run("b"), Expect::Any)));
    assert_eq!(texts(store, "c"), ["1", "x", "y"]);
    for id in ["c", "b", "a"] {
        store.remove(&run(id), Expect::Any).unwrap();
        assert!(is_lost(&store.head(&run(id))));
    }
}
