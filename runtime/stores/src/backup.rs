//! A copy of a store in a file, while others write to it.
//!
//! Two stores must never act on one run, so the copy sleeps: nobody holds a lease in it, tokens of leases that were held
//! are worthless, its timers are claimed for ever, and nothing is written to its runs. [`Store::wake`] makes it a
//! store that acts; or its runs are [copied](statemark_runs::maintenance::migrate()) to another store, where their timers are armed anew.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use statemark_runs::maintenance::OnProgress;
use statemark_runs::runs::operation::Execution;
use statemark_runs::store::{Store, StoreError};
use statemark_runs::{Actor, Operation, Right, RunError};

use crate::sqlite::SqliteStore;

/// The size of a finished copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BackedUp {
    /// The new file.
    pub path: PathBuf,
    /// Number of runs in it.
    pub runs: usize,
    /// Number of sleeping timers in it.
    pub timers: usize,
}

impl fmt::Display for BackedUp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, timers) = (self.path.display(), self.timers);
        let ending = if self.runs == 1 { "" } else { "s" };
        write!(out, "copied {} run{ending} to `{path}`", self.runs)?;
        match timers {
            0 => Ok(()),
            1 => out.write_str("; 1 timer sleeps there until the copy is woken"),
            timers => write!(out, "; {timers} timers sleep there until the copy is woken"),
        }
    }
}

/// Copies a store to a new file, as it is at one moment.
/// `on_progress` counts pages of the file.
///
/// # Errors
///
/// There is such a file; it can't be written; the store can't be read.
pub fn backup(
    store: &SqliteStore,
    to: &Path,
    on_progress: OnProgress<'_>,
) -> Result<BackedUp, StoreError> {
    let (runs, timers) = store.copy_to(to, on_progress)?;
    Ok(BackedUp {
        path: to.to_owned(),
        runs,
        timers,
    })
}

/// Makes a copy the store that acts. Where it has tokens, a person does that.
///
/// Why not everywhere: nobody can be made a person in a store that sleeps.
pub struct WakeStore<'s> {
    /// The copy, which is also the store of the runs that carry this out.
    pub store: &'s dyn Store,
}

/// Answers the number of timers that were woken.
impl Operation for WakeStore<'_> {
    const NAME: &'static str = "wake";
    const RIGHT: Right = Right::Drive;
    type Order = Actor;
    type Response = usize;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<usize, RunError> {
        if !execution.runs().authority()?.allows_anonymous() {
            Right::Keep.check(execution.order())?;
        }
        Ok(self.store.wake()?)
    }
}
