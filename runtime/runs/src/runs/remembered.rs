//! The cache of run states in a process, so that only new records are read.
//!
//! Nothing depends on it: a state is taken from here only if the journal still has the record that it ended with, which
//! the chain of hashes says. A process that has just begun remembers nothing and gives the same answers. Whoever is going
//! to append may guess that it still ends so ([`Remembered::left`]): the store finds out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::hash::Hash;
use crate::id::RunId;
use crate::state::{self, RunState, json_size};
use crate::store::{Head, Store, StoreError};

/// The interval at which a state is cached. Unit: records.
///
/// Why: replaying as many takes less than a millisecond.
pub(crate) const FOLD_EVERY: u64 = 256;

/// Most that the cached states take, as JSON. Unit: bytes.
///
/// Why: an agent drives a few runs and a server some thousands, while a context may have a megabyte. In memory a state
/// takes about three times as much.
const MAX_BYTES: usize = 16 << 20;

/// The size of an entry without its state. Unit: bytes.
const ENTRY_BYTES: usize = 512;

/// Most records after a cached state that are read one by one. Unit: records.
///
/// Why: beyond, the fold cache of the store is nearer.
const MAX_CATCH_UP: u64 = FOLD_EVERY;

/// Appends of this process in a row after which the next is expected to be its own, too.
///
/// Why: where two processes write in turns, each guess would be wrong, and cost a transaction.
const OWN: u32 = 2;

/// A cached state.
struct Entry {
    /// The end of the journal that it is the state of.
    head: Head,
    state: Arc<RunState>,
    /// The appends of this process in a row that have led to it.
    own: u32,
    /// The size when it was last measured, and the record that it ended with then.
    bytes: (usize, u64),
    /// The turn in which it was last used.
    used: u64,
}

/// The cached states.
#[derive(Default)]
pub(super) struct Remembered(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    by_run: BTreeMap<RunId, Entry>,
    /// By the turn of the last use, the runs.
    by_turn: BTreeMap<u64, RunId>,
    turn: u64,
    /// The size of all. Unit: bytes.
    bytes: usize,
}

impl Remembered {
    /// Returns the state of a run with this head.
    ///
    /// # Errors
    ///
    /// As for [`state::load`].
    pub(super) fn state(
        &self,
        store: &dyn Store,
        head: &Head,
    ) -> Result<Arc<RunState>, StoreError> {
        let cached = self.entries().hash_and_state(&head.run);
        let state = match cached {
            Some((hash, state)) if state.seq == head.seq && hash == head.hash => return Ok(state),
            Some((hash, state)) if state.seq < head.seq && head.seq - state.seq <= MAX_CATCH_UP => {
                let state = Arc::unwrap_or_clone(state);
                state::catch_up(store, &head.run, (state, hash), Some(head.seq))?
            }
            _ => None,
        };
        let state = match state {
            Some(state) => state,
            None => state::load(store, &head.run, Some(head.seq))?,
        };
        let state = Arc::new(state);
        self.entries().put(head, &state, 0);
        Ok(state)
    }

    /// Remembers the state of a run to which this process has just written, and which ends so.
    pub(super) fn put_written(&self, head: &Head, state: &Arc<RunState>) {
        let mut entries = self.entries();
        let before = entries.by_run.get(&head.run).map_or(0, |entry| entry.own);
        entries.put(head, state, before.saturating_add(1));
    }

    /// Returns the end and the state of a run as this process left it, if it alone writes to the run.
    pub(super) fn left(&self, run: &RunId) -> Option<(Head, Arc<RunState>)> {
        let mut entries = self.entries();
        let entry = entries.get(run).filter(|entry| entry.own >= OWN)?;
        Some((entry.head.clone(), Arc::clone(&entry.state)))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Returns a state, and the hash of the last record in it.
    fn hash_and_state(&mut self, run: &RunId) -> Option<(Hash, Arc<RunState>)> {
        let entry = self.get(run)?;
        Some((entry.head.hash, Arc::clone(&entry.state)))
    }

    /// Returns an entry, which is used now.
    fn get(&mut self, run: &RunId) -> Option<&Entry> {
        let entry = self.by_run.get_mut(run)?;
        self.turn += 1;
        if let Some(run) = self.by_turn.remove(&entry.used) {
            self.by_turn.insert(self.turn, run);
        }
        entry.used = self.turn;
        Some(entry)
    }

    /// Puts a state in, and lets go of those that were used longest ago while all are too large.
    fn put(&mut self, head: &Head, state: &Arc<RunState>, own: u32) {
        let before = self.remove(&head.run);
        // To measure a state takes time in its size.
        let measured = before.filter(|(_, seq)| *seq / FOLD_EVERY == head.seq / FOLD_EVERY);
        let bytes = measured.unwrap_or_else(|| (json_size(&**state) + ENTRY_BYTES, head.seq));
        self.turn += 1;
        self.bytes += bytes.0;
        self.by_turn.insert(self.turn, head.run.clone());
        let entry = Entry {
            head: head.clone(),
            state: Arc::clone(state),
            own,
            bytes,
            used: self.turn,
        };
        self.by_run.insert(head.run.clone(), entry);
        while self.bytes > MAX_BYTES
            && let Some((_, run)) = self.by_turn.first_key_value()
        {
            let run = run.clone();
            self.remove(&run);
        }
    }

    /// Removes a state. Returns its size, and the record at which it was measured.
    fn remove(&mut self, run: &RunId) -> Option<(usize, u64)> {
        let entry = self.by_run.remove(run)?;
        self.by_turn.remove(&entry.used);
        self.bytes = self.bytes.saturating_sub(entry.bytes.0);
        Some(entry.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::RunSummary;

    fn head(run: &str, seq: u64) -> Head {
        Head {
            run: run.parse().unwrap(),
            seq,
            hash: Hash::digest(run.as_bytes()),
            created: 0,
            updated: 0,
            forked: None,
            summary: RunSummary::default(),
        }
    }

    fn state(seq: u64, bytes: usize) -> Arc<RunState> {
        let title = Some("x".repeat(bytes));
        Arc::new(RunState {
            seq,
            title,
            ..RunState::default()
        })
    }

    fn known(entries: &Entries) -> Vec<&str> {
        entries.by_run.keys().map(RunId::as_str).collect()
    }

    #[test]
    fn the_states_used_longest_ago_make_room() {
        let mut entries = Entries::default();
        for run in ["a", "b", "c"] {
            entries.put(&head(run, 1), &state(1, MAX_BYTES / 4), 0);
        }
        assert!(entries.get(&"a".parse().unwrap()).is_some());
        entries.put(&head("d", 1), &state(1, MAX_BYTES / 4), 0);
        assert_eq!(known(&entries), ["a", "c", "d"]);
        // Between two folds a state isn't measured again, and counts once.
        entries.put(&head("a", 2), &state(2, MAX_BYTES), 0);
        assert_eq!(known(&entries), ["a", "c", "d"]);
        entries.put(&head("a", FOLD_EVERY), &state(FOLD_EVERY, MAX_BYTES / 2), 0);
        assert_eq!(known(&entries), ["a", "d"]);
        // What is larger than all may be isn't remembered.
        entries.put(&head("e", 1), &state(1, MAX_BYTES), 0);
        assert!(entries.by_run.is_empty() && entries.by_turn.is_empty());
        assert_eq!(entries.bytes, 0);
    }
}
