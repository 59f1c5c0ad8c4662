//! What keeping blobs and folds, and removing runs, promise.

use statemark_runs::store::{MAX_CACHE_BYTES, MAX_CACHES};
use statemark_runs::{Expect, Hash, ManualClock, Store, StoreError};

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
    ("folds are kept for each run", folds),
    ("kept folds are bounded and spread", bounded_folds),
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
    assert_eq!(store.fold_cache(&run("a"), u64::MAX).unwrap(), None);
    store.put_fold_cache(&run("a"), 2, b"two").unwrap();
    store.put_fold_cache(&run("a"), 3, b"three").unwrap();
    assert_eq!(
        store.fold_cache(&run("a"), u64::MAX).unwrap(),
        Some((3, b"three".to_vec()))
    );
    assert_eq!(
        store.fold_cache(&run("a"), 2).unwrap(),
        Some((2, b"two".to_vec()))
    );
    assert_eq!(store.fold_cache(&run("a"), 1).unwrap(), None);
    store.put_fold_cache(&run("a"), 2, b"again").unwrap();
    store.put_fold_cache(&run("a"), 1, b"late").unwrap();
    assert_eq!(
        store.fold_cache(&run("a"), 2).unwrap(),
        Some((2, b"again".to_vec()))
    );
    assert_eq!(
        store.fold_cache(&run("a"), 1).unwrap(),
        Some((1, b"late".to_vec()))
    );
    assert_eq!(store.fold_cache(&run("b"), u64::MAX).unwrap(), None);
    store.append(&notes("a", Expect::Any, &["x"])).unwrap();
    assert_eq!(
        store.fold_cache(&run("a"), u64::MAX).unwrap(),
        Some((3, b"three".to_vec()))
    );
}

/// The records that a run's folds go up to, the newest first.
fn fold_seqs(store: &dyn Store) -> Vec<u64> {
    let next = |upto: u64| {
        store
            .fold_cache(&run("a"), upto)
            .unwrap()
            .map(|(seq, _)| seq)
    };
    std::iter::successors(next(u64::MAX), |seq| next(seq - 1)).collect()
}

fn bounded_folds(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let megabyte = vec![7; 1 << 20];
    for seq in 1..=40 {
        store
            .put_fold_cache(&run("a"), seq * 10, &megabyte)
            .unwrap();
    }
    let kept = fold_seqs(store);
    assert_eq!(kept.len() as u64, 1 + MAX_CACHE_BYTES / (1 << 20));
    assert_eq!(kept[0], 400, "the newest stays");
    let gaps = kept.windows(2).map(|pair| pair[0] - pair[1]);
    let gaps = gaps.chain(kept.last().copied());
    assert!(gaps.clone().max() <= Some(80), "{kept:?}");
    // Many small ones are bounded, too.
    for seq in 500..501 + 2 * MAX_CACHES as u64 {
        store.put_fold_cache(&run("a"), seq, b"small").unwrap();
    }
    assert_eq!(fold_seqs(store).len(), 1 + MAX_CACHES);
    store.remove(&run("a"), Expect::Any).unwrap();
    begun(store, "a", 1);
    assert_eq!(fold_seqs(store), [0; 0]);
}

fn removed(store: &dyn Store, _: &ManualClock) {
    begun(store, "b", 1);
    let mut append = under(notes("a", Expect::NoRun, &["x"]), "k", "r");
    append.timers = Some(vec![timer(BEGIN, "t", 1)]);
    store.append(&append).unwrap();
    store.put_fold_cache(&run("a"), 1, b"fold").unwrap();
    // Somebody has gone on with it since it was looked at.
    let seen = store.head(&run("a")).unwrap();
    store.append(&notes("a", Expect::Any, &["y"])).unwrap();
    for expect in [
        Expect::NoRun,
        Expect::At(seen.seq),
        Expect::Exactly(seen.seq, seen.hash),
    ] {
        let removed = store.remove(&run("a"), expect);
        assert!(
            matches!(removed, Err(StoreError::Conflict { actual: 2 })),
            "{removed:?}"
        );
    }
    let seen = store.head(&run("a")).unwrap();
    let expect = Expect::Exactly(seen.seq, seen.hash);
    store.remove(&run("a"), expect).unwrap();
    assert!(is_lost(&store.head(&run("a"))));
    assert!(is_lost(&store.records(&run("a"), 0, 1)));
    assert!(is_lost(&store.fold_cache(&run("a"), u64::MAX)));
    assert!(is_lost(&store.remove(&run("a"), Expect::Any)));
    assert_eq!(store.key_use(&run("a"), &key("k")).unwrap(), None);
    assert_eq!(store.next_due().unwrap(), None);
    assert_eq!(store.claim_due(BEGIN, 9, 1).unwrap(), []);
    assert_eq!(texts(store, "b"), ["1"]);
}

fn name_is_free(store: &dyn Store, _: &ManualClock) {
    let append = under(notes("a", Expect::NoRun, &["x"]), "k", "r");
    store.append(&append).unwrap();
    store.put_fold_cache(&run("a"), 1, b"fold").unwrap();
    store.remove(&run("a"), Expect::Any).unwrap();
    begun(store, "a", 2);
    assert_eq!(texts(store, "a"), ["1", "2"]);
    assert_eq!(store.fold_cache(&run("a"), u64::MAX).unwrap(), None);
    assert_eq!(store.key_use(&run("a"), &key("k")).unwrap(), None);
}
