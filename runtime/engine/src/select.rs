//! Which transition is taken: SCXML's `selectTransitions` and `selectEventlessTransitions`.

use crate::configuration::Configuration;
use crate::expression;
use crate::host::{Host, Observer};
use crate::id::{EventId, StateId, TransitionId};
use crate::table::Table;

/// The transition that the event, or [`EVENTLESS`](crate::table::index::EVENTLESS), takes in the configuration.
///
/// The leaf is asked first, then its ancestors; within a state document order counts; the first transition whose guard
/// holds is taken, and no guard behind it is asked.
pub(crate) fn select<H: Host, O: Observer>(
    table: &Table,
    configuration: &Configuration,
    event: EventId,
    host: &mut H,
    observer: &mut O,
) -> Option<TransitionId> {
    let mut at = Some(configuration.leaf);
    while let Some(state) = at {
        let enabled = first_enabled(table, state, event, configuration, host, observer);
        if enabled.is_some() {
            return enabled;
        }
        at = table.parent(state);
    }
    None
}

/// The state's own first transition that the event triggers and whose guard holds.
pub(crate) fn first_enabled<H: Host, O: Observer>(
    table: &Table,
    state: StateId,
    event: EventId,
    configuration: &Configuration,
    host: &mut H,
    observer: &mut O,
) -> Option<TransitionId> {
    let mut triggered = table.index.matches(state, event).iter();
    triggered
        .find(|&&(_, transition)| {
            expression::guard(table, transition, configuration, host, observer)
        })
        .map(|&(_, transition)| transition)
}
