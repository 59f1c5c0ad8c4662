//! The cache of run states in a process, so that only new records are read.
//!
//! Nothing depends on it: a state is taken from here only if the journal still has the record that it ended with, which
//! the chain of hashes says. A process that has just begun remembers nothing and gives the same answers.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::hash::Hash;
use crate::id::RunId;
use crate::state::{self, RunState};
use crate::store::{Head, Store, StoreError};

/// The interval at which a state is cached. Unit: records.
///
/// Why: replaying as many takes less than a millisecond.
pub(crate) const FOLD_EVERY: u64 = 256;

/// Most runs in the cache. Unit: runs.
///
/// Why: an agent drives one or a few, and a state may hold a context of a megabyte.
const MOST: usize = 32;

/// Most records after a cached state that are read one by one. Unit: records.
///
/// Why: beyond, the fold cache of the store is nearer.
const MAX_CATCH_UP: u64 = FOLD_EVERY;

/// A cached state.
struct Entry {
    run: RunId,
    /// The hash of the last record in it.
    hash: Hash,
    state: RunState,
}

/// The cached states, the last used first.
#[derive(Default)]
pub(super) struct Remembered {
    entries: Mutex<VecDeque<Entry>>,
}

impl Remembered {
    /// Returns the state of a run with this head.
    ///
    /// # Errors
    ///
    /// As for [`state::load`].
    pub(super) fn state(&self, store: &dyn Store, head: &Head) -> Result<RunState, StoreError> {
        let state = match self.at(&head.run) {
            Some((hash, state)) if state.seq == head.seq && hash == head.hash => return Ok(state),
            Some((hash, state)) if state.seq < head.seq && head.seq - state.seq <= MAX_CATCH_UP => {
                state::catch_up(store, &head.run, (state, hash), Some(head.seq))?
            }
            _ => None,
        };
        let state = match state {
            Some(state) => state,
            None => state::load(store, &head.run, Some(head.seq))?,
        };
        self.put(head, &state);
        Ok(state)
    }

    /// Returns a cached state, and the hash of the last record in it.
    fn at(&self, run: &RunId) -> Option<(Hash, RunState)> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.iter().find(|it| it.run == *run)?;
        Some((entry.hash, entry.state.clone()))
    }

    /// Remembers the state of a run that ends so.
    pub(super) fn put(&self, head: &Head, state: &RunState) {
        let entry = Entry {
            run: head.run.clone(),
            hash: head.hash,
            state: state.clone(),
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|it| it.run != head.run);
        entries.truncate(MOST.saturating_sub(1));
        entries.push_front(entry);
    }
}
