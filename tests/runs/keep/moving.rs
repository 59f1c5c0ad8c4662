//! Copies and moves: the same runs, and nothing acts twice.

use std::sync::Arc;

use statemark_runs::maintenance::{ignore_progress, migrate, verify};
use statemark_runs::{Append, Expect, ManualClock, Store, StoreError};
use statemark_stores::SqliteStore;
use statemark_stores::backup;

use super::filled;
use crate::harness::BEGIN;
use crate::stores::in_memory;
use crate::stores::sqlite::{folder, in_a_file};

#[test]
fn runs_move_from_store_to_store() {
    let store = filled(in_memory());
    let (other, _) = in_a_file();
    let moved = migrate(&*store, &*other, &mut ignore_progress).unwrap();
    assert_eq!(moved.to_string(), "copied 3 runs, 8 records");
    let moved = migrate(&*store, &*other, &mut ignore_progress).unwrap();
    assert_eq!(
        moved.to_string(),
        "copied 0 runs, 0 records; 3 were there already"
    );
    let (back, _) = in_memory();
    migrate(&*other, &*back, &mut ignore_progress).unwrap();
    for run in ["done", "open", "fork"] {
        let run = run.parse().unwrap();
        assert_eq!(store.head(&run).unwrap(), back.head(&run).unwrap());
    }
    assert_eq!(store.next_due().unwrap(), back.next_due().unwrap());
    assert!(
        verify(&*back, None, &mut ignore_progress)
            .unwrap()
            .differences
            .is_empty()
    );
}

#[test]
fn a_backup_sleeps_until_it_is_woken() {
    let folder = folder();
    let path = folder.join("runs.db");
    let clock = Arc::new(ManualClock::new(BEGIN));
    let sqlite = Arc::new(SqliteStore::open(&path, Arc::clone(&clock)).unwrap());
    let store = filled((Arc::clone(&sqlite) as Arc<dyn Store>, Arc::clone(&clock)));
    let run = "open".parse().unwrap();
    let lease = store.lease(&run, "one", 60_000).unwrap();

    let to = folder.join("copy.db");
    let done = backup(&sqlite, &to, &mut ignore_progress).unwrap();
    assert!(done.to_string().contains("copied 3 runs"), "{done}");
    assert!(done.to_string().contains("1 timer sleeps"), "{done}");
    assert!(
        backup(&sqlite, &to, &mut ignore_progress).is_err(),
        "over a file that is there"
    );

    let copy = SqliteStore::open(&to, Arc::clone(&clock)).unwrap();
    assert!(
        verify(&copy, None, &mut ignore_progress)
            .unwrap()
            .differences
            .is_empty()
    );
    clock.advance(1_000_000);
    assert_eq!(copy.next_due().unwrap(), None);
    assert!(copy.claim_due(u64::MAX, 9, 1).unwrap().is_empty());
    let append = Append {
        run: statemark_runs::RunId::clone(&run),
        expect: Expect::Any,
        key: None,
        fence: Some(lease.fence),
        records: vec![statemark_runs::NewRecord {
            time: BEGIN,
            kind: "note".to_owned(),
            v: 1,
            actor: statemark_runs::Actor::new(statemark_runs::Role::Agent),
            body: "{\"text\":\"x\"}".to_owned(),
        }],
        summary: copy.head(&run).unwrap().summary,
        timers: None,
    };
    let error = copy.append(&append).unwrap_err();
    assert!(matches!(error, StoreError::Asleep), "{error}");
    store.append(&append).unwrap();
    assert_eq!(store.claim_due(u64::MAX, 9, 1).unwrap().len(), 1);

    assert_eq!(copy.wake().unwrap(), 1);
    let error = copy.append(&append).unwrap_err();
    assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
    assert_eq!(copy.claim_due(u64::MAX, 9, 1).unwrap().len(), 1);
}

/// Somebody commits between any two pieces of the copy.
#[test]
fn a_backup_ends_while_others_write() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(BEGIN));
    let path = folder.join("runs.db");
    let store = SqliteStore::open(&path, Arc::clone(&clock)).unwrap();
    for number in 0..16_u8 {
        store.put_blob(&vec![number; 1 << 20]).unwrap();
    }
    let other = SqliteStore::open(&path, clock).unwrap();
    let mut pieces = 0;
    let mut write = |_| {
        pieces += 1;
        other.put_blob(format!("{pieces}").as_bytes()).unwrap();
        assert!(pieces < 100, "it begins anew with each commit");
    };
    backup(&store, &folder.join("copy.db"), &mut write).unwrap();
    assert!(pieces > 2, "{pieces}");
}
