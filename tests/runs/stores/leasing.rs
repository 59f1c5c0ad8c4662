//! What leases promise.

use statemark_runs::{Append, Appended, Expect, Fence, Lease, ManualClock, Store, StoreError};

use super::{Promise, begun, is_lost, notes, run, texts};
use crate::harness::BEGIN;

pub(super) const PROMISES: &[Promise] = &[
    ("a lease keeps others out until it is over", keeps_out),
    ("its holder prolongs it under the same fence", prolongs),
    ("each new holder has a higher fence", grows),
    ("who was followed by another is fenced", fences),
    ("a lease that was given back is free", released),
    ("what isn't held can't be given back", not_held),
    ("who has no lease may write", without),
];

fn busy(answer: Result<Lease, StoreError>) -> String {
    held(answer).0
}

/// Returns who holds a lease, and until when.
fn held(answer: Result<Lease, StoreError>) -> (String, u64) {
    match answer {
        Err(StoreError::Busy { by, until }) => (by, until.unwrap()),
        other => panic!("not busy: {other:?}"),
    }
}

fn write(store: &dyn Store, fence: Option<Fence>) -> Result<Appended, StoreError> {
    store.append(&Append {
        fence,
        ..notes("a", Expect::Any, &["x"])
    })
}

fn keeps_out(store: &dyn Store, clock: &ManualClock) {
    begun(store, "a", 1);
    begun(store, "b", 1);
    let lease = store.lease(&run("a"), "ann", 1_000).unwrap();
    assert_eq!((&*lease.owner, lease.until), ("ann", BEGIN + 1_000));
    let (by, until) = held(store.lease(&run("a"), "ben", 1_000));
    assert_eq!((&*by, until), ("ann", BEGIN + 1_000));
    store.lease(&run("b"), "ben", 1_000).unwrap();
    clock.advance(999);
    assert_eq!(busy(store.lease(&run("a"), "ben", 1_000)), "ann");
    clock.advance(1);
    store.lease(&run("a"), "ben", 1_000).unwrap();
    assert_eq!(busy(store.lease(&run("a"), "ann", 1_000)), "ben");
}

fn prolongs(store: &dyn Store, clock: &ManualClock) {
    begun(store, "a", 1);
    let first = store.lease(&run("a"), "ann", 1_000).unwrap();
    clock.advance(600);
    let second = store.lease(&run("a"), "ann", 1_000).unwrap();
    assert_eq!(second.fence, first.fence);
    assert_eq!(second.until, BEGIN + 1_600);
    clock.advance(600);
    assert_eq!(busy(store.lease(&run("a"), "ben", 1_000)), "ann");
    write(store, Some(first.fence)).unwrap();
}

fn grows(store: &dyn Store, clock: &ManualClock) {
    begun(store, "a", 1);
    let mut last = Fence(0);
    for owner in ["ann", "ben", "ann", "ann"] {
        let lease = store.lease(&run("a"), owner, 10).unwrap();
        assert!(lease.fence > last, "{lease:?} after {last:?}");
        last = lease.fence;
        clock.advance(10);
    }
}

fn fences(store: &dyn Store, clock: &ManualClock) {
    begun(store, "a", 1);
    let ann = store.lease(&run("a"), "ann", 10).unwrap();
    write(store, Some(ann.fence)).unwrap();
    clock.advance(10);
    // Over, but nobody else has it: what it writes can't be in anybody's way.
    write(store, Some(ann.fence)).unwrap();
    let ben = store.lease(&run("a"), "ben", 10).unwrap();
    match write(store, Some(ann.fence)) {
        Err(StoreError::Fenced { newest }) => assert_eq!(newest, ben.fence),
        other => panic!("{other:?}"),
    }
    assert_eq!(texts(store, "a").len(), 3);
    write(store, Some(ben.fence)).unwrap();
    assert!(write(store, Some(Fence(ben.fence.0 + 1))).is_err());
}

fn released(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    let ann = store.lease(&run("a"), "ann", 10).unwrap();
    store.release(&ann).unwrap();
    let ben = store.lease(&run("a"), "ben", 10).unwrap();
    assert!(ben.fence > ann.fence);
    assert!(matches!(
        write(store, Some(ann.fence)),
        Err(StoreError::Fenced { .. })
    ));
}

fn not_held(store: &dyn Store, clock: &ManualClock) {
    begun(store, "a", 1);
    let ann = store.lease(&run("a"), "ann", 10).unwrap();
    clock.advance(10);
    let ben = store.lease(&run("a"), "ben", 10).unwrap();
    // Somebody else has it by now: giving it back changes nothing, and is no error.
    store.release(&ann).unwrap();
    store
        .release(&Lease {
            owner: "cleo".to_owned(),
            ..ben.clone()
        })
        .unwrap();
    assert_eq!(busy(store.lease(&run("a"), "ann", 10)), "ben");
    assert!(is_lost(&store.release(&Lease {
        run: run("b"),
        ..ben
    })));
}

fn without(store: &dyn Store, _: &ManualClock) {
    begun(store, "a", 1);
    store.lease(&run("a"), "ann", 10).unwrap();
    write(store, None).unwrap();
    // A fence of a run that nobody ever leased.
    begun(store, "b", 1);
    let append = Append {
        fence: Some(Fence(1)),
        ..notes("b", Expect::Any, &["x"])
    };
    assert!(matches!(
        store.append(&append),
        Err(StoreError::Fenced { newest: Fence(0) })
    ));
}
