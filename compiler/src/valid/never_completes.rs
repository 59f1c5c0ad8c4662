//! SM314: a transition that waits for a state to be done, which it never is.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{EventKind, Machine, StateKind};
use crate::pass::reach::Reach;

/// Reports transitions on the completion of a state whose end can't be reached.
pub(super) fn check(machine: &Machine, reach: &Reach, diags: &mut Diags) {
    for (_, transition) in machine.transitions.iter() {
        for &event in &transition.triggers {
            let EventKind::Completion(state) = machine.events.at(event).kind else {
                continue;
            };
            let ends = machine.states.at(state).children.iter().any(|&child| {
                machine.states.at(child).kind == StateKind::Final && reach.is_active(child)
            });
            if !ends && reach.is_active(state) {
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
