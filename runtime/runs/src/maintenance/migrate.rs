//! Copying of all runs from one store to another.
//!
//! The migration of a run to another machine is an operation: `runs/migrate.rs`.

use std::fmt;

use serde::Serialize;

use super::bundle::{Arrival, Put};
use super::export::{own_records, read_intact};
use super::{OnProgress, Progress, counted};
use crate::authority::load_authority;
use crate::id::RunId;
use crate::record::{NewRecord, Record};
use crate::store::{Append, Expect, MAX_PAGE, Store, StoreError};

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
/// acquires a new one. The store's own journal comes first, so that the runs have their store's tokens and id; a store
/// that has another one already, or runs without one, isn't copied into.
///
/// # Errors
///
/// A run is damaged; the target store has a different run under the same id; a store fails.
pub fn migrate(
    from: &dyn Store,
    to: &dyn Store,
    on_progress: OnProgress<'_>,
) -> Result<Copied, StoreError> {
    migrate_as(from, to, on_progress, None)
}

/// Copies all runs.
///
/// Those of a store with other persons say afterwards who has taken them in, if somebody does.
pub(super) fn migrate_as(
    from: &dyn Store,
    to: &dyn Store,
    on_progress: OnProgress<'_>,
    arrival: Option<&Arrival>,
) -> Result<Copied, StoreError> {
    let mut copied = Copied::default();
    let is_same = copy_authority(from, to)?;
    let arrival = arrival.filter(|_| !is_same);
    let heads = super::all_runs(from)?;
    let mut progress = Progress::new(heads.iter().map(own_records).sum());
    for head in heads {
        let bundle = read_intact(from, head, &mut progress, on_progress)?;
        match bundle.put(to, arrival)? {
            Put::New => {
                copied.records += bundle.records.len();
                copied.new.push(bundle.head.run);
            }
            Put::Same => copied.same.push(bundle.head.run),
        }
    }
    Ok(copied)
}

/// Copies the store's own journal, unless the target has it.
///
/// Reports whether both have the same one then.
///
/// A store that never had a token has no persons: its journal stays where it is if the target has its own.
fn copy_authority(from: &dyn Store, to: &dyn Store) -> Result<bool, StoreError> {
    let run = RunId::store_journal();
    let is_empty = |store: &dyn Store| Ok::<_, StoreError>(store.status_counts()?.is_empty());
    let has_journal = |store: &dyn Store| match store.head(&run) {
        Ok(_) => Ok(true),
        Err(StoreError::NotFound { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    let is_used = has_journal(to)? || !is_empty(to)?;
    let head = match from.head(&run) {
        Ok(head) => head,
        Err(StoreError::NotFound { .. }) => return Ok(!is_used),
        Err(error) => return Err(error),
    };
    let is_anonymous = load_authority(from)?.allows_anonymous();
    let mut records: Vec<Record> = Vec::new();
    while let Some(after) = Some(records.len() as u64).filter(|it| *it < head.seq) {
        let page = from.records(&run, after, MAX_PAGE)?;
        if page.is_empty() {
            break;
        }
        records.extend(page);
    }
    // A token may have been used meanwhile for the first time. That record comes with the next copy.
    records.truncate(usize::try_from(head.seq).unwrap_or(usize::MAX));
    let known = match to.head(&run) {
        Ok(known) => known.seq,
        Err(StoreError::NotFound { .. }) => 0,
        Err(error) => return Err(error),
    };
    // Runs that nobody's token guards yet don't get somebody else's persons.
    if known == 0 && is_used {
        if is_anonymous {
            return Ok(false);
        }
        return Err(StoreError::Invalid {
            what: "the target store has runs and no tokens: make its first token, or copy into a new one"
                .to_owned(),
        });
    }
    let known = usize::try_from(known).unwrap_or(usize::MAX);
    let same = match known.checked_sub(1) {
        None => true,
        Some(last) => {
            let theirs = to.head(&run)?.hash;
            records.get(last).is_some_and(|it| it.hash() == theirs)
        }
    };
    if !same && is_anonymous {
        return Ok(false);
    }
    if !same {
        return Err(StoreError::Invalid {
            what: "the target store has tokens of its own: copy into a new one".to_owned(),
        });
    }
    let missing: Vec<NewRecord> = records
        .into_iter()
        .skip(known)
        .map(NewRecord::from)
        .collect();
    if missing.is_empty() {
        return Ok(true);
    }
    let append = Append {
        expect: match head.seq - missing.len() as u64 {
            0 => Expect::NoRun,
            seq => Expect::At(seq),
        },
        run,
        key: None,
        fence: None,
        records: missing,
        summary: head.summary,
        timers: None,
    };
    to.append(&append).map(|_| true)
}
