//! Maintenance that changes a store, as operations: only who may keep the store may ask for it.
//!
//! The functions behind them are for tests and for programs that embed a store and answer for their callers themselves.

use std::cell::RefCell;
use std::io::BufRead;

use super::{Copied, ImportError, Imported, OnProgress, Prune, Pruned, import, migrate, prune};
use crate::actor::Actor;
use crate::authority::Right;
use crate::runs::RunError;
use crate::runs::operation::{Execution, Operation};
use crate::store::Store;

/// Removes runs that are over. Only listing them needs no more than to see them.
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
        Ok(prune(store, &self.wanted, &mut **on_progress)?)
    }
}

/// Imports runs that [`export`](super::export()) has written.
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
        Ok(import(execution.runs().store(), &mut **input))
    }
}

/// Copies all runs, and the tokens of the store, into the store of these runs.
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
        let to = execution.runs().store();
        Ok(migrate(self.from, to, &mut **on_progress)?)
    }
}
