//! SM402: a transition that an earlier one of the same state always takes precedence over.

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Event, EventKind, Machine, Transition};
use crate::pass::trigger::{describe_trigger, differ, is_drawn};

/// Reports transitions that come behind one of the same state and event without a guard, or with the same guard.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    for state in machine.states.handles() {
        let all: Vec<&Transition> = machine
            .transitions_of(state)
            .map(|(_, transition)| transition)
            .collect();
        for (at, later) in all.iter().enumerate() {
            let earlier = all.iter().take(at).find_map(|earlier| {
                shared_event(earlier, later)
                    .filter(|_| hides(earlier, later) && !conflicts(machine, earlier, later))
                    .map(|event| (*earlier, event))
            });
            if let Some((earlier, event)) = earlier {
                diags.push(shadowed(machine, event, earlier, later));
            }
        }
    }
}

/// `Some(None)` for two eventless transitions, `Some(Some(event))` for an event that both are triggered by.
fn shared_event(earlier: &Transition, later: &Transition) -> Option<Option<Handle<Event>>> {
    if earlier.triggers.is_empty() && later.triggers.is_empty() {
        return Some(None);
    }
    later
        .triggers
        .iter()
        .find(|event| earlier.triggers.contains(event))
        .map(|&event| Some(event))
}

fn hides(earlier: &Transition, later: &Transition) -> bool {
    match (&earlier.guard, &later.guard) {
        (None, _) => true,
        (Some(one), Some(two)) => one.value == two.value,
        (Some(_), None) => false,
    }
}

/// Whether `conflicting-transitions` has this pair.
fn conflicts(machine: &Machine, earlier: &Transition, later: &Transition) -> bool {
    let unguarded = earlier.guard.is_none() && later.guard.is_none();
    unguarded
        && !later.triggers.is_empty()
        && is_drawn(machine, earlier)
        && is_drawn(machine, later)
        && differ(earlier, later)
}

fn shadowed(
    machine: &Machine,
    event: Option<Handle<Event>>,
    earlier: &Transition,
    later: &Transition,
) -> Diagnostic {
    let source = &machine.states.at(later.source).id;
    let on = event.map_or_else(String::new, |event| {
        format!(" {}", describe_trigger(machine, later.source, event))
    });
    let takes = event.map_or_else(
        || "is taken".to_owned(),
        |event| match machine.events.at(event).kind {
            EventKind::Completion(_) | EventKind::Delayed => "is taken".to_owned(),
            _ => {
                format!("takes `{}`", machine.events.at(event).id)
            }
        },
    );
    let label = if later.triggers.len() > 1 {
        format!("never taken{on}")
    } else {
        "never taken".to_owned()
    };
    let why = if earlier.guard.is_none() {
        "has no guard, so it is always taken"
    } else {
        "has the same guard"
    };
    let help = if earlier.guard.is_none() && later.guard.is_some() {
        "put the transition with the guard before the one without"
    } else {
        "remove one of them, or give them guards that differ"
    };
    Diagnostic::new(
        Code::ShadowedTransition,
        later.span,
        format!("an earlier transition of `{source}` {takes} before this one can"),
    )
    .label(label)
    .related(earlier.span, why)
    .help(help)
}
