//! Pruning: removal of runs that are over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::{OnProgress, Progress, bundle, counted};
use crate::authority::load_authority;
use crate::hash::Hash;
use crate::id::RunId;
use crate::overflow;
use crate::store::{Expect, Head, Store, StoreError};

/// The conditions for pruning a run. A run that is over and meets them all is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Its last change is before this time. Unit: milliseconds since 1970.
    pub before: Option<u64>,
    /// The number of the most recently changed runs that are over and stay.
    pub keep: Option<usize>,
    /// Delete the runs. Otherwise the report only says which would be deleted.
    pub delete: bool,
}

/// The report of pruning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// The runs were deleted, not only listed.
    #[serde(rename = "really")]
    pub deleted: bool,
    /// The pruned runs: id, status, and time of the last change.
    pub runs: Vec<(RunId, String, u64)>,
    /// The runs that stay because another needs them: the run, and that other one.
    pub needed: Vec<(RunId, RunId)>,
    /// The number of pruned blobs: those that no remaining run refers to.
    pub blobs: usize,
}

/// The time for which nobody put a blob that is pruned. Unit: milliseconds.
///
/// Why: who puts a blob names it within seconds, unless the machine is suspended in between.
const IDLE: u64 = 60 * 60 * 1_000;

impl fmt::Display for Pruned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (run, status, _) in &self.runs {
            writeln!(out, "`{run}` ({status})")?;
        }
        for (run, by) in &self.needed {
            writeln!(out, "`{run}` stays: `{by}` needs it")?;
        }
        let verb = if self.deleted {
            "removed"
        } else {
            "would remove"
        };
        write!(out, "{verb} {}", counted(self.runs.len(), "run"))?;
        match self.blobs {
            0 => Ok(()),
            count => write!(out, ", {}", counted(count, "blob")),
        }
    }
}

/// Reports whether a run is over.
fn is_over(head: &Head) -> bool {
    ["completed", "failed", "cancelled"].contains(&head.summary.status.as_str())
}

/// Removes runs that are over, with everything that belongs to them alone. Unit of progress: runs.
///
/// A run stays while a fork begins with its journal, and while the run that it works for isn't over. Blobs that no run
/// refers to are removed an hour after they were last put: another run may be about to refer to them.
///
/// Nothing says afterwards that they were there: that is what the operation [`PruneRuns`](super::PruneRuns) adds.
///
/// # Errors
///
/// Those of the store.
pub fn prune(
    store: &dyn Store,
    wanted: &Prune,
    on_progress: OnProgress<'_>,
) -> Result<Pruned, StoreError> {
    prune_after(store, wanted, on_progress, |_| Ok(()))
}

/// Removes runs like [`prune`], after `note` has written down which.
pub(super) fn prune_after<E: From<StoreError>>(
    store: &dyn Store,
    wanted: &Prune,
    on_progress: OnProgress<'_>,
    note: impl FnOnce(&[&Head]) -> Result<(), E>,
) -> Result<Pruned, E> {
    let heads = super::all_runs(store)?;
    let mut pruned = Pruned {
        deleted: wanted.delete,
        ..Pruned::default()
    };
    let mut candidates = select(&heads, wanted);
    // A fork comes after its ancestors in the list, so that the reverse order decides forks first.
    let mut needs: BTreeMap<&RunId, &RunId> = BTreeMap::new();
    let by_run: BTreeMap<&RunId, &Head> = heads.iter().map(|head| (&head.run, head)).collect();
    let mut progress = Progress::new(heads.len() as u64);
    let mut chosen: Vec<&Head> = Vec::new();
    for head in heads.iter().rev() {
        progress.add(1, on_progress);
        let parent = head.summary.parent.as_ref();
        let alive = parent.filter(|run| by_run.get(run).is_some_and(|head| !is_over(head)));
        if candidates.contains(&head.run) {
            if let Some(by) = needs.get(&head.run).copied().or(alive) {
                candidates.remove(&head.run);
                pruned.needed.push((head.run.clone(), by.clone()));
            } else {
                chosen.push(head);
                continue;
            }
        }
        if let Some((from, _)) = &head.forked {
            needs.insert(from, &head.run);
        }
    }
    if wanted.delete {
        // Before they go: of what is gone without a word nobody knows that it was there.
        note(&chosen)?;
    }
    for head in chosen {
        if !wanted.delete || remove(store, head)? {
            let status = head.summary.status.clone();
            pruned.runs.push((head.run.clone(), status, head.updated));
        }
    }
    let gone: BTreeSet<&RunId> = pruned.runs.iter().map(|(run, ..)| run).collect();
    let stay = heads.iter().filter(|head| !gone.contains(&head.run));
    let mut referenced = referenced_blobs(store, stay)?;
    let authority = load_authority(store)?;
    referenced.extend(authority.acceptances().map(|(_, it)| it.table));
    pruned.blobs = store.sweep_blobs(&referenced, IDLE, wanted.delete)?.len();
    Ok(pruned)
}

/// Returns the hashes in the records of some runs, whether or not they are of blobs.
fn referenced_blobs<'h>(
    store: &dyn Store,
    heads: impl Iterator<Item = &'h Head>,
) -> Result<BTreeSet<Hash>, StoreError> {
    let mut referenced = BTreeSet::new();
    for head in heads {
        let shared = head.forked.as_ref().map_or(0, |(_, at)| *at);
        let read = crate::state::for_each_record(store, &head.run, shared, None, |record| {
            let (required, possible) = bundle::blob_refs(record);
            referenced.extend(required);
            referenced.extend(possible);
            referenced.extend(overflow::blob_hash(&record.body));
            Ok(())
        });
        match read {
            // Another process has removed it meanwhile.
            Ok(()) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(referenced)
}

/// Selects the runs that meet the conditions.
fn select(heads: &[Head], wanted: &Prune) -> BTreeSet<RunId> {
    let mut over: Vec<&Head> = heads.iter().filter(|head| is_over(head)).collect();
    over.sort_by_key(|head| std::cmp::Reverse((head.updated, &head.run)));
    let old = |head: &&&Head| wanted.before.is_none_or(|before| head.updated < before);
    let over = over.iter().skip(wanted.keep.unwrap_or(0)).filter(old);
    over.map(|head| head.run.clone()).collect()
}

/// Removes a run, and reports whether it is gone. One that has changed or was forked meanwhile stays.
fn remove(store: &dyn Store, head: &Head) -> Result<bool, StoreError> {
    match store.remove(&head.run, Expect::Exactly(head.seq, head.hash)) {
        Ok(()) | Err(StoreError::NotFound { .. }) => Ok(true),
        Err(StoreError::Conflict { .. } | StoreError::Invalid { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
