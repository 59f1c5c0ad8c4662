//! How long a timer's event is waited for, and how that is written.

use crate::arena::Handle;
use crate::ir::{Action, ActionKind, Event, Machine, State};

/// After how many milliseconds a state's own timer sends an event; `None` if none of its timers does.
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

/// Milliseconds as the language writes them, in the largest unit that gives a whole number: `30s`.
#[must_use]
pub fn duration(milliseconds: u64) -> String {
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

/// Whether an action is one that a state's own timer adds to its entry and exit, so that nobody writes it.
#[must_use]
pub fn is_timers_own(machine: &Machine, action: Handle<Action>) -> bool {
    match machine.actions.at(action).kind {
        ActionKind::Schedule(timer, _) | ActionKind::Cancel(timer) => {
            machine.timers.at(timer).of.is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_written_short_and_exact() {
        for (milliseconds, expected) in [
            (0, "0ms"),
            (1_500, "1500ms"),
            (30_000, "30s"),
            (5_400_000, "90m"),
            (172_800_000, "2d"),
        ] {
            assert_eq!(duration(milliseconds), expected);
        }
    }
}
