//! Runs that are over go; what others need stays.

use statemark_store::keep::{Prune, prune, untold, verify};
use statemark_store::{Query, Store};

use super::{filled, fork};
use crate::harness::BEGIN;
use crate::stores::in_memory;

fn ids(store: &dyn Store) -> Vec<String> {
    let query = Query {
        limit: 100,
        ..Query::default()
    };
    let heads = store.list(&query).unwrap().heads;
    let mut ids: Vec<String> = heads.iter().map(|head| head.run.to_string()).collect();
    ids.sort();
    ids
}

fn pruned(store: &dyn Store, before: Option<u64>, keep: Option<usize>, really: bool) -> String {
    let wanted = Prune {
        before,
        keep,
        really,
    };
    prune(store, &wanted, &mut untold).unwrap().to_string()
}

#[test]
fn what_is_over_goes_and_what_forks_need_stays() {
    let store = filled(in_memory());
    // The fork goes on: it was taken before the end.
    let said = "`done` stays: `fork` needs it\nwould remove 0 runs";
    assert_eq!(pruned(&*store, None, None, false), said);
    fork(&store, "done", 5, "over");
    let said = "`over` (completed)\n`done` stays: `fork` needs it\nwould remove 1 run";
    assert_eq!(pruned(&*store, None, None, false), said);
    assert_eq!(ids(&*store), ["done", "fork", "open", "over"]);
    assert_eq!(
        pruned(&*store, None, None, true),
        said.replace("would remove", "removed")
    );
    assert_eq!(ids(&*store), ["done", "fork", "open"]);

    // A fork that goes lets its ancestor go in the same call.
    store.remove(&"fork".parse().unwrap()).unwrap();
    fork(&store, "done", 5, "over");
    assert_eq!(pruned(&*store, Some(BEGIN), None, true), "removed 0 runs");
    assert_eq!(pruned(&*store, None, Some(2), true), "removed 0 runs");
    let said = "`over` (completed)\n`done` (completed)\nremoved 2 runs";
    assert_eq!(pruned(&*store, Some(BEGIN + 1), Some(0), true), said);
    assert_eq!(ids(&*store), ["open"]);
    assert!(
        verify(&*store, None, &mut untold)
            .unwrap()
            .differences
            .is_empty()
    );
}
