//! The cost of a run together with the runs below it.
//!
//! Each journal has the cost of its own run alone, so the sum is made over the store whenever it is asked for. What to rely
//! on: a run below counts wherever it has come to, also where its start was taken back by a rewind, for what it used is
//! used. A run that is gone from the store counts nothing, and neither does a fork, which works for nobody.

use std::collections::BTreeSet;

use super::{Loaded, RunError, Runs};
use crate::body::Usage;
use crate::id::RunId;
use crate::store::{Query, StoreError, list_all};

/// The cost of a run, and of those below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeUsage {
    /// Of the run itself.
    pub own: Usage,
    /// Of all runs below it.
    pub below: Usage,
}

impl TreeUsage {
    /// Returns the sum.
    #[must_use]
    pub fn total(&self) -> Usage {
        let mut total = self.own.clone();
        total.add(&self.below);
        total
    }
}

/// Returns the cost of a run and of those below it.
///
/// # Errors
///
/// The store's; a run below can't be read.
pub fn tree_usage(runs: &Runs, run: &Loaded) -> Result<TreeUsage, RunError> {
    Ok(TreeUsage {
        own: run.state.usage.clone(),
        below: usage_below(runs, run)?,
    })
}

/// Returns the cost of a run and of those below it since a person has continued it: budgets count that.
///
/// # Errors
///
/// The store's; a run below can't be read.
pub fn counted_tree_usage(runs: &Runs, run: &Loaded) -> Result<TreeUsage, RunError> {
    let all = tree_usage(runs, run)?;
    let below = match &run.state.allowance {
        Some(allowance) => all.below.since(&allowance.below),
        None => all.below,
    };
    Ok(TreeUsage {
        own: run.state.counted_usage(),
        below,
    })
}

/// Returns the cost of the runs below a run, down to the lowest.
pub(super) fn usage_below(runs: &Runs, run: &Loaded) -> Result<Usage, RunError> {
    let mut sum = Usage::default();
    let mut seen = BTreeSet::from([run.run.clone()]);
    let mut above = vec![run.clone()];
    while let Some(run) = above.pop() {
        if !may_have_runs_below(&run) {
            continue;
        }
        for id in ids_below(runs, &run.run)? {
            if !seen.insert(id.clone()) {
                continue;
            }
            match runs.load(&id) {
                Ok(below) => {
                    sum.add(&below.state.usage);
                    above.push(below);
                }
                // Somebody has removed it since it was listed.
                Err(RunError::Store(StoreError::NotFound { .. })) => {}
                Err(error) => return Err(error),
            }
        }
    }
    // It is no one attempt's, and no one model's.
    sum.attempt = None;
    sum.model = None;
    Ok(sum)
}

/// Reports whether a run may have begun others. A rewind may have forgotten them.
fn may_have_runs_below(run: &Loaded) -> bool {
    let state = &run.state;
    !state.children.is_empty() || !state.orphans.is_empty() || !state.rewinds.is_empty()
}

/// Lists the runs that work for a run.
fn ids_below(runs: &Runs, run: &RunId) -> Result<Vec<RunId>, RunError> {
    let query = Query {
        parent: Some(run.clone()),
        ..Query::default()
    };
    let heads = list_all(runs.store(), query)?;
    Ok(heads.into_iter().map(|head| head.run).collect())
}
