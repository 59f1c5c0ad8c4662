//! The store in an SQLite file: what all stores promise, and what only it does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use statemark_store::{ManualClock, SqliteStore};

use super::{Made, keeps_its_promises};
use crate::harness::BEGIN;

/// A folder that no other test has.
pub(crate) fn folder() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("runs-{}-{number}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    folder
}

/// An empty store in a file.
pub(crate) fn in_a_file() -> Made {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let path = folder().join("runs.db");
    let store = SqliteStore::open(&path, Arc::clone(&clock)).unwrap();
    (Arc::new(store), clock)
}

#[test]
fn sqlite_keeps_its_promises() {
    keeps_its_promises(in_a_file);
}
