//! Graph reachability, for machines whose configuration is one leaf.
//!
//! In each leaf the transitions of the leaf and of its ancestors compete, innermost first, and one without a guard hides
//! later ones on the same event. So the search is over configurations, not over the arrows as drawn.

use std::collections::BTreeSet;

use super::{Reachability, set};
use crate::arena::Handle;
use crate::ir::{Event, EventKind, Machine, State, StateKind, Transition};

/// Searches the leaves of a machine without parallel states and histories.
pub(super) fn search(machine: &Machine) -> Reachability {
    let count = machine.states.len();
    let mut reach = Reachability {
        active: vec![false; count],
        live: vec![false; machine.transitions.len()],
        next: vec![Vec::new(); count],
        is_exact: true,
    };
    let mut open: Vec<Handle<State>> = machine.default_leaf(machine.root()).into_iter().collect();
    let interrupts = machine
        .interrupts
        .iter()
        .filter_map(|interrupt| interrupt.target);
    open.extend(interrupts.filter_map(|target| machine.default_leaf(target)));
    while let Some(leaf) = open.pop() {
        if reach.is_active(leaf) {
            continue;
        }
        for state in machine.ancestry(leaf) {
            set(&mut reach.active, state.index());
        }
        for transition in candidates(machine, leaf) {
            set(&mut reach.live, transition.index());
            let target = machine.transitions.at(transition).target();
            if let Some(next) = target.and_then(|target| machine.default_leaf(target)) {
                if let Some(successors) = reach.next.get_mut(leaf.index()) {
                    successors.push(next.index());
                }
                open.push(next);
            }
        }
    }
    reach
}

/// Returns the transitions that can be taken while a leaf is active, innermost first.
///
/// A leaf that is left without an event as soon as it is entered has only the eventless ones up to that one.
fn candidates(machine: &Machine, leaf: Handle<State>) -> Vec<Handle<Transition>> {
    let transitions = || {
        machine
            .ancestry(leaf)
            .flat_map(|state| machine.transitions_of(state))
    };
    let mut candidates = Vec::new();
    let eventless = transitions().filter(|(_, transition)| transition.triggers.is_empty());
    for (handle, transition) in eventless {
        candidates.push(handle);
        if transition.guard.is_none() {
            return candidates;
        }
    }
    let mut handled: BTreeSet<Handle<Event>> = BTreeSet::new();
    for (handle, transition) in transitions() {
        let mut is_candidate = false;
        for &event in &transition.triggers {
            if can_occur(machine, leaf, event) && !handled.contains(&event) {
                is_candidate = true;
                if transition.guard.is_none() {
                    handled.insert(event);
                }
            }
        }
        if is_candidate {
            candidates.push(handle);
        }
    }
    candidates
}

/// Reports whether an event can occur while a leaf is active.
///
/// The completion of a state can occur only in its final child.
fn can_occur(machine: &Machine, leaf: Handle<State>, event: Handle<Event>) -> bool {
    match machine.events.at(event).kind {
        EventKind::Named | EventKind::Unknown | EventKind::Delayed | EventKind::Fault => true,
        EventKind::Completion(state) => {
            machine.states.at(leaf).kind == StateKind::Final
                && machine.states.at(leaf).parent == Some(state)
        }
    }
}
