//! Checks of claims: guards that nothing defines, which the sender of an event answers.

use std::collections::BTreeSet;

use super::children::invokes;
use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{
    ActionKind, Event, EventKind, Expression, ExpressionKind, HostGuard, Machine, Transition,
};
use crate::pass::internal::{RAISED_BY_CHILDREN, RAISED_BY_RUNS};
use crate::source::Span;
use serde_json::Value;

pub(super) const CHECKS: &[Check] = &[Check::Behavior(claims)];

/// Reports SM503: claims; and SM504: those that nobody could make.
fn claims(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    if machine.guards.iter().all(|(_, guard)| !guard.is_claim) {
        return;
    }
    let timers = machine.timers.iter();
    let timed: BTreeSet<Handle<Event>> = timers.map(|(_, timer)| timer.event).collect();
    let mut misplaced = BTreeSet::new();
    for (_, transition) in machine.transitions.iter() {
        let Some(guard) = &transition.guard else {
            continue;
        };
        let Some((claim, _)) = claim_in(machine, &guard.value) else {
            continue;
        };
        if let Some(cause) = unsent(machine, transition, &timed) {
            misplaced.insert(claim);
            let source = machine.states.at(transition.source);
            if !subject.is_blamed(&source.id, source.span) {
                let guard_of = machine.guards.at(claim);
                diags.push(misplaced_claim(guard_of, guard.span, &cause));
            }
        }
    }
    for (_, action) in machine.actions.iter() {
        let mut report = |expression: &Expression| {
            if let Some((claim, span)) = claim_in(machine, expression) {
                misplaced.insert(claim);
                let cause = format!("the action `{}`", action.name);
                diags.push(misplaced_claim(machine.guards.at(claim), span, &cause));
            }
        };
        match &action.kind {
            ActionKind::If { guard, .. } => report(guard),
            ActionKind::Assign(list) => list.iter().for_each(|assign| report(&assign.value)),
            _ => {}
        }
    }
    for (handle, guard) in machine.guards.iter() {
        if guard.is_claim && !misplaced.contains(&handle) {
            let meant = diags.nearest(&guard.text, truth_values(machine));
            diags.push(claimed_guard(guard, meant));
        }
    }
}

/// Returns the fields of the context that are true or false, which a guard alone in brackets may name.
fn truth_values(machine: &Machine) -> impl Iterator<Item = &str> {
    let context = machine.context.as_ref().and_then(Value::as_object);
    let first = context.into_iter().flatten();
    let first = first.filter(|(_, value)| value.is_boolean());
    let schema = machine.context_schema.as_ref();
    let declared = schema
        .and_then(|schema| schema.get("properties"))
        .and_then(Value::as_object);
    let declared = declared.into_iter().flatten();
    let declared = declared.filter(|(_, schema)| schema.get("type") == Some(&"boolean".into()));
    first.chain(declared).map(|(name, _)| name.as_str())
}

/// Returns the first claim in an expression, and where it stands.
fn claim_in(machine: &Machine, expression: &Expression) -> Option<(Handle<HostGuard>, Span)> {
    let mut found = None;
    expression.visit(&mut |part| {
        if let ExpressionKind::Ask(guard) = part.kind
            && found.is_none()
            && machine.guards.at(guard).is_claim
        {
            found = Some((guard, part.span));
        }
    });
    found
}

/// Returns what takes a transition that nobody sends an event for; none if it has senders alone.
fn unsent(
    machine: &Machine,
    transition: &Transition,
    timed: &BTreeSet<Handle<Event>>,
) -> Option<String> {
    if transition.triggers.is_empty() {
        return Some("a transition without an event".to_owned());
    }
    transition.triggers.iter().find_map(|&handle| {
        let event = machine.events.at(handle);
        if timed.contains(&handle) || event.kind == EventKind::Delayed {
            return Some("a timer".to_owned());
        }
        let id = event.id.as_str();
        let is_internal = event.kind != EventKind::Named
            || RAISED_BY_RUNS.contains(&id)
            || RAISED_BY_CHILDREN.contains(&id) && invokes(machine, transition.source);
        is_internal.then(|| format!("the internal event `{id}`"))
    })
}

/// Reports a guard that is a claim; `meant` is the field that it may be a misspelling of.
fn claimed_guard(guard: &HostGuard, meant: Option<&str>) -> Diagnostic {
    let text = &guard.text;
    let message = format!("nothing defines the guard `{text}`, so the sender's word decides");
    let diagnostic = Diagnostic::new(Code::ClaimedGuard, guard.span, message)
        .label("holds if the sender claims it")
        .note(format!(
            "a run takes the transition only with `claims: [\"{text}\"]`; nothing checks it, and the record says who claimed it"
        ));
    if let Some(field) = meant {
        // A definition that asks for what nothing defines is an error of its own, so this is in a label.
        return diagnostic.did_you_mean(field, guard.span, "");
    }
    diagnostic.help(
        "to have it checked, write an expression, such as `attempts < 3`, or a `requires_approval`",
    )
}

fn misplaced_claim(guard: &HostGuard, span: Span, cause: &str) -> Diagnostic {
    let text = &guard.text;
    let message = format!("nobody can claim the guard `{text}`: {cause} has no sender");
    Diagnostic::new(Code::MisplacedClaim, span, message)
        .label("never holds")
        .note("a guard that nothing defines is a claim, which comes with an event from outside")
        .help("write an expression, or an event before the brackets")
        .help(format!(
            "if a program answers it, declare it: `\"guards\": {{ \"{text}\": \"in words\" }}`"
        ))
}
