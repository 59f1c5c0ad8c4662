//! Starts of runs by a report.

use super::{Advance, is_step, refusal, report};
use crate::blocker::Code;
use crate::body::Refused;
use crate::runs::draft::Draft;
use crate::runs::{Loaded, RunError};

/// Adds the first report to a run that has just started, or returns why it can't be the first.
pub(super) fn opened(begun: Draft, advance: &Advance) -> Result<Result<Draft, Refused>, RunError> {
    let loaded = begun.loaded();
    if let Some(step) = &advance.step {
        if !step.contains(':') && !is_step(&loaded.workflow, step) {
            return Ok(Err(refusal::unknown_step(loaded, advance, &[])));
        }
        // Where a run begins with a decision, the report makes it: it says which step is the first.
        if !loaded.state.is_active(step) && !begins_with_decision(loaded) {
            return Ok(Err(refusal::not_initial(loaded, advance)));
        }
    }
    let not_initial = refusal::not_initial(loaded, advance);
    let opened = report::reported(begun, advance, false)?;
    Ok(opened.map_err(|why| match Code::from_name(&why.code) {
        Some(Code::UnreachableStep) => not_initial,
        _ => why,
    }))
}

/// Reports whether the compiler made up the initial state: the diagram has several `[*] -->`.
fn begins_with_decision(loaded: &Loaded) -> bool {
    let workflow = &loaded.workflow;
    let mut leaves = loaded.state.leaves.iter();
    leaves.any(|leaf| {
        let id = workflow.table().state_named(leaf);
        id.is_some_and(|id| workflow.is_implied(id))
    })
}
