//! What moves the machine by an event that the journal says the cause of: for those who take it and for those who make the
//! journal again.
//!
//! The outcome of an invoked run is its state's alone, a timer's event is the timer's, and what was approved moves the
//! machine as what was asked for would have.

use crate::body::{Cause, Resolution};
use crate::state::RunState;
use crate::step::StepInput;
use crate::workflow::Workflow;

/// Returns the input of the machine for an event.
///
/// None if the table has nothing of that name, or if it is the outcome of a run that nobody waits for any more.
pub(super) fn moves_by(
    workflow: &Workflow,
    state: &RunState,
    event: &str,
    cause: Option<&Cause>,
) -> Option<StepInput<'static>> {
    let table = workflow.table();
    match asked_by(state, event, cause) {
        Some(Cause::Timer { timer }) => table.timer_named(timer).map(StepInput::Timer),
        Some(Cause::Child {
            run,
            step: Some(step),
        }) => {
            // What an earlier visit has waited for is nothing to the one that goes on.
            let child = state.children.get(run.as_str())?;
            let (event, step) = (table.event_named(event)?, table.state_named(step)?);
            let is_awaited = state.is_current_child(child);
            is_awaited.then_some(StepInput::Outcome(event, step))
        }
        _ => table.event_named(event).map(StepInput::Event),
    }
}

/// Returns the cause of an event; of an approved one, the cause of its request.
fn asked_by<'s>(state: &'s RunState, event: &str, cause: Option<&'s Cause>) -> Option<&'s Cause> {
    if let Some(Cause::Request { request }) = cause
        && let Some(request) = state.requests.get(request)
        && let Some((resolved, ..)) = &request.resolved
        && resolved.resolution == Resolution::Approved
        && let Some(waiting) = request.opened.event.as_ref().filter(|it| it.event == event)
    {
        return waiting.cause.as_ref();
    }
    cause
}
