//! Whether a machine comes to rest after every event, or goes on by itself for ever.

use super::{Case, Found, Proof, Witness};
use crate::ir::{Action, EventKind, Machine};

/// `comes-to-rest`.
pub(super) fn comes_to_rest(case: &Case<'_>) -> Option<Proof> {
    let explored = &case.explored;
    let found = if !moves_by_itself(case.machine) {
        Found::holds()
    } else if let Some(restless) = explored.restless {
        let (mut witness, after) = match restless.from {
            Some((node, stimulus)) => {
                let mut witness = case.witness(node);
                let event = case.event_of(stimulus);
                let after = format!("after `{event}`");
                witness.events.push(event);
                (witness, after)
            }
            None => (Witness::default(), "from its start".to_owned()),
        };
        // Where it began is no place that the event leads to.
        witness.states.clear();
        let found = if restless.is_forced {
            Found::fails(format!("{after} it goes on without end"))
        } else {
            Found::unknown(format!("{after} it goes round as long as guards let it"))
        };
        found.shown_by(witness)
    } else if explored.is_whole && !case.has_interrupts() {
        Found::holds()
    } else {
        case.unfollowed()
    };
    Some(found.claim(
        "comes-to-rest",
        "after every event it comes to rest",
        case.possibly(),
    ))
}

/// Whether anything happens in a machine that no event from outside brings about alone.
fn moves_by_itself(machine: &Machine) -> bool {
    let raises = |(_, action): (_, &Action)| action.kind.raised().is_some();
    machine
        .transitions
        .iter()
        .any(|(_, it)| it.triggers.is_empty())
        || machine.actions.iter().any(raises)
        || machine
            .events
            .iter()
            .any(|(_, event)| matches!(event.kind, EventKind::Completion(_) | EventKind::Fault))
}
