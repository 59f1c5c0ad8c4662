//! The commits of this process, for those who wait for one.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A count of commits that can be waited on.
#[derive(Default)]
pub(super) struct Commits {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Commits {
    /// Counts a commit, and wakes who waits.
    pub(super) fn note(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.wrapping_add(1);
        drop(count);
        self.changed.notify_all();
    }

    /// Waits until the count is another than `seen`, at most so long. Returns the count.
    pub(super) fn wait(&self, seen: u64, longest: Duration) -> u64 {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(count, longest, |count| *count == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
