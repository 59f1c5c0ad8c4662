//! Whoever comes first to a long run doesn't read all of it: a fold is kept wherever its journal didn't grow step by step.

use std::sync::Arc;

use statemark_store::keep::{migrate, untold, verify};
use statemark_store::runs::Rewind;
use statemark_store::{Send, Start, Store};

use super::{SPEC, fork};
use crate::harness::Bench;
use crate::stores::in_memory;

/// More records than a fold is kept for.
const LONG: u64 = 300;

/// Up to which record the kept fold of a run goes.
fn kept(store: &dyn Store, run: &str) -> Option<u64> {
    let fold = store.fold(&run.parse().unwrap()).unwrap();
    fold.map(|(seq, _)| seq)
}

#[test]
fn a_fold_is_kept_of_what_was_forked_rewound_or_moved() {
    let (store, clock) = in_memory();
    let bench = Bench::over(&[("ship.md", SPEC)], clock, Arc::clone(&store));
    let order = bench.order("long");
    let start = Start {
        workflow: "ship".to_owned(),
        ..Start::default()
    };
    bench.runs.start(&order, &start).unwrap();
    for number in 1..LONG {
        let event = if number % 2 == 1 { "go" } else { "again" };
        let send = Send {
            event: event.to_owned(),
            data: None,
        };
        bench.runs.send(&order, &send).unwrap();
    }
    assert_eq!(kept(&*store, "long"), Some(256));

    fork(&store, "long", 290, "fork");
    assert_eq!(kept(&*store, "fork"), Some(291));

    let rewind = Rewind::to(280);
    let plan = bench.runs.plan_rewind(&order.run, &rewind).unwrap();
    let rewind = Rewind {
        token: Some(plan.token),
        ..rewind
    };
    let rewound = bench.runs.rewind(&order, &rewind).unwrap();
    let last = rewound.loaded.head.seq;
    assert!(last > LONG && rewound.loaded.state.rewinds.len() == 1);
    assert_eq!(kept(&*store, "long"), Some(last));

    let (other, _) = in_memory();
    migrate(&*store, &*other, &mut untold).unwrap();
    assert_eq!(kept(&*other, "long"), Some(last));
    assert_eq!(kept(&*other, "fork"), Some(291));
    for store in [&*store, &*other] {
        let verified = verify(store, None, &mut untold).unwrap();
        assert!(verified.differences.is_empty(), "{verified}");
    }
}
