//! A fork that begins before some states were entered.
//!
//! What is meant by a state is its last visit up to the record that was asked for; the fold up to there knows it, under the
//! names that states had then. A run never was within an append, so the fork begins behind the one before.

use super::ForkRun;
use super::forkable_state;
use crate::actor::Role;
use crate::runs::{InvalidRequest, RunError, Runs};
use crate::state::{self, LiveRecords, RunState};

/// Returns the fork with the record that it starts after.
///
/// It is the one that was asked for, or the last that counts before the first of the reset states was entered.
/// There is none before the run's first records: then it starts with those.
pub(super) fn resolve_reset(runs: &Runs, fork: &ForkRun) -> Result<ForkRun, RunError> {
    let mut settled = fork.clone();
    if fork.reset.is_empty() {
        return Ok(settled);
    }
    let state = forkable_state(runs, fork, Role::System)?;
    let entered = fork.reset.iter().map(|name| {
        let entered = entered(&state, name);
        entered.map_or_else(|| Err(not_entered(runs, fork, &state, name)), Ok)
    });
    let entered = entered.collect::<Result<Vec<u64>, RunError>>()?;
    if let Some(first) = entered.into_iter().min() {
        settled.at = end_before(runs, fork, first)?;
    }
    settled.reset.clear();
    Ok(settled)
}

/// Returns the end of the last append that counts before a record; else of the run's first.
fn end_before(runs: &Runs, fork: &ForkRun, seq: u64) -> Result<u64, RunError> {
    let mut live = LiveRecords::default();
    let mut ends = Vec::new();
    state::for_each_record(&*runs.store, &fork.from, 0, Some(fork.at), |record| {
        live.push(record);
        if !record.continues() {
            ends.push(record.seq);
        }
        Ok(())
    })?;
    let before = ends
        .iter()
        .rev()
        .find(|end| **end < seq && live.contains(**end));
    Ok(before.or(ends.first()).copied().unwrap_or(fork.at))
}

/// Returns the error of a state that wasn't entered or doesn't exist.
fn not_entered(runs: &Runs, fork: &ForkRun, state: &RunState, name: &str) -> RunError {
    let workflow = state.table.and_then(|table| runs.workflow_of(&table).ok());
    let known = workflow.iter().flat_map(|it| it.visible_states());
    let known: Vec<String> = known.map(|(_, name)| name.to_owned()).collect();
    let (at, name) = (fork.at, name.to_owned());
    RunError::Invalid(if known.contains(&name) {
        let entered = known.into_iter().filter(|it| entered(state, it).is_some());
        InvalidRequest::NotEntered {
            state: name,
            at,
            entered: entered.collect(),
        }
    } else {
        InvalidRequest::UnknownState { state: name, known }
    })
}

/// Returns the record that entered a state last.
///
/// A visit that only has the use of limits before a rewind was none.
fn entered(state: &RunState, name: &str) -> Option<u64> {
    let visit = state.visits.get(name)?;
    (visit.entered > 0).then_some(visit.entered)
}
