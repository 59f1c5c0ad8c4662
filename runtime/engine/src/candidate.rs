//! Candidates: the transitions that an event from outside could take next.

use alloc::vec::Vec;

use crate::chart;
use crate::configuration::Configuration;
use crate::expression;
use crate::flat;
use crate::host::Host;
use crate::id::{EventId, StateId, TransitionId};
use crate::regions;
use crate::scratch::Selection;
use crate::step;
use crate::table::Table;
use crate::table::sections::EventKind;

/// A transition that could be taken next, and what its guard says now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// The transition.
    pub transition: TransitionId,
    /// The event that triggers it.
    pub event: EventId,
    /// True if its guard holds; true where it has none.
    pub holds: bool,
    /// True if sending the event would take this transition.
    /// Its guard holds, no transition comes before it, and none in another region is preferred to it. Where several
    /// regions are active, an event may take several transitions.
    pub enabled: bool,
}

/// Returns all of them, in the order of selection.
/// Every guard is asked once.
pub(crate) fn candidates<H: Host>(
    table: &Table,
    configuration: &Configuration,
    host: &mut H,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    if configuration.is_ended(table) {
        return candidates;
    }
    let refused = step::ambiguous_labels(table, configuration);
    let mut before: Option<StateId> = None;
    for leaf in configuration.leaves() {
        // What is around the leaf before this one is listed already.
        let seen = |state: StateId| before.is_some_and(|before| state < before);
        for state in chart::chain(table, leaf).take_while(|&state| !seen(state)) {
            of_state(table, state, configuration, &refused, host, &mut candidates);
        }
        before = Some(leaf);
    }
    mark_enabled(table, configuration, &mut candidates);
    candidates
}

/// Adds the candidates that belong to one state. Events in `refused` are taken by nothing.
fn of_state<H: Host>(
    table: &Table,
    state: StateId,
    configuration: &Configuration,
    refused: &[EventId],
    host: &mut H,
    candidates: &mut Vec<Candidate>,
) {
    let transitions = table.state(state).map(|row| row.transitions.clone());
    for transition in transitions.into_iter().flatten().map(TransitionId::new) {
        let named = |event: &EventId| {
            let row = table.event(*event);
            row.is_some_and(|row| row.kind == EventKind::Named)
                && refused.binary_search(event).is_err()
        };
        let triggers = table.triggers(transition).iter().copied();
        let mut events = triggers.filter(named).peekable();
        if events.peek().is_none() {
            continue;
        }
        let holds = expression::guard(table, transition, configuration, host, &mut ());
        candidates.extend(events.map(|event| Candidate {
            transition,
            event,
            holds,
            enabled: false,
        }));
    }
}

/// Finds out which of them their events would take, by what their guards have said.
fn mark_enabled(table: &Table, configuration: &Configuration, candidates: &mut [Candidate]) {
    let mut holding: Vec<(EventId, TransitionId)> = candidates
        .iter()
        .filter(|candidate| candidate.holds)
        .map(|candidate| (candidate.event, candidate.transition))
        .collect();
    holding.sort_unstable();
    let mut enabled: Vec<(EventId, TransitionId)> = Vec::new();
    let mut selection = Selection::default();
    for of_event in holding.chunk_by(|one, other| one.0 == other.0) {
        let Some(&(event, _)) = of_event.first() else {
            continue;
        };
        let holds = |transition| of_event.binary_search(&(event, transition)).is_ok();
        if table.has_regions() {
            regions::select(table, configuration, event, &mut selection, holds);
            let taken = selection.enabled.iter();
            enabled.extend(taken.map(|&transition| (event, transition)));
        } else {
            let taken = flat::select(table, configuration.leaf, event, holds);
            enabled.extend(taken.map(|transition| (event, transition)));
        }
    }
    enabled.sort_unstable();
    for candidate in candidates {
        let pair = (candidate.event, candidate.transition);
        candidate.enabled = enabled.binary_search(&pair).is_ok();
    }
}
