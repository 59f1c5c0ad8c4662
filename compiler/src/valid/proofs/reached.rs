//! Whether everything in a machine can come into play: its states, and its transitions.

use super::{Case, Found, Proof, Witness, several};
use crate::arena::Handle;
use crate::ir::{State, Transition};
use crate::valid::conflicting_transitions::when;

/// `states-reachable`.
pub(super) fn states(case: &Case<'_>) -> Option<Proof> {
    let named = case.machine.named_states();
    let missing: Vec<Handle<State>> = named
        .filter(|(handle, state)| !state.kind.is_history() && !case.explored.is_entered(*handle))
        .map(|(handle, _)| handle)
        .collect();
    let is_followed = is_followed(case);
    let is_denied = |state: &Handle<State>| {
        !case.reach.is_active(*state) || (is_followed && !case.explored.is_passed(*state))
    };
    let denied: Vec<_> = missing.iter().copied().filter(is_denied).collect();
    let found = if missing.is_empty() {
        Found::holds()
    } else if !denied.is_empty() {
        let why = format!("nothing leads to {}", case.list(&denied));
        Found::fails(why).shown_by(Witness {
            states: case.ids(denied),
            ..Witness::default()
        })
    } else {
        undecided(case, &case.list(&missing))
    };
    Some(found.claim(
        "states-reachable",
        "every state can be reached",
        case.possibly(),
    ))
}

/// `transitions-taken`.
pub(super) fn transitions(case: &Case<'_>) -> Option<Proof> {
    let all = case.machine.transitions.handles();
    let missing: Vec<Handle<Transition>> = all
        .filter(|&transition| !case.explored.is_taken(transition))
        .collect();
    let is_followed = is_followed(case);
    let is_denied = |transition: &Handle<Transition>| {
        !case.reach.is_live(*transition) || (is_followed && !case.explored.is_tried(*transition))
    };
    let denied: Vec<_> = missing.iter().copied().filter(is_denied).collect();
    let found = if missing.is_empty() {
        Found::holds()
    } else if !denied.is_empty() {
        let list = several(denied.iter().map(|&transition| told(case, transition)));
        let sources = denied
            .iter()
            .map(|&it| case.machine.transitions.at(it).source)
            .filter(|&source| source != case.machine.root());
        let mut states = case.ids(sources);
        states.dedup();
        let are = if denied.len() == 1 { "is" } else { "are" };
        Found::fails(format!("{list} {are} never taken")).shown_by(Witness {
            states,
            ..Witness::default()
        })
    } else {
        let list = several(missing.iter().map(|&transition| told(case, transition)));
        undecided(case, &list)
    };
    Some(found.claim(
        "transitions-taken",
        "every transition can be taken",
        case.possibly(),
    ))
}

/// Whether all that the machine can do was gone through.
fn is_followed(case: &Case<'_>) -> bool {
    case.explored.is_whole && !case.has_interrupts()
}

/// What is known of things that weren't met, and that nothing denies.
fn undecided(case: &Case<'_>, list: &str) -> Found {
    if is_followed(case) {
        Found::unknown(format!("only in steps that don't come to rest: {list}"))
    } else if case.explored.is_whole {
        Found::unknown(format!(
            "only behind interrupts, which aren't followed: {list}"
        ))
    } else {
        case.limit()
    }
}

/// A transition for a sentence: `` `a` on `go` ``.
fn told(case: &Case<'_>, transition: Handle<Transition>) -> String {
    let machine = case.machine;
    let transition = machine.transitions.at(transition);
    let source = match transition.source == machine.root() {
        true => "every state".to_owned(),
        false => super::name(machine, transition.source),
    };
    match transition.triggers.first() {
        Some(&event) => format!("{source} {}", when(machine, transition.source, event)),
        None => format!("{source} by itself"),
    }
}
