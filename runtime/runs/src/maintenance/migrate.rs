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

/// The report of a migration between stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// The runs that are new in the target store, in the order of writing.
    pub new: Vec<RunId>,
    /// The runs that the target store had already.
    pub same: Vec<RunId>,
    /// The number of new records.
    pub records: usize,
}

impl fmt::Display for Copied {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (new, same) = (counted(self.new.len(), "run"), self.same.len());
        write!(out, "copied {new}, {}", counted(self.records, "record"))?;
        match same {
            0 => Ok(()),
            same => write!(out, "; {same} were there already"),
        }
    }
}

/// Copies all runs of a store into another, each whole or not at all. Unit of progress: records.
///
/// The source store is unchanged. Called again, it copies what is still missing. Leases aren't copied: a run's driver
/// acquires a new one.
///
/// # Errors
///
/// A run is damaged; the target store has a different run under the same id; a store fails.
pub fn migrate(
    from: &dyn Store,
    to: &dyn Store,
    on_progress: OnProgress<'_>,
) -> Result<Copied, StoreError> {
    let mut copied = Copied::default();
    let heads = super::all_runs(from)?;
    let mut progress = Progress::new(heads.iter().map(own_records).sum());
    for head in heads {
        let bundle = read_intact(from, head, &mut progress, on_progress)?;
        match bundle.put(to)? {
            Put::New => {
                copied.records += bundle.records.len();
                copied.new.push(bundle.head.run);
            }
            Put::Same => copied.same.push(bundle.head.run),
        }
    }
    Ok(copied)
}
