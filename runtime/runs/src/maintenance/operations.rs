//! Maintenance that changes a store, as operations: only who may keep the store may ask for it.
//!
//! The functions behind them are for tests and for programs that embed a store and answer for their callers themselves.

use std::cell::RefCell;
use std::io::BufRead;

use super::bundle::Arrival;
use super::import::import_as;
use super::migrate::migrate_as;
use super::prune::prune_after;
use super::{Copied, ImportError, Imported, OnProgress, Prune, Pruned};
use crate::actor::Actor;
use crate::authority::{Entry, Right, RunEnd, RunsPruned};
use crate::redact::Redactor;
use crate::runs::operation::{Execution, Operation};
use crate::runs::{RunError, Runs};
use crate::store::{Head, Store};

/// Most tombstones of one entry.
///
/// Why: a record has a megabyte at most, and one takes some two hundred bytes.
const MAX_TOMBSTONES: usize = 1_000;

/// Removes runs that are over, and leaves a tombstone of each in the store's journal.
///
/// Listing them needs no right to it.
///
/// The id of a run that was pruned is nobody else's afterwards: only the run itself comes back under it, by an import.
pub struct PruneRuns<'p> {
    /// The runs, and whether they are deleted.
    pub wanted: Prune,
    /// Is told how far it is.
    pub on_progress: RefCell<OnProgress<'p>>,
}

impl Operation for PruneRuns<'_> {
    const NAME: &'static str = "prune";
    const RIGHT: Right = Right::Keep;
    type Order = Actor;
    type Response = Pruned;

    fn is_excused(&self) -> bool {
        !self.wanted.delete
    }

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<Pruned, RunError> {
        let mut on_progress = self.on_progress.borrow_mut();
        let store = execution.runs().store();
        prune_after(store, &self.wanted, &mut **on_progress, |chosen| {
            leave_tombstones(execution.runs(), execution.order(), chosen)
        })
    }
}

/// Writes down the ends of runs that are about to be removed.
fn leave_tombstones(runs: &Runs, actor: &Actor, chosen: &[&Head]) -> Result<(), RunError> {
    for part in chosen.chunks(MAX_TOMBSTONES) {
        let end = |head: &&Head| RunEnd {
            run: head.run.clone(),
            seq: head.seq,
            hash: head.hash,
        };
        runs.amend_authority(actor, |_, _| {
            let runs = part.iter().map(end).collect();
            Ok(vec![Entry::RunsPruned(RunsPruned { runs })])
        })?;
    }
    Ok(())
}

/// Imports runs that [`export`](super::export()) has written. Each says afterwards who has imported it.
pub struct ImportRuns<'i> {
    /// The lines.
    pub input: RefCell<&'i mut dyn BufRead>,
}

/// The report of the import, or the line that ended it.
impl Operation for ImportRuns<'_> {
    const NAME: &'static str = "import";
    const RIGHT: Right = Right::Keep;
    type Order = Actor;
    type Response = Result<Imported, Box<ImportError>>;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<Self::Response, RunError> {
        let mut input = self.input.borrow_mut();
        let runs = execution.runs();
        let arrival = Arrival::new(runs, execution.order(), None)?;
        let secrets = Redactor::from_environment(&[]);
        let store = runs.store();
        Ok(import_as(store, &mut **input, &secrets, Some(&arrival)))
    }
}

/// Copies all runs, and the tokens of the store, into the store of these runs.
///
/// Runs of a store whose persons aren't those of this one say afterwards who has copied them.
pub struct CopyRuns<'c> {
    /// The store that is read.
    pub from: &'c dyn Store,
    /// Is told how far it is.
    pub on_progress: RefCell<OnProgress<'c>>,
}

impl Operation for CopyRuns<'_> {
    const NAME: &'static str = "copy";
    const RIGHT: Right = Right::Keep;
    type Order = Actor;
    type Response = Copied;

    fn carry_out(&self, execution: &Execution<'_, Actor>) -> Result<Copied, RunError> {
        let mut on_progress = self.on_progress.borrow_mut();
        let runs = execution.runs();
        let from = crate::authority::load_authority(self.from)?;
        let arrival = Arrival::new(runs, execution.order(), from.store_id())?;
        Ok(migrate_as(
            self.from,
            runs.store(),
            &mut **on_progress,
            Some(&arrival),
        )?)
    }
}
