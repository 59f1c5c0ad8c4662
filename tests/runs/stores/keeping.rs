//! What keeping blobs and folds, and removing runs, promise.

use statemark_runs::{Expect, Hash, ManualClock, Store};

use super::{Promise, begun, is_lost, key, notes, run, texts, timer, under};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("a blob comes back under its hash", blobs),
    ("a blob that nobody put is not found", unknown_blob),
    ("a large body comes back whole", large_bodies),
    (
        "a blob goes that isn't named and that nobody keeps",
        sweeping,
    ),
    ("one fold is kept for each run", folds),
    ("a run is removed with all that it has", removed),
    ("a removed run's name is free", name_is_free),
];

fn blobs(store: &dyn Store, _: &ManualClock) {
    let large: Vec<u8> = (0..3_000_000_u32).map(|it| it.to_le_bytes()[1]).collect();
    let blobs: [&[u8]; 4] = [b"", b"\0", b"some bytes \xff\xfe", &large];
    for bytes in blobs {
        let hash = store.put_blob(bytes).unwrap();
        assert_eq!(hash, Hash::digest(bytes));
        assert_eq!(store.put_blob(bytes).unwrap(), hash, "twice");
    }
    for bytes in blobs {
        assert_eq!(store.blob(&Hash::digest(bytes)).unwrap(), bytes);
    }
}

fn large_bodies(store: &dyn Store, _: &ManualClock) {
    // Around the size from which on a body lies beside the journal, and the largest; with a character of two bytes.
    let sizes = [262_131, 262_132, 262_133, 262_134, 1_000_000];
    let large: Vec<String> = sizes
        .iter()
        .map(|size| "é".to_owned() + &"x".repeat(size - 2))
        .collect();
    let mut expected: Vec<&str> = large.iter().map(String::as_str).collect();
    store.append(&notes("a", Expect::NoRun, &expected)).unwrap();
    store
        .append(&notes("a", Expect::Any, &["small", expected[0]]))
        .unwrap();
    expected.extend(["small", expected[0]]);
    assert_eq!(texts(store, "a"), expected);
    let page = store.records(&run("a"), 3, 1).unwrap();
    assert_eq!(page[0].body.len(), "{\"text\":\"\"}".len() + sizes[3]);
    store
        .fork(
            &run("a"),
            5,
            &notes("b", Expect::NoRun, &["own", expected[4]]),
        )
        .unwrap();
    let mut shared = expected[..5].to_vec();
    shared.extend(["own", expected[4]]);
    assert_eq!(texts(store, "b"), shared);
}

fn sweeping(store: &dyn Store, clock: &ManualClock) {
    let hour = 60 * 60 * 1_000;
    let put = |text: &str| store.put_blob(text.as_bytes()).unwrap();
    let (named, old, anew) = (put("named"), put("old"), put("anew"));
    let sweep = |really| {
        let mut gone = store.sweep_blobs(&[named].into(), hour, really).unwrap();
        gone.sort();
        gone
    };
    assert_eq!(sweep(true), [], "somebody has just kept them");
    clock.advance(hour + 1);
    put("anew");
    assert_eq!(sweep(false), [old]);
    assert_eq!(store.blob(&old).unwrap(), b"old", "it was only said");
    assert_eq!(sweep(true), [old]);
    assert!(is_lost(&store.blob(&old)));
    for hash in [named, anew] {
        store.blob(&hash).unwrap();
    }
    put("old");
    assert_eq!(store.blob(&old).unwrap(), b"old", "it can be kept again");
}

fn unknown_blob(store: &dyn Store, _: &ManualClock) {
    assert!(is_lost(&store.blob(&Hash::digest(b"nobody"))));
}

fn folds(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 3);
    begun(store, "b", 3);
    assert_eq!(store.fold_cache(&run("a")).unwrap(), None);
    store.put_fold_cache(&run("a"), 2, b"two").unwrap();
    store.put_fold_cache(&run("a"), 3, b"three").unwrap();
    assert_eq!(
        store.fold_cache(&run("a")).unwrap(),
        Some((3, b"three".to_vec()))
    );
    assert_eq!(store.fold_cache(&run("b")).unwrap(), None);
    store.append(&notes("a", Expect::Any, &["x"])).unwrap();
    assert_eq!(
        store.fold_cache(&run("a")).unwrap(),
        Some((3, b"three".to_vec()))
    );
}

fn removed(store: &dyn Store, _: &ManualClock) {
    begun(store, "b", 1);
    let mut append = under(notes("a", Expect::NoRun, &["x"]), "k", "r");
    append.timers = Some(vec![timer(BEGIN, "t", 1)]);
    store.append(&append).unwrap();
    store.put_fold_cache(&run("a"), 1, b"fold").unwrap();
    store.remove(&run("a")).unwrap();
    assert!(is_lost(&store.head(&run("a"))));
    assert!(is_lost(&store.records(&run("a"), 0, 1)));
    assert!(is_lost(&store.fold_cache(&run("a"))));
    assert!(is_lost(&store.remove(&run("a"))));
    assert_eq!(store.key_use(&run("a"), &key("k")).unwrap(), None);
    assert_eq!(store.next_due().unwrap(), None);
    assert_eq!(store.claim_due(BEGIN, 9, 1).unwrap(), []);
    assert_eq!(texts(store, "b"), ["1"]);
}

fn name_is_free(store: &dyn Store, _: &ManualClock) {
    let append = under(notes("a", Expect::NoRun, &["x"]), "k", "r");
    store.append(&append).unwrap();
    store.put_fold_cache(&run("a"), 1, b"fold").unwrap();
    store.remove(&run("a")).unwrap();
    begun(store, "a", 2);
    assert_eq!(texts(store, "a"), ["1", "2"]);
    assert_eq!(store.fold_cache(&run("a")).unwrap(), None);
    assert_eq!(store.key_use(&run("a"), &key("k")).unwrap(), None);
}
