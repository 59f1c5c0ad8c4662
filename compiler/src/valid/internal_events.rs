//! Checks of internal events: those that a run raises, and that a spec may take for its own.

use std::collections::BTreeSet;

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Event, Machine, State, StateKind, Transition};
use crate::pass::internal::{InternalEvent, RAISED_BY_RUNS};
use crate::source::Span;

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[Check::Behavior(internal_events)];

/// The event that only a denied approval raises.
const DENIED: &str = "approval_denied";

/// The event that needs an approval or a review.
const SENT_BACK: &str = "changes_requested";

/// Reports transitions that wait for internal events (SM606), and specs that declare one (SM607).
///
/// In a program that embeds the machine they are events like any other.
fn internal_events(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    if machine.is_embedded {
        return;
    }
    for (handle, event) in machine.events.iter() {
        let Some(internal) = InternalEvent::find(&event.id)
            .filter(|internal| RAISED_BY_RUNS.contains(&internal.name))
        else {
            continue;
        };
        let raising = machine
            .actions
            .iter()
            .find(|(_, action)| action.kind.raised() == Some(handle));
        if let Some((_, action)) = raising {
            let (action_name, name) = (&action.name, internal.name);
            let cause = format!("the action `{action_name}` raises `{name}`, which is the run's");
            diags.push(own_internal_event(&internal, action.span, &cause));
            continue;
        }
        if event.data.is_some() {
            let cause = format!(
                "data is declared for `{}`, which is the run's",
                internal.name
            );
            diags.push(own_internal_event(&internal, event.span, &cause));
            continue;
        }
        report_waiting(machine, handle, &internal, diags);
    }
}

/// Reports the transitions that wait for an internal event: one where it can't come, else the first.
fn report_waiting(
    machine: &Machine,
    event: Handle<Event>,
    internal: &InternalEvent,
    diags: &mut Diags,
) {
    let asking: BTreeSet<Handle<State>> = machine
        .transitions
        .iter()
        .filter(|(_, it)| it.meta.get("requires_approval") == Some(&serde_json::Value::Bool(true)))
        .map(|(_, it)| it.source)
        .collect();
    let has_regions = || {
        let mut states = machine.states.iter();
        states.any(|(_, state)| state.kind == StateKind::Parallel)
    };
    let is_asking = !asking.is_empty();
    // With regions, a state elsewhere may ask.
    let asks = |source: Handle<State>| {
        let is_related = |&state: &Handle<State>| {
            machine.is_within(state, source) || machine.is_within(source, state)
        };
        let mut asking = asking.iter();
        asking.any(is_related) || is_asking && has_regions()
    };
    let waiting = || {
        let transitions = machine.transitions.iter().map(|(_, it)| it);
        transitions.filter(|it| it.triggers.contains(&event))
    };
    let needs_approval = [DENIED, SENT_BACK].contains(&internal.name);
    let unasked = waiting().find(|it| needs_approval && !asks(it.source));
    match (unasked, waiting().next()) {
        (Some(transition), _) => {
            let cause = unasked_cause(machine, internal, transition);
            diags.push(own_internal_event(internal, transition.span, &cause));
        }
        (None, Some(transition)) => diags.push(internal_event(internal, transition.span)),
        (None, None) => {}
    }
}

/// Says why an internal event hardly comes.
fn unasked_cause(machine: &Machine, internal: &InternalEvent, transition: &Transition) -> String {
    let state = &machine.states.at(transition.source).id;
    if internal.name == SENT_BACK {
        format!(
            "nothing in `{state}` asks for an approval, so `{SENT_BACK}` comes only after a review that somebody asks for"
        )
    } else {
        format!(
            "nothing in `{state}` asks for an approval, so `{}` never comes",
            internal.name
        )
    }
}

fn internal_event(internal: &InternalEvent, span: Span) -> Diagnostic {
    let name = internal.name;
    let message = format!("`{name}` is raised by the run; nobody sends it");
    Diagnostic::new(Code::InternalEvent, span, message)
        .label("an internal event")
        .note(format!("raised when {}", internal.raised))
        .help(format!("`statemark explain {name}` says more"))
}

fn own_internal_event(internal: &InternalEvent, span: Span, cause: &str) -> Diagnostic {
    let name = internal.name;
    Diagnostic::new(Code::OwnInternalEvent, span, cause)
        .label("nobody can send it")
        .note(format!("a run raises `{name}` when {}", internal.raised))
        .help("for an event that somebody sends, choose another name; for the run's, say `\"requires_approval\": true` on a transition that a person allows")
}
