//! Copying of all runs from one store to another.
//!
//! The migration of a run to another machine is an operation: `runs/migrate.rs`.

use std::fmt;

use serde::Serialize;

use super::bundle::Put;
use super::export::{own_records, read_intact};
use super::{OnProgress, Progress, counted};
use crate::id::RunId;
use crate::store::{Store, StoreError};

/// The report on runs copied to another store. The source store is unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The runs that are new in the target store, in the order of writing.
    pub new: Vec<RunId>,
    /// The runs that the target store had already.
    pub same: Vec<RunId>,
    /// The number of new records.
    pub records: usize,
}

impl fmt::Display for Moved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (new, same) = (counted(self.new.len(), "run"), self.same.len());
        write!(out, "moved {new}, {}", counted(self.records, "record"))?;
        match same {
            0 => Ok(()),
            same => write!(out, "; {same} were there already"),
        }
    }
}

/// Copies all runs of a store into another, each whole or not at all. Unit of progress: records.
///
/// Called again, it copies what is still missing. Leases aren't copied: a run's driver acquires a new one.
///
/// # Errors
///
/// A run is damaged; the target store has a different run under the same id; a store fails.
pub fn migrate(
    from: &dyn Store,
    to: &dyn Store,
    on_progress: OnProgress<'_>,
) -> Result<Moved, StoreError> {
    let mut moved = Moved::default();
    let heads = super::all_runs(from)?;
    let mut progress = Progress::new(heads.iter().map(own_records).sum());
    for head in heads {
        let bundle = read_intact(from, head, &mut progress, on_progress)?;
        match bundle.put(to)? {
            Put::New => {
                moved.records += bundle.records.len();
                moved.new.push(bundle.head.run);
            }
            Put::Same => moved.same.push(bundle.head.run),
        }
    }
    Ok(moved)
}
