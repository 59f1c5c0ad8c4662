//! Checks of the fields that guards read: who writes them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value};

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{ActionKind, Constant, EventKind, ExpressionKind, Field, Machine};
use crate::pass::internal::RAISED_BY_CHILDREN;
use crate::pass::merge::{self, Merges};
use crate::source::Span;

pub(super) const CHECKS: &[Check] = &[
    Check::Behavior(caller_written_guards),
    Check::Behavior(frozen_fields),
];

/// The keys of states by which a workflow holds its callers to something.
const HOLDING: [&str; 11] = [
    "allowed_commands",
    "allowed_tools",
    "capabilities",
    "context_budget_bytes",
    "disallowed_tools",
    "drain",
    "max_edit_lines",
    "max_files_per_state",
    "max_iterations",
    "max_visits",
    "requires",
];

/// Reports SM603: guards of a workflow that stand on what any event may bring.
///
/// A machine that holds its callers to nothing trusts them. A field that an event's schema lists is brought on purpose.
fn caller_written_guards(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    if !holds_callers(machine) {
        return;
    }
    let merges = Merges::new(machine);
    let listed = listed_fields(machine);
    let is_open = |field: &str| !listed.contains(field) && bringers(machine, &merges, field);
    let mut open: Vec<(&str, Span)> = Vec::new();
    for (field, span) in guarding_fields(machine) {
        if !open.iter().any(|(known, _)| *known == field) && is_open(field) {
            open.push((field, span));
        }
    }
    if let Some((_, span)) = open.first() {
        let names: Vec<&str> = open.iter().map(|(field, _)| *field).collect();
        diags.push(caller_written_guard(&names, *span));
    }
}

fn caller_written_guard(fields: &[&str], span: Span) -> Diagnostic {
    let names = quoted_list(fields);
    let message = format!("any event can set {names}, which a guard reads");
    Diagnostic::new(Code::CallerWrittenGuard, span, message)
        .label("read here")
        .note("data of an event without a schema is merged into the context, whoever sends it")
        .help(
            "list the field in the `data` of the events that bring it, have an action assign it, or require a check (`requires`)",
        )
}

/// Reports SM604: fields that actions only reset, and that no event brings.
fn frozen_fields(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let resets = resets(machine);
    if resets.values().all(Option::is_none) {
        return;
    }
    let merges = Merges::new(machine);
    let mut reported = BTreeSet::new();
    for (field, span) in guarding_fields(machine) {
        let Some(Some(action)) = resets.get(field) else {
            continue;
        };
        if !bringers(machine, &merges, field) && reported.insert(field) {
            diags.push(frozen_field(field, action, span));
        }
    }
}

fn frozen_field(field: &str, action: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`{field}` never changes: `{action}` assigns its first value, and no event brings another"
    );
    Diagnostic::new(Code::FrozenField, span, message)
        .label("read here")
        .note("data of events isn't merged into what an action assigns, unless the event's `data` lists it")
        .help(format!(
            "list it in the `data` of the event that brings it, or read `event.{field}`"
        ))
}

/// Reports whether a workflow restricts those who drive it.
pub(super) fn holds_callers(machine: &Machine) -> bool {
    let mut states = machine.states.iter();
    let mut transitions = machine.transitions.iter();
    states.any(|(_, state)| HOLDING.iter().any(|key| state.meta.contains_key(*key)))
        || transitions.any(|(_, it)| it.meta.get("requires_approval") == Some(&Value::Bool(true)))
}

/// Reports whether any event that is sent brings a field.
fn bringers(machine: &Machine, merges: &Merges, field: &str) -> bool {
    let mut events = machine.events.iter();
    events.any(|(handle, event)| {
        let is_sent =
            event.kind == EventKind::Named && !RAISED_BY_CHILDREN.contains(&event.id.as_str());
        is_sent && merges.includes(handle, field)
    })
}

/// Returns the fields that the schemas of events list.
fn listed_fields(machine: &Machine) -> BTreeSet<String> {
    let events = machine.events.iter();
    let listed = events.filter_map(|(_, event)| merge::listed_fields(event.data.as_ref()?));
    listed.flatten().collect()
}

/// Returns the fields at the top of the context that guards read, each with the place of its guard.
fn guarding_fields(machine: &Machine) -> Vec<(&str, Span)> {
    let mut all = Vec::new();
    for (_, transition) in machine.transitions.iter() {
        let Some(guard) = &transition.guard else {
            continue;
        };
        guard.value.visit(&mut |expression| {
            let name = expression.field().map(|it| merge::top(path(machine, it)));
            all.extend(
                name.filter(|name| *name != "event")
                    .map(|it| (it, guard.span)),
            );
        });
    }
    all
}

/// Returns the fields to which actions assign nothing but their first values, each with such an action.
///
/// Of other fields that are assigned it has none.
fn resets(machine: &Machine) -> BTreeMap<&str, Option<&str>> {
    let mut all = BTreeMap::new();
    for (_, action) in machine.actions.iter() {
        let ActionKind::Assign(assigns) = &action.kind else {
            continue;
        };
        for assign in assigns {
            let path = path(machine, assign.field);
            let first = machine.context.as_ref().and_then(|it| it.get(path));
            let is_reset = match &assign.value.kind {
                ExpressionKind::Constant(constant) => first.is_some_and(|it| is_same(it, constant)),
                _ => false,
            };
            let found = all
                .entry(merge::top(path))
                .or_insert(Some(action.name.as_str()));
            if !is_reset {
                *found = None;
            }
        }
    }
    all
}

fn is_same(value: &Value, constant: &Constant) -> bool {
    match constant {
        Constant::Null => value.is_null(),
        Constant::Bool(bool) => value.as_bool() == Some(*bool),
        Constant::Int(int) => value.as_number().and_then(Number::as_i128) == Some(*int),
        Constant::Float(float) => value.as_f64() == Some(*float),
        Constant::Text(text) => value.as_str() == Some(text),
    }
}

fn path(machine: &Machine, field: Handle<Field>) -> &str {
    &machine.fields.at(field).path
}
