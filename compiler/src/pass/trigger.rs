//! Triggers of transitions: delays, words for messages, and how transitions on one trigger differ.

use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, EventKind, Machine, State, Transition};

/// Returns the delay after which a state's own timer sends an event, in milliseconds.
///
/// `None` if no timer of the state sends it.
#[must_use]
pub fn delay(machine: &Machine, state: Handle<State>, event: Handle<Event>) -> Option<u64> {
    let entry = &machine.states.at(state).entry;
    entry
        .iter()
        .find_map(|&action| match machine.actions.at(action).kind {
            ActionKind::Schedule(timer, milliseconds)
                if machine.timers.at(timer).event == event
                    && machine.timers.at(timer).of == Some(state) =>
            {
                Some(milliseconds)
            }
            _ => None,
        })
}

/// Formats milliseconds as the language writes durations: `30s`.
///
/// The unit is the largest that gives a whole number.
#[must_use]
pub fn format_duration(milliseconds: u64) -> String {
    let units = [
        ("d", 86_400_000),
        ("h", 3_600_000),
        ("m", 60_000),
        ("s", 1_000),
    ];
    let whole = units
        .into_iter()
        .find(|&(_, unit)| milliseconds > 0 && milliseconds.is_multiple_of(unit));
    match whole {
        Some((name, unit)) => format!("{}{name}", milliseconds / unit),
        None => format!("{milliseconds}ms"),
    }
}

/// Reports whether an action belongs to a timer of a state, and so isn't in the spec.
#[must_use]
pub fn is_timer_action(machine: &Machine, action: Handle<Action>) -> bool {
    match machine.actions.at(action).kind {
        ActionKind::Schedule(timer, _) | ActionKind::Cancel(timer) => {
            machine.timers.at(timer).of.is_some()
        }
        _ => false,
    }
}

/// Describes when a transition is taken: `` on `go` ``, `after 30s`, `` when `a` is done ``.
pub(crate) fn describe_trigger(
    machine: &Machine,
    source: Handle<State>,
    event: Handle<Event>,
) -> String {
    if let Some(milliseconds) = delay(machine, source, event) {
        return format!("after {}", format_duration(milliseconds));
    }
    let event = &machine.events.at(event);
    match event.kind {
        EventKind::Completion(state) => {
            format!("when `{}` is done", machine.states.at(state).id)
        }
        _ => format!("on `{}`", event.id),
    }
}

/// Reports whether a transition is in the diagram, where order means nothing to its author.
pub(crate) fn is_drawn(machine: &Machine, transition: &Transition) -> bool {
    machine
        .parts
        .diagram
        .is_some_and(|diagram| diagram.contains(transition.span))
}

/// The deed of a transition: its targets and actions, and whether it stays inside its source.
pub(crate) type Deed<'m> = (&'m [Handle<State>], &'m [Handle<Action>], bool);

/// Returns what a transition does.
pub(crate) fn deed(transition: &Transition) -> Deed<'_> {
    (
        &transition.targets,
        &transition.actions,
        transition.internal,
    )
}

/// Reports whether two transitions on one event do different things.
pub(crate) fn differ(one: &Transition, two: &Transition) -> bool {
    deed(one) != deed(two)
}

#[cfg(test)]
mod tests {
    use super::format_duration;

    #[test]
    fn durations_are_written_short_and_exact() {
        for (milliseconds, expected) in [
            (0, "0ms"),
            (1_500, "1500ms"),
            (30_000, "30s"),
            (5_400_000, "90m"),
            (172_800_000, "2d"),
        ] {
            assert_eq!(format_duration(milliseconds), expected);
        }
    }
}
