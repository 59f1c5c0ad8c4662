//! Whether regions come to their ends.

use super::{Case, Found, Proof, Witness, name};
use crate::arena::Handle;
use crate::ir::{State, StateKind};

/// `regions-complete`. Nothing is said where no region has an end and nothing waits for one.
pub(super) fn can_complete(case: &Case<'_>) -> Option<Proof> {
    let machine = case.machine;
    let states = machine.states.iter();
    let parallel: Vec<Handle<State>> = states
        .filter(|(_, state)| state.kind == StateKind::Parallel)
        .map(|(handle, _)| handle)
        .filter(|&state| case.reach.is_active(state))
        .filter(|&state| {
            is_awaited(case, state) || regions(case, state).any(|it| has_end(case, it))
        })
        .collect();
    if parallel.is_empty() {
        return None;
    }
    let open: Vec<Handle<State>> = parallel
        .iter()
        .copied()
        .filter(|&state| !completes(case, state))
        .collect();
    let is_denied = |state: &Handle<State>| {
        let awaited = is_awaited(case, *state);
        // What a step without end does on its way isn't weighed here.
        (case.explored.is_whole && !case.has_interrupts() && case.explored.restless.is_none())
            || (awaited && !case.reach.can_be_done(case.machine, *state))
    };
    let denied: Vec<_> = open.iter().copied().filter(is_denied).collect();
    let found = if open.is_empty() {
        Found::holds()
    } else if let Some(&first) = denied.first() {
        let open = regions(case, first).filter(|&region| !ends(case, region));
        let open: Vec<_> = open.collect();
        let state = name(machine, first);
        let why = match open.is_empty() {
            true => format!("the regions of {state} are never all at their ends at once"),
            false => format!("in {state}, {} can't come to an end", case.list(&open)),
        };
        Found::fails(why).shown_by(Witness {
            states: case.ids(denied),
            ..Witness::default()
        })
    } else if case.explored.is_whole && !case.has_interrupts() {
        Found::unknown("if at all, only in steps that don't come to rest")
    } else {
        case.unfollowed()
    };
    Some(found.claim(
        "regions-complete",
        "every region that has an end, or that something waits for, can come to it",
        case.possibly(),
    ))
}

/// Whether it was seen that a parallel state is done, if anything waits for that; else that its regions with ends come to
/// them.
fn completes(case: &Case<'_>, state: Handle<State>) -> bool {
    match case.machine.states.at(state).done {
        Some(done) => case.explored.is_raised(done),
        None => regions(case, state)
            .filter(|&region| has_end(case, region))
            .all(|region| ends(case, region)),
    }
}

fn is_awaited(case: &Case<'_>, state: Handle<State>) -> bool {
    case.machine.states.at(state).done.is_some()
}

fn regions(case: &Case<'_>, state: Handle<State>) -> impl Iterator<Item = Handle<State>> {
    let children = case.machine.states.at(state).children.iter().copied();
    children.filter(|&child| !case.machine.states.at(child).kind.is_history())
}

fn finals(case: &Case<'_>, region: Handle<State>) -> impl Iterator<Item = Handle<State>> {
    let children = case.machine.states.at(region).children.iter().copied();
    children.filter(|&child| case.machine.states.at(child).kind == StateKind::Final)
}

fn has_end(case: &Case<'_>, region: Handle<State>) -> bool {
    finals(case, region).next().is_some()
}

/// Whether a final state of a region was entered; a region that is parallel is done when its own regions are.
fn ends(case: &Case<'_>, region: Handle<State>) -> bool {
    match case.machine.states.at(region).kind {
        StateKind::Parallel => completes(case, region),
        _ => finals(case, region).any(|end| case.explored.is_entered(end)),
    }
}
