//! What appending promises.

use std::sync::Barrier;

use statemark_runs::{
    Actor, Append, Appended, Expect, Hash, Key, MAX_BODY, MAX_PAGE, MAX_TIME, ManualClock, Record,
    Role, Store, StoreError,
};

use super::{
    Promise, all, begun, conflict, is_invalid, is_lost, is_too_large, key, note, notes, run, text,
    texts, under,
};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("a record comes back as it was given", comes_back),
    ("seqs are dense and hashes chained", is_chained),
    ("an append is made only as expected", is_expected),
    ("of journals that are as long one is expected", is_the_same),
    ("a conflict leaves nothing", conflict_leaves_nothing),
    ("a key is answered as the first time", key_is_replayed),
    ("a key with another request is refused", key_is_reused),
    ("keys belong to runs", keys_belong_to_runs),
    ("what can't be stored is refused", limits),
    ("pages join without gaps", pages),
    ("an unknown run is not found", unknown),
    ("any text can be written", any_text),
    ("of fifty with one expectation one wins", one_wins),
    ("fifty with one key are one", one_key),
];

fn comes_back(store: &dyn Store, _: &ManualClock) {
    let mut append = under(notes("a", Expect::NoRun, &["x"]), "k", "r");
    append.records[0].actor = Actor {
        role: Role::Person,
        name: None,
        session: Some("s".to_owned()),
    };
    append.records[0].v = 7;
    append.records[0].time = MAX_TIME;
    append.summary.title = Some("A title".to_owned());
    append.summary.leaves = vec!["one".to_owned(), "two".to_owned()];
    store.append(&append).unwrap();
    let records = all(store, "a");
    assert_eq!(records[0].actor, append.records[0].actor);
    assert_eq!(records[0].v, 7);
    assert_eq!(records[0].time, MAX_TIME);
    assert_eq!(records[0].kind, "note");
    assert_eq!(records[0].body, append.records[0].body);
    assert_eq!(records[0].key, Some(key("k")));
    let head = store.head(&run("a")).unwrap();
    assert_eq!(head.summary, append.summary);
    assert_eq!((head.created, head.updated), (MAX_TIME, MAX_TIME));
    assert_eq!(head.forked, None);
}

fn is_chained(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 3);
    let done = store.append(&notes("a", Expect::At(3), &["four", "five"]));
    assert_eq!(done.unwrap(), Appended::Done { first: 4, last: 5 });
    assert_eq!(texts(store, "a"), ["1", "2", "3", "four", "five"]);
}

fn is_expected(store: &dyn Store, _: &ManualClock) {
    let any = |store: &dyn Store| store.append(&notes("a", Expect::Any, &["x"]));
    assert_eq!(conflict(&any(store)), 0);
    let at = store.append(&notes("a", Expect::At(0), &["x"]));
    assert_eq!(conflict(&at), 0, "a run that isn't there is at no record");
    begun(store, "a", 2);
    assert_eq!(
        conflict(&store.append(&notes("a", Expect::NoRun, &["x"]))),
        2
    );
    for wrong in [0, 1, 3, u64::MAX] {
        let at = store.append(&notes("a", Expect::At(wrong), &["x"]));
        assert_eq!(conflict(&at), 2);
    }
    assert_eq!(any(store).unwrap(), Appended::Done { first: 3, last: 3 });
}

fn is_the_same(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 2);
    store
        .append(&notes("b", Expect::NoRun, &["1", "other"]))
        .unwrap();
    let hash = |of: &str| store.head(&run(of)).unwrap().hash;
    let exactly = |seq, hash| store.append(&notes("a", Expect::Exactly(seq, hash), &["x"]));
    for wrong in [(2, hash("b")), (1, hash("a")), (3, hash("a"))] {
        assert_eq!(conflict(&exactly(wrong.0, wrong.1)), 2);
    }
    let first = hash("a");
    assert_eq!(
        exactly(2, first).unwrap(),
        Appended::Done { first: 3, last: 3 }
    );
    assert_eq!(conflict(&exactly(2, first)), 3);
    assert_eq!(conflict(&exactly(3, first)), 3);
    assert_eq!(
        exactly(3, hash("a")).unwrap(),
        Appended::Done { first: 4, last: 4 }
    );
    // Nothing is there that it could be.
    let none = store.append(&notes("c", Expect::Exactly(0, Hash::ZERO), &["x"]));
    assert_eq!(conflict(&none), 0);
}

