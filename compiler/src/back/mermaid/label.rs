//! Labels in the language's grammar: `event [guard] / action()`.

use super::expression::{constant_text, expression_text, is_list};
use crate::arena::Handle;
use crate::front::words::is_identifier;
use crate::ir::{Action, Event, EventKind, Guard, Machine, Transition};
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
            None => machine.events.at(event).id.clone(),
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
#[must_use]
pub fn guard_text(machine: &Machine, guard: &Guard) -> String {
    match guard {
        Guard::Ask(host) => machine.guards.at(*host).text.clone(),
        Guard::Compare {
            field,
            operator,
            constants,
        } => {
            let field = &machine.fields.at(*field).path;
            let values: Vec<String> = constants.iter().map(constant_text).collect();
            let first = values.first().map_or("", String::as_str);
            use statemark_runtime::Operator;
            match operator {
                Operator::Eq => format!("{field} == {first}"),
                Operator::Neq => format!("{field} != {first}"),
                Operator::Gt => format!("{field} > {first}"),
                Operator::Gte => format!("{field} >= {first}"),
                Operator::Lt => format!("{field} < {first}"),
                Operator::Lte => format!("{field} <= {first}"),
                Operator::In => format!("{field} in [{}]", values.join(", ")),
                Operator::Contains => format!("{field}.contains({first})"),
                Operator::Exists => format!("has({field})"),
                _ => format!("!has({field})"),
            }
        }
        Guard::All(parts) => joined(machine, parts, " && ", "true"),
        Guard::Any(parts) => joined(machine, parts, " || ", "false"),
        Guard::Not(inner) => match inner.as_ref() {
            Guard::Ask(host) if is_identifier(&machine.guards.at(*host).text) => {
                format!("!{}", guard_text(machine, inner))
            }
            _ => format!("!({})", guard_text(machine, inner)),
        },
        Guard::Expression(expression) => expression_text(machine, expression),
    }
}

fn joined(machine: &Machine, parts: &[Guard], operator: &str, empty: &str) -> String {
    let nested = |part: &Guard| match part {
        Guard::All(_) | Guard::Any(_) => format!("({})", guard_text(machine, part)),
        Guard::Expression(expression) if is_list(expression) => {
            format!("({})", guard_text(machine, part))
        }
        _ => guard_text(machine, part),
    };
    let texts: Vec<String> = parts.iter().map(nested).collect();
    if texts.is_empty() {
        empty.to_owned()
    } else {
        texts.join(operator)
    }
}
