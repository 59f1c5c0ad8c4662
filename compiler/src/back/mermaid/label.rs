//! Labels in the language's grammar: `event [guard] / action()`.

use super::expression::expression_text;
use crate::arena::Handle;
use crate::ir::{Action, Event, EventKind, Expression, ExpressionKind, Machine, Transition};
use crate::pass::trigger::{delay, format_duration, is_timer_action};

/// The label of a transition, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelParts {
    /// The events, or `after 30s`; empty for the completion of the source, and without an event.
    pub(crate) trigger: String,
    /// The guard, without its brackets.
    pub(crate) guard: Option<String>,
    /// True if nothing triggers or guards it: it is taken if nothing else is.
    pub(crate) is_else: bool,
    /// The actions, without the slash.
    pub(crate) actions: String,
}

/// Formats the label of a transition, which is empty for the completion of its source.
pub(crate) fn label(machine: &Machine, transition: &Transition) -> String {
    let label = label_parts(machine, transition);
    let mut parts = Vec::new();
    if label.is_else {
        parts.push("[else]".to_owned());
    } else if !label.trigger.is_empty() {
        parts.push(label.trigger);
    }
    parts.extend(label.guard.map(|guard| format!("[{guard}]")));
    if !label.actions.is_empty() {
        parts.push(format!("/ {}", label.actions));
    }
    parts.join(" ")
}

/// Returns the parts of a transition's label, as its author would write them.
pub(crate) fn label_parts(machine: &Machine, transition: &Transition) -> LabelParts {
    let completes = transition
        .triggers
        .iter()
        .all(|&event| machine.events.at(event).kind == EventKind::Completion(transition.source));
    let mut parts = LabelParts {
        is_else: transition.triggers.is_empty() && transition.guard.is_none(),
        actions: action_names(machine, &transition.actions),
        ..LabelParts::default()
    };
    if !completes {
        let name = |&event: &Handle<Event>| match delay(machine, transition.source, event) {
            Some(milliseconds) => format!("after {}", format_duration(milliseconds)),
            // What is ambiguous is written as its author wrote it, and reads back so.
            None => {
                let label = machine.label_of(transition.source, event);
                machine.events.at(label).id.clone()
            }
        };
        let ids: Vec<String> = transition.triggers.iter().map(name).collect();
        parts.trigger = ids.join(", ");
    }
    parts.guard = transition.guard.as_ref().map(|guard| {
        let label = transition.label.as_ref();
        let written = label.and_then(|label| label.guard.clone());
        written.unwrap_or_else(|| guard_text(machine, &guard.value))
    });
    parts
}

pub(super) fn action_list(machine: &Machine, actions: &[Handle<Action>]) -> String {
    let names = action_names(machine, actions);
    if names.is_empty() {
        names
    } else {
        format!("/ {names}")
    }
}

/// Returns the names of the actions, without those of timers: `log(), send()`.
pub(crate) fn action_names(machine: &Machine, actions: &[Handle<Action>]) -> String {
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