fn conflict_leaves_nothing(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let before = store.head(&run("a")).unwrap();
    let mut append = under(notes("a", Expect::At(9), &["x", "y"]), "k", "r");
    append.summary.status = "completed".to_owned();
    append.timers = Some(vec![super::timer(BEGIN, "t", 1)]);
    conflict(&store.append(&append));
    assert_eq!(store.head(&run("a")).unwrap(), before);
    assert_eq!(texts(store, "a"), ["1"]);
    assert_eq!(store.key_use(&run("a"), &key("k")).unwrap(), None);
    assert_eq!(store.next_due().unwrap(), None);
    // And so the key is still free.
    let append = under(notes("a", Expect::At(1), &["z"]), "k", "another");
    assert_eq!(
        store.append(&append).unwrap(),
        Appended::Done { first: 2, last: 2 }
    );
}

fn key_is_replayed(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let append = under(notes("a", Expect::At(1), &["x", "y"]), "k", "r");
    assert_eq!(
        store.append(&append).unwrap(),
        Appended::Done { first: 2, last: 3 }
    );
    store
        .append(&notes("a", Expect::Any, &["later", "much later"]))
        .unwrap();
    // Whatever it expects now, and whatever it would write.
    for expect in [Expect::At(1), Expect::At(5), Expect::NoRun, Expect::Any] {
        let again = Append {
            expect,
            records: vec![note(BEGIN + 5, "other words")],
            ..append.clone()
        };
        assert_eq!(
            store.append(&again).unwrap(),
            Appended::Replayed { first: 2, last: 3 }
        );
    }
    assert_eq!(texts(store, "a").len(), 5);
    let seen = store.key_use(&run("a"), &key("k")).unwrap().unwrap();
    assert_eq!((seen.first, seen.last), (2, 3));
    assert_eq!(Some(seen.request), append.key.map(|key| key.1));
}

fn key_is_reused(store: &dyn Store, _: &ManualClock) {
    store
        .append(&under(notes("a", Expect::NoRun, &["x"]), "k", "r"))
        .unwrap();
    let again = under(notes("a", Expect::Any, &["x"]), "k", "another");
    match store.append(&again) {
        Err(StoreError::KeyReused { key: reused }) => assert_eq!(reused, key("k")),
        other => panic!("{other:?}"),
    }
    assert_eq!(texts(store, "a"), ["x"]);
}

fn keys_belong_to_runs(store: &dyn Store, _: &ManualClock) {
    for id in ["a", "b"] {
        let append = under(notes(id, Expect::NoRun, &[id]), "k", id);
        assert_eq!(
            store.append(&append).unwrap(),
            Appended::Done { first: 1, last: 1 }
        );
    }
    assert_eq!(store.key_use(&run("a"), &key("other")).unwrap(), None);
    assert_eq!(store.key_use(&run("nobody"), &key("k")).unwrap(), None);
}

fn limits(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    assert!(is_invalid(&store.append(&notes("a", Expect::Any, &[]))));
    let mut large = notes("a", Expect::Any, &["fits", ""]);
    large.records[1].body = format!("\"{}\"", "x".repeat(MAX_BODY - 1));
    assert!(is_too_large(&store.append(&large)));
    let mut late = notes("a", Expect::Any, &["x"]);
    late.records[0].time = MAX_TIME + 1;
    assert!(is_invalid(&store.append(&late)));
    assert_eq!(texts(store, "a"), ["1"]);
    large.records[1].body.pop();
    large.records[1].body.pop();
    large.records[1].body.push('"');
    store.append(&large).unwrap();
    assert_eq!(all(store, "a")[2].body.len(), MAX_BODY);
    let longest = "r".repeat(128);
    begun(store, &longest, 1);
    assert_eq!(store.head(&run(&longest)).unwrap().run, run(&longest));
}

