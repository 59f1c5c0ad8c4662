//! SM314: a transition that waits for a state to be done, which it never is.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{EventKind, Machine, StateKind};
use crate::pass::reach::Reachability;

/// Reports transitions on the completion of a state whose end can't be reached.
pub(super) fn check(machine: &Machine, reach: &Reachability, diags: &mut Diags) {
    for (_, transition) in machine.transitions.iter() {
        for &event in &transition.triggers {
            let EventKind::Completion(state) = machine.events.at(event).kind else {
                continue;
            };
            let ends = reach.can_be_done(machine, state);
            if !ends && reach.is_active(state) {
                let id = &machine.states.at(state).id;
                let (why, help) = if machine.states.at(state).kind == StateKind::Parallel {
                    (
                        "not every region has an end that can be reached",
                        format!("lead to `[*]` in each region of `{id}`"),
                    )
                } else {
                    (
                        "no end inside can be reached",
                        format!("lead to `[*]` inside `{id}`"),
                    )
                };
                diags.push(
                    Diagnostic::new(
                        Code::NeverCompletes,
                        transition.span,
                        format!("`{id}` is never done, so this is never taken"),
                    )
                    .label(format!("waits for `{id}` to be done"))
                    .related(machine.states.at(state).span, why)
                    .help(help),
                );
            }
        }
    }
}
