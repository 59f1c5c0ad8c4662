//! Types of fields, and type checks of expressions.
//!
//! A field has the type that the context's schema declares, else the type of its value in the initial context or in the
//! data of events, else the type that its uses imply; [`Type::Unknown`] fits everything. This runs on the finished
//! machine, where every transition has its events: `event.x` is a field of the data of those that trigger the transition.
//!
//! Deliberately not here: satisfiability of conditions.

mod bounds;
mod check;
mod infer;
mod kind;
mod values;

use super::draft::Comparison;
use super::expression::{guard_without_truth_value, unknown_event_field};
use super::fields::{Known, add_properties, schema_field};
use super::spec::Context;
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{ActionKind, Event, Expression, Field, Machine, Type};
use crate::source::Span;
use check::Check;
pub(super) use kind::{assignable, words};

/// Gives fields their types, and reports expressions whose parts don't fit together.
pub(super) fn check_types(
    machine: &mut Machine,
    comparisons: impl Iterator<Item = Comparison>,
    context: &mut Context<'_>,
) {
    let comparisons: Vec<Comparison> = comparisons.collect();
    let declared = declare(machine, context);
    infer::infer(machine, &declared, &comparisons);
    let fields = machine.fields.iter();
    let nulls = fields.filter(|(_, field)| context.fields.begins_as_null(&field.path));
    let nulls = nulls.map(|(handle, _)| handle).collect();
    let mut check = Check::new(machine, nulls, context.sources);
    for (_, transition) in machine.transitions.iter() {
        if let Some(guard) = &transition.guard {
            check.events = Some(transition.triggers.clone());
            check.truth(&guard.value);
        }
    }
    for (handle, action) in machine.actions.iter() {
        match &action.kind {
            ActionKind::Assign(assigns) => {
                check.events = callers(machine, handle);
                assigns.iter().for_each(|assign| check.assign(assign));
            }
            ActionKind::If { guard, .. } => {
                check.events = callers(machine, handle);
                check.truth(guard);
            }
            ActionKind::Host
            | ActionKind::Fallible
            | ActionKind::Raise(_)
            | ActionKind::Schedule(..)
            | ActionKind::Cancel(_) => {}
        }
    }
    for comparison in &comparisons {
        check.comparison(comparison);
    }
    let diags = check.diags;
    context.diags.append(diags);
    // What couldn't be read may have said it.
    if !context.broken {
        report_untyped_fields(machine, &declared, context.diags);
    }
    bounds::check_bounds(machine);
}

/// Gives fields their declared types. Returns for each field whether it has one.
fn declare(machine: &mut Machine, context: &Context<'_>) -> Vec<bool> {
    let handles: Vec<Handle<Field>> = machine.fields.handles().collect();
    let mut declared = Vec::with_capacity(handles.len());
    for field in handles {
        let path = machine.fields.at(field).path.clone();
        let known = match path.strip_prefix("event.") {
            Some(path) => data_of_events(machine, path, None),
            None => context.fields.context_field(&path),
        };
        declared.push(matches!(known, Known::Declared { .. }));
        if let Known::Declared { kind, present } = known {
            let field = machine.fields.at_mut(field);
            field.kind = kind;
            field.present = present;
        }
    }
    declared
}

/// Returns what the data of some events declares of a path; of all events with data, if `None`.
fn data_of_events(machine: &Machine, path: &str, events: Option<&[Handle<Event>]>) -> Known {
    let all = machine
        .events
        .iter()
        .filter(|(handle, event)| match events {
            Some(events) => events.contains(handle),
            None => event.data.is_some(),
        });
    let known = all.map(|(_, event)| match &event.data {
        Some(data) => schema_field(data, path),
        None => Known::Open,
    });
    let join = |one, two| match (one, two) {
        (
            Known::Declared { kind, present },
            Known::Declared {
                kind: other,
                present: other_present,
            },
        ) => Known::Declared {
            kind: super::fields::join(kind, other),
            present: present && other_present,
        },
        (Known::Missing, Known::Missing) => Known::Missing,
        // One event has it and another hasn't, so it may be absent.
        (Known::Declared { kind, .. }, Known::Missing)
        | (Known::Missing, Known::Declared { kind, .. }) => Known::Declared {
            kind,
            present: false,
        },
        _ => Known::Open,
    };
    known.reduce(join).unwrap_or(Known::Open)
}

