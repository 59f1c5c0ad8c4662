//! The ends of runs as this process has seen them last.
//!
//! An append that knows the end needs one statement: it is made where the run still ends so, and nowhere else. A guess that
//! is wrong costs a round to the server, and nothing is taken for true because it stands here.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use statemark_runs::store::Append;
use statemark_runs::{Hash, RunId};

/// Most runs that are remembered.
///
/// Why: more than a process drives at a time, and a few hundred kilobytes.
const MOST: usize = 4_096;

/// The last records of runs: their numbers and hashes.
#[derive(Default)]
pub(super) struct Ends(Mutex<HashMap<RunId, (u64, Hash)>>);

impl Ends {
    /// Remembers the end of a run.
    pub(super) fn put(&self, run: &RunId, seq: u64, hash: Hash) {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ends.len() >= MOST {
            ends.clear();
        }
        ends.insert(run.clone(), (seq, hash));
    }

    /// Takes the end that an append would be made at, if it is known. Whoever succeeds puts the new one.
    pub(super) fn take(&self, append: &Append) -> Option<(u64, Hash)> {
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (seq, hash) = ends.remove(&append.run)?;
        append.expect.is_met_by(seq, hash).then_some((seq, hash))
    }
}
