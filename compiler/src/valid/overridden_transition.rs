//! SM404: a transition of a compound state that every state inside overrides.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{EventKind, Machine, StateKind};
use crate::pass::reach::Reachability;

/// Reports transitions of compound states that can be entered but in which the transition can never be taken, because an
/// inner one takes the event first.
pub(super) fn check(machine: &Machine, reach: &Reachability, diags: &mut Diags) {
    if !reach.is_exact() {
        // What side by side with it is active may leave the event to it.
        return;
    }
    for (handle, transition) in machine.transitions.iter() {
        let source = &machine.states.at(transition.source);
        let is_candidate = source.kind == StateKind::Compound
            && reach.is_active(transition.source)
            && !reach.is_live(handle);
        let completes = transition
            .triggers
            .iter()
            .any(|&event| matches!(machine.events.at(event).kind, EventKind::Completion(_)));
        if !is_candidate || completes {
            continue;
        }
        // Another transition of the same state that hides this one is `shadowed-transition`'s.
        let inner = machine.transitions.iter().find(|(_, other)| {
            other.source != transition.source
                && machine.is_within(other.source, transition.source)
                && other.guard.is_none()
                && (other.triggers.is_empty()
                    || other
                        .triggers
                        .iter()
                        .any(|event| transition.triggers.contains(event)))
        });
        if let Some((_, inner)) = inner {
            let inner_id = &machine.states.at(inner.source).id;
            diags.push(
                Diagnostic::new(
                    Code::OverriddenTransition,
                    transition.span,
                    format!(
                        "every state inside `{}` overrides this transition",
                        source.id
                    ),
                )
                .label("never taken")
                .related(inner.span, format!("`{inner_id}` takes the event first"))
                .help("remove it, or the inner ones that do the same"),
            );
        }
    }
}