/// Returns the events whose transitions run an action; `None` where any event may.
fn callers(machine: &Machine, action: Handle<crate::ir::Action>) -> Option<Vec<Handle<Event>>> {
    let outside_transitions = machine.states.iter().any(|(_, state)| {
        let initial = state.initial.iter().flat_map(|initial| &initial.actions);
        let mut all = state.entry.iter().chain(&state.exit).chain(initial);
        all.any(|&other| other == action)
    });
    let branches = machine.actions.iter().any(|(_, other)| match &other.kind {
        ActionKind::If {
            then, otherwise, ..
        } => then.contains(&action) || otherwise.contains(&action),
        _ => false,
    });
    if outside_transitions || branches {
        return None;
    }
    let mut events = Vec::new();
    for (_, transition) in machine.transitions.iter() {
        if transition.actions.contains(&action) {
            if transition.triggers.is_empty() {
                return None;
            }
            events.extend(transition.triggers.iter().copied());
        }
    }
    Some(events)
}

/// Reports the read fields without a known type, in one hint.
fn report_untyped_fields(machine: &Machine, declared: &[bool], diags: &mut Diags) {
    let mut read = infer::Reads::default();
    for (_, transition) in machine.transitions.iter() {
        if let Some(guard) = &transition.guard {
            read.expression(&guard.value);
        }
    }
    for (_, action) in machine.actions.iter() {
        if let ActionKind::Assign(assigns) = &action.kind {
            assigns
                .iter()
                .for_each(|assign| read.expression(&assign.value));
        }
    }
    let untyped: Vec<&Field> = machine
        .fields
        .iter()
        .filter(|(handle, field)| {
            field.kind == Type::Unknown
                && declared.get(handle.index()) == Some(&false)
                && read.fields.contains(handle)
        })
        .map(|(_, field)| field)
        .collect();
    if let Some(first) = untyped.first() {
        let names: Vec<&str> = untyped.iter().map(|field| field.path.as_str()).collect();
        diags.push(untyped_field(&names, first.span));
    }
}

impl Check<'_> {
    /// Reports a field of the event's data that none of the events has.
    fn event_field(&mut self, path: &str, span: Span) {
        let Some(events) = self.events.clone().filter(|events| !events.is_empty()) else {
            return;
        };
        if data_of_events(self.machine, path, Some(&events)) != Known::Missing {
            return;
        }
        let mut names = Vec::new();
        for &event in &events {
            if let Some(data) = &self.machine.events.at(event).data {
                add_properties("", data, &mut names);
            }
        }
        let ids: Vec<&str> = events
            .iter()
            .map(|&event| self.machine.events.at(event).id.as_str())
            .collect();
        let names = names.iter().map(String::as_str);
        let similar = self.diags.nearest(path, names);
        let diagnostic = unknown_event_field(path, span, &quoted_list(&ids), similar);
        self.report(diagnostic);
    }
}

impl Check<'_> {
    /// Checks an expression that must be true or false.
    fn truth(&mut self, expression: &Expression) {
        let found = self.expression(expression);
        if !kind::may_be(&found, &Type::Bool) {
            let diagnostic = guard_without_truth_value(expression.span, &words(&found));
            self.report(diagnostic);
        }
    }
}

fn untyped_field(names: &[&str], span: Span) -> Diagnostic {
    let message = format!("nothing says what {} holds", quoted_list(names));
    let message = if names.len() > 1 {
        message.replace(" holds", " hold")
    } else {
        message
    };
    let is_data = names.iter().all(|name| name.starts_with("event."));
    let place = if is_data {
        "under `data` of the event, as a JSON Schema"
    } else {
        "under `context`, with its first value, or under `context_schema`"
    };
    Diagnostic::new(Code::UntypedField, span, message)
        .label("any value fits, also one that was never meant")
        .help(format!("declare it {place}"))
}
