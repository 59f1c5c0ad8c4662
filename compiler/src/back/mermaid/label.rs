//! Labels in the language's grammar: `event [guard] / action()`.

use super::expression::expression_text;
use crate::arena::Handle;
use crate::ir::{Action, Event, EventKind, Expression, ExpressionKind, Machine, Transition};
use crate::pass::trigger::{delay, format_duration, is_timer_action};

/// Formats the label of a transition, which is empty for the completion of its source.
pub(crate) fn label(machine: &Machine, transition: &Transition) -> String {
    let completes = transition
        .triggers
        .iter()
        .all(|&event| machine.events.at(event).kind == EventKind::Completion(transition.source));
    let mut parts = Vec::new();
    if transition.triggers.is_empty() {
        if transition.guard.is_none() {
            // Without an event and without a guard, it is taken if nothing else is.
            parts.push("[else]".to_owned());
        }
    } else if !completes {
        let name = |&event: &Handle<Event>| match delay(machine, transition.source, event) {
            Some(milliseconds) => format!("after {}", format_duration(milliseconds)),
            // What is ambiguous is written as its author wrote it, and reads back so.
            None => {
                let label = machine.label_of(transition.source, event);
                machine.events.at(label).id.clone()
            }
        };
        let ids: Vec<String> = transition.triggers.iter().map(name).collect();
        parts.push(ids.join(", "));
    }
    if let Some(guard) = &transition.guard {
        let label = transition.label.as_ref();
        let written = label.and_then(|label| label.guard.clone());
        parts.push(format!(
            "[{}]",
            written.unwrap_or_else(|| guard_text(machine, &guard.value))
        ));
    }
    let actions = action_list(machine, &transition.actions);
    if !actions.is_empty() {
        parts.push(actions);
    }
    parts.join(" ")
}

pub(super) fn action_list(machine: &Machine, actions: &[Handle<Action>]) -> String {
    let names = action_names(machine, actions);
    if names.is_empty() {
        names
    } else {
        format!("/ {names}")
    }
}

pub(super) fn action_names(machine: &Machine, actions: &[Handle<Action>]) -> String {
    let names = actions
        .iter()
        .filter(|&&action| !is_timer_action(machine, action))
        .map(|&action| format!("{}()", machine.actions.at(action).name));
    names.collect::<Vec<_>>().join(", ")
}

/// Formats a guard as its author would write it between brackets.
///
/// A question to the host is in the author's words.
#[must_use]
pub fn guard_text(machine: &Machine, guard: &Expression) -> String {
    match &guard.kind {
        ExpressionKind::Ask(host) => machine.guards.at(*host).text.clone(),
        _ => expression_text(machine, guard),
    }
}
