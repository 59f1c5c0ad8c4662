//! Throwing runs away that are over.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::progress::{Progress, Tell};
use super::{bundle, counted, runs};
use crate::hash::Hash;
use crate::id::RunId;
use crate::overflow;
use crate::store::{Head, Store, StoreError};

/// Which runs go: those that are over and that every condition names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Changed last before this time. Unit: milliseconds since 1970.
    pub before: Option<u64>,
    /// Not among so many that were changed last of those that are over.
    pub keep: Option<usize>,
    /// Whether they really go. Else it is only said which would.
    pub really: bool,
}

/// What has gone, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Whether they have gone.
    pub really: bool,
    /// Those that go: the run, its status, and when it was changed last.
    pub runs: Vec<(RunId, String, u64)>,
    /// Those that would go if another didn't need them: the run, and which one.
    pub needed: Vec<(RunId, RunId)>,
    /// How many blobs go that no run names, those of the runs that go among them.
    pub blobs: usize,
}

/// How long nobody has kept a blob that goes. Unit: milliseconds. Why: whoever keeps one names it within seconds, unless
/// the machine sleeps in between.
const IDLE: u64 = 60 * 60 * 1_000;

impl fmt::Display for Pruned {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (run, status, _) in &self.runs {
            writeln!(out, "`{run}` ({status})")?;
        }
        for (run, by) in &self.needed {
            writeln!(out, "`{run}` stays: `{by}` needs it")?;
        }
        let verb = if self.really {
            "removed"
        } else {
            "would remove"
        };
        write!(out, "{verb} {}", runs(self.runs.len()))?;
        match self.blobs {
            0 => Ok(()),
            count => write!(out, ", {}", counted(count, "blob")),
        }
    }
}

/// Whether nothing happens to a run any more.
fn is_over(head: &Head) -> bool {
    ["completed", "failed", "cancelled"].contains(&head.summary.status.as_str())
}

/// Removes runs that are over, with everything that only they have. A run stays as long as a fork begins with its journal,
/// or as long as the run that it works for isn't over. Blobs that no run names any more go, too, an hour after somebody has
/// kept them last: another run may be about to name them. `tell` is told in runs.
///
/// # Errors
///
/// The store's.
pub fn prune(store: &dyn Store, wanted: &Prune, tell: Tell<'_>) -> Result<Pruned, StoreError> {
    let heads = super::all(store)?;
    let mut pruned = Pruned {
        really: wanted.really,
        ..Pruned::default()
    };
    let mut going = chosen(&heads, wanted);
    // A fork stands behind what it was forked from: so from the end on, forks are decided before their ancestors.
    let mut needs: BTreeMap<&RunId, &RunId> = BTreeMap::new();
    let by_run: BTreeMap<&RunId, &Head> = heads.iter().map(|head| (&head.run, head)).collect();
    let mut progress = Progress::of(heads.len() as u64);
    for head in heads.iter().rev() {
        progress.add(1, tell);
        let parent = head.summary.parent.as_ref();
        let alive = parent.filter(|run| by_run.get(run).is_some_and(|head| !is_over(head)));
        if going.contains(&head.run) {
            if let Some(by) = needs.get(&head.run).copied().or(alive) {
                going.remove(&head.run);
                pruned.needed.push((head.run.clone(), by.clone()));
            } else if !wanted.really || remove(store, head)? {
                let status = head.summary.status.clone();
                pruned.runs.push((head.run.clone(), status, head.updated));
                continue;
            }
        }
        if let Some((from, _)) = &head.forked {
            needs.insert(from, &head.run);
        }
    }
    let gone: BTreeSet<&RunId> = pruned.runs.iter().map(|(run, ..)| run).collect();
    let stay = heads.iter().filter(|head| !gone.contains(&head.run));
    let named = named(store, stay)?;
    pruned.blobs = store.sweep(&named, IDLE, wanted.really)?.len();
    Ok(pruned)
}

/// The blobs that runs name, or whose hash stands in them by chance.
fn named<'h>(
    store: &dyn Store,
    heads: impl Iterator<Item = &'h Head>,
) -> Result<BTreeSet<Hash>, StoreError> {
    let mut named = BTreeSet::new();
    for head in heads {
        let shared = head.forked.as_ref().map_or(0, |(_, at)| *at);
        let read = crate::fold::each(store, &head.run, shared, None, |record| {
            let (needed, possible) = bundle::named(record);
            named.extend(needed);
            named.extend(possible);
            named.extend(overflow::hash_of(&record.body));
            Ok(())
        });
        match read {
            // Somebody else has removed it meanwhile.
            Ok(()) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(named)
}

fn chosen(heads: &[Head], wanted: &Prune) -> BTreeSet<RunId> {
    let mut over: Vec<&Head> = heads.iter().filter(|head| is_over(head)).collect();
    over.sort_by_key(|head| std::cmp::Reverse((head.updated, &head.run)));
    let old = |head: &&&Head| wanted.before.is_none_or(|before| head.updated < before);
    let over = over.iter().skip(wanted.keep.unwrap_or(0)).filter(old);
    over.map(|head| head.run.clone()).collect()
}

/// Whether it is gone. One that has gone on or was forked meanwhile stays.
fn remove(store: &dyn Store, head: &Head) -> Result<bool, StoreError> {
    match store.head(&head.run) {
        Ok(now) if now.hash == head.hash => {}
        Ok(_) => return Ok(false),
        Err(StoreError::NotFound { .. }) => return Ok(true),
        Err(error) => return Err(error),
    }
    match store.remove(&head.run) {
        Ok(()) | Err(StoreError::NotFound { .. }) => Ok(true),
        Err(StoreError::Invalid { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
