//! Keeping stores: to see that one is whole, to copy it, to move it, and to throw away what is over.
//!
//! All of it goes through [`Store`], so that it is the same for every one of them; only a backup is SQLite's, because
//! servers have backups of their own. Each operation [tells](Tell) how far it has come, and gives a report, which says by
//! [`std::fmt::Display`] what was done.
//!
//! What to rely on: nothing here changes a record. What comes in is checked by its hashes before anything is written, and
//! a run is written whole or not at all.

mod bundle;
mod export;
mod import;
mod migrate;
mod progress;
mod prune;
mod verify;

pub use export::{Exported, FORMAT, export};
pub use import::{ImportError, Imported, import, import_without};
pub use migrate::{Moved, migrate};
pub use progress::{Progress, Tell, untold};
pub use prune::{Prune, Pruned, prune};
pub use verify::{Difference, Verified, verify};

use std::collections::BTreeSet;
use std::fmt;

use crate::id::RunId;
use crate::store::{Head, MAX_PAGE, Query, Store, StoreError};

/// All runs, each behind the one that it was forked from, else in the order of their ids.
fn all(store: &dyn Store) -> Result<Vec<Head>, StoreError> {
    let mut heads = std::collections::BTreeMap::new();
    let mut query = Query {
        limit: MAX_PAGE,
        ..Query::default()
    };
    loop {
        let page = store.list(&query)?;
        heads.extend(page.heads.into_iter().map(|head| (head.run.clone(), head)));
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    let mut sorted = Vec::with_capacity(heads.len());
    while let Some((_, head)) = heads.pop_first() {
        let mut line = vec![head];
        // What it was forked from comes first, and what that was forked from.
        while let Some(parent) = line.last().and_then(|head| head.forked.as_ref())
            && let Some(parent) = heads.remove(&parent.0)
        {
            line.push(parent);
        }
        sorted.extend(line.into_iter().rev());
    }
    Ok(sorted)
}

/// A run, behind those that it was forked from.
fn line(store: &dyn Store, run: &RunId) -> Result<Vec<Head>, StoreError> {
    let mut line = vec![store.head(run)?];
    while let Some((parent, _)) = line.last().and_then(|head| head.forked.clone()) {
        line.push(store.head(&parent)?);
    }
    line.reverse();
    Ok(line)
}

/// A run with those that it was forked from, and the runs under it with theirs: each behind what it was forked from.
fn family(store: &dyn Store, run: &RunId) -> Result<Vec<Head>, StoreError> {
    let mut family: Vec<Head> = Vec::new();
    let (mut known, mut asked) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![run.clone()];
    while let Some(run) = open.pop() {
        if !asked.insert(run.clone()) {
            continue;
        }
        let line = line(store, &run)?.into_iter();
        family.extend(line.filter(|head| known.insert(head.run.clone())));
        let state = crate::fold::read(store, &run, None)?;
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

/// Things and their number, in words.
fn counted(count: impl fmt::Display, word: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {word}{ending}")
}

/// Runs and their number, in words.
fn runs(count: usize) -> String {
    counted(count, "run")
}
