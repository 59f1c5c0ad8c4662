//! SM314: a transition that waits for a state to be done, which it never is.

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{EventKind, Machine, State, StateKind};
use crate::pass::reach::Reach;

/// Reports transitions on the completion of a state whose end can't be reached.
pub(super) fn check(machine: &Machine, reach: &Reach, diags: &mut Diags) {
    for (_, transition) in machine.transitions.iter() {
        for &event in &transition.triggers {
            let EventKind::Completion(state) = machine.events.at(event).kind else {
                continue;
            };
            if !completes(machine, reach, state) && reach.is_active(state) {
                let id = &machine.states.at(state).id;
                diags.push(
                    Diagnostic::new(
                        Code::NeverCompletes,
                        transition.span,
                        format!("`{id}` is never done, so this is never taken"),
                    )
                    .label(format!("waits for `{id}` to be done"))
                    .related(
                        machine.states.at(state).span,
                        "no end inside can be reached",
                    )
                    .help(format!("lead to `[*]` inside `{id}`")),
                );
            }
        }
    }
}

/// Whether a state can be done: an end inside can be reached, of a parallel state in each of its regions.
///
/// Recursion is as deep as states nest, which was limited.
fn completes(machine: &Machine, reach: &Reach, state: Handle<State>) -> bool {
    let row = machine.states.at(state);
    let kind = |child: Handle<State>| machine.states.at(child).kind;
    let mut children = row.children.iter().copied();
    match row.kind {
        StateKind::Parallel => children
            .filter(|&child| !kind(child).is_history())
            .all(|region| completes(machine, reach, region)),
        _ => children.any(|child| kind(child) == StateKind::Final && reach.is_active(child)),
    }
}
