//! From one store to another.

use std::fmt;

use serde::Serialize;

use super::bundle::Put;
use super::export::{checked, own};
use super::progress::{Progress, Tell};
use super::{counted, runs};
use crate::id::RunId;
use crate::store::{Store, StoreError};

/// What was moved. The store that it came from is as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The runs that are new in the other store, in their order.
    pub new: Vec<RunId>,
    /// The runs that it had already.
    pub same: Vec<RunId>,
    /// How many records are new.
    pub records: usize,
}

impl fmt::Display for Moved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (new, same) = (runs(self.new.len()), self.same.len());
        write!(out, "moved {new}, {}", counted(self.records, "record"))?;
        match same {
            0 => Ok(()),
            same => write!(out, "; {same} were there already"),
        }
    }
}

/// Puts all runs of a store into another, each whole or not at all; asked again, it goes on where it was. Leases aren't
/// moved: whoever drives a run gets a new one. `tell` is told in records.
///
/// # Errors
///
/// A run isn't as it was written, or the other store has another of its name; the stores'.
pub fn migrate(from: &dyn Store, to: &dyn Store, tell: Tell<'_>) -> Result<Moved, StoreError> {
    let mut moved = Moved::default();
    let heads = super::all(from)?;
    let mut progress = Progress::of(heads.iter().map(own).sum());
    for head in heads {
        let bundle = checked(from, head, &mut progress, tell)?;
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
