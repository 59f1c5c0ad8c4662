//! Maintenance of stores: verification, export and import, migration between stores, and pruning.
//!
//! Everything goes through [`Store`], so that it works alike on every back end. Backups are SQLite's alone, because servers
//! have backups of their own. Each operation reports its [`Progress`] and returns a report, which implements
//! [`std::fmt::Display`].
//!
//! What to rely on: nothing here changes a record. Incoming runs are checked by their hashes before anything is written,
//! and a run is written whole or not at all.

mod anchor;
mod bundle;
mod export;
mod import;
mod migrate;
mod operations;
mod prune;
mod signatures;
mod verify;

pub use anchor::{ANCHOR_FORMAT, Anchor, AnchorError, Anchored, Anchors, make_anchor};
pub use export::{Exported, FORMAT, export};
pub use import::{ImportError, Imported, import, import_with};
pub use migrate::{Copied, migrate};
pub use operations::{CopyRuns, ImportRuns, PruneRuns};
pub use prune::{Prune, Pruned, prune};
pub use signatures::verify_signatures;
pub use verify::{Difference, Verified, verify};

use std::collections::BTreeSet;
use std::fmt;

use crate::id::RunId;
use crate::store::{Head, Query, Store, StoreError, for_each_head};

/// The progress of an operation. Unit: the operation's, which its documentation names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The finished part.
    pub done: u64,
    /// The whole, as far as it is known.
    pub total: u64,
}

/// A callback for progress.
///
/// It is called after each page or run, thousands of times a second if they are small.
pub type OnProgress<'t> = &'t mut dyn FnMut(Progress);

/// Ignores progress; an [`OnProgress`] for callers who don't show any.
pub const fn ignore_progress(_: Progress) {}

impl Progress {
    const fn new(total: u64) -> Self {
        Self { done: 0, total }
    }

    /// Adds to what is done, and reports it.
    fn add(&mut self, more: u64, on_progress: OnProgress<'_>) {
        self.done = self.done.saturating_add(more);
        on_progress(*self);
    }
}

/// Returns all runs: each after the one that it was forked from, else in the order of their ids.
fn all_runs(store: &dyn Store) -> Result<Vec<Head>, StoreError> {
    let mut heads = std::collections::BTreeMap::new();
    for_each_head(store, Query::default(), |head| {
        heads.insert(head.run.clone(), head);
    })?;
    let mut sorted = Vec::with_capacity(heads.len());
    while let Some((_, head)) = heads.pop_first() {
        let mut lineage = vec![head];
        while let Some((origin, _)) = lineage.last().and_then(|head| head.forked.as_ref())
            && let Some(origin) = heads.remove(origin)
        {
            lineage.push(origin);
        }
        sorted.extend(lineage.into_iter().rev());
    }
    Ok(sorted)
}

/// Returns a run and the runs that it was forked from, the oldest first.
fn lineage(store: &dyn Store, run: &RunId) -> Result<Vec<Head>, StoreError> {
    let mut lineage = vec![store.head(run)?];
    while let Some((origin, _)) = lineage.last().and_then(|head| head.forked.clone()) {
        lineage.push(store.head(&origin)?);
    }
    lineage.reverse();
    Ok(lineage)
}

/// Returns the lineage of a run and of its children, theirs too, each run after its origin.
fn family(store: &dyn Store, run: &RunId) -> Result<Vec<Head>, StoreError> {
    let mut family: Vec<Head> = Vec::new();
    let (mut known, mut visited) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![run.clone()];
    while let Some(run) = open.pop() {
        if !visited.insert(run.clone()) {
            continue;
        }
        let lineage = lineage(store, &run)?.into_iter();
        family.extend(lineage.filter(|head| known.insert(head.run.clone())));
        let state = crate::state::load(store, &run, None)?;
        let children = state.children.keys().chain(state.orphans.keys());
        for child in children.rev().filter_map(|id| id.parse::<RunId>().ok()) {
            match store.head(&child) {
                Ok(head) if head.summary.parent.as_ref() == Some(&run) => open.push(child),
                Ok(_) | Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(family)
}

/// Returns a number with its noun, in the plural unless it is one.
fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