fn pages(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", MAX_PAGE + 5);
    let page = |after, limit| {
        let records = store.records(&run("a"), after, limit).unwrap();
        let seqs: Vec<u64> = records.iter().map(|record| record.seq).collect();
        seqs
    };
    assert_eq!(page(0, 3), [1, 2, 3]);
    assert_eq!(page(3, 2), [4, 5]);
    assert_eq!(page(0, 0), [0; 0]);
    assert_eq!(page(0, usize::MAX).len(), MAX_PAGE);
    assert_eq!(page(MAX_PAGE as u64, usize::MAX).len(), 5);
    assert_eq!(page(MAX_PAGE as u64 + 5, 10), [0; 0]);
    assert_eq!(page(u64::MAX, 10), [0; 0]);
    assert_eq!(all(store, "a").len(), MAX_PAGE + 5);
}

fn unknown(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    assert!(is_lost(&store.head(&run("b"))));
    assert!(is_lost(&store.records(&run("b"), 0, 10)));
    assert!(is_lost(&store.fold_cache(&run("b"), u64::MAX)));
    assert!(is_lost(&store.put_fold_cache(&run("b"), 1, b"x")));
    assert!(is_lost(&store.lease(&run("b"), "ann", 1_000)));
    assert!(is_lost(&store.remove(&run("b"), Expect::Any)));
}

fn any_text(store: &dyn Store, _: &ManualClock) {
    let ids = [
        "ein Läufer",
        "'; DROP TABLE runs; --",
        "%",
        "a\u{10ffff}",
        "\\",
        "🦀",
    ];
    for id in ids {
        let mut append = under(notes(id, Expect::NoRun, &[id]), id, id);
        append.records[0].actor.name = Some(id.to_owned());
        append.summary.project = Some(id.to_owned());
        store.append(&append).unwrap();
        let records = all(store, id);
        assert_eq!(text(&records[0]), id);
        assert_eq!(records[0].actor.name.as_deref(), Some(id));
        assert_eq!(records[0].key.as_ref().map(Key::as_str), Some(id));
    }
    // Case counts.
    begun(store, "case", 1);
    assert!(is_lost(&store.head(&run("Case"))));
}

/// Fifty callers at the same moment: what each was answered.
fn fifty(
    store: &dyn Store,
    append: impl Fn(usize) -> Append + Sync,
) -> Vec<Result<Appended, StoreError>> {
    let barrier = Barrier::new(50);
    let call = |number| {
        let append = append(number);
        barrier.wait();
        store.append(&append)
    };
    let call = &call;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..50)
            .map(|number| scope.spawn(move || call(number)))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

fn one_wins(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let answers = fifty(store, |number| {
        notes("a", Expect::At(1), &[&format!("approved by {number}")])
    });
    let won = answers.iter().filter(|it| it.is_ok()).count();
    let lost = answers
        .iter()
        .filter(|it| matches!(it, Err(StoreError::Conflict { actual: 2 })));
    assert_eq!((won, lost.count()), (1, 49), "{answers:?}");
    let winner = answers.iter().position(Result::is_ok).unwrap();
    let said: Vec<Record> = all(store, "a");
    assert_eq!(text(&said[1]), format!("approved by {winner}"));
}

fn one_key(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let answers = fifty(store, |_| under(notes("a", Expect::Any, &["x"]), "k", "r"));
    let done = answers
        .iter()
        .filter(|it| matches!(it, Ok(Appended::Done { first: 2, last: 2 })));
    let replayed = answers
        .iter()
        .filter(|it| matches!(it, Ok(Appended::Replayed { first: 2, last: 2 })));
    assert_eq!((done.count(), replayed.count()), (1, 49), "{answers:?}");
    assert_eq!(texts(store, "a"), ["1", "x"]);
}
