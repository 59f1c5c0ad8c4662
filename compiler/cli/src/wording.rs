//! A machine in words: what its rows and their metadata say to a person.
//!
//! Everything comes from the table, so that a spec and the table that was built from it read the same.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use statemark_compiler::pass::trigger::format_duration;
use statemark_runs::{expression, raised_when};
use statemark_runtime::{
    ActionId, ActionKind, EventId, EventKind, StateId, StateKind, Table, TimerId, TransitionId,
    Verdict,
};

/// The event that a name which the machine doesn't have stands for (`safe_next`).
pub(crate) const UNKNOWN_EVENT: &str = "error.unknown_event";

/// What hosts were left to read: titles, instructions, tools, limits.
pub(crate) type Meta = Map<String, Value>;

/// A JSON object of a table; empty where there is none.
pub(crate) fn meta(table: &Table, text: Option<statemark_runtime::TextId>) -> Meta {
    let text = text.map_or("", |text| table.text(text));
    serde_json::from_str(text).unwrap_or_default()
}

/// What hosts may read about a state.
pub(crate) fn state_meta(table: &Table, state: StateId) -> Meta {
    meta(table, table.state(state).and_then(|row| row.metadata))
}

/// What hosts may read about a transition.
pub(crate) fn transition_meta(table: &Table, transition: TransitionId) -> Meta {
    meta(
        table,
        table.transition(transition).and_then(|row| row.metadata),
    )
}

/// A text among the metadata.
pub(crate) fn text<'m>(meta: &'m Meta, key: &str) -> Option<&'m str> {
    meta.get(key).and_then(Value::as_str)
}

/// What hosts may read about the machine.
pub(crate) fn machine_meta(table: &Table) -> Meta {
    table
        .metadata()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The name of a state; one that stands for a `[*]` is called `[*]`.
pub(crate) fn state_name(table: &Table, state: StateId) -> String {
    if is_implied(table, state) {
        "[*]".to_owned()
    } else {
        table.state_name(state).to_owned()
    }
}

fn is_implied(table: &Table, state: StateId) -> bool {
    table.state(state).is_some_and(|row| {
        row.kind == StateKind::Final && meta(table, row.metadata).contains_key("implied")
    })
}

/// A state as records name it: by its id for programs; people read also that it stands for a `[*]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    id: String,
    is_implied: bool,
}

impl Place {
    /// The place of a state.
    pub(crate) fn of(table: &Table, state: StateId) -> Self {
        Self {
            id: table.state_name(state).to_owned(),
            is_implied: is_implied(table, state),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_implied {
            write!(out, "[*] ({})", self.id)
        } else {
            out.write_str(&self.id)
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.id)
    }
}

/// Whether a person has to say yes before the transition is taken. Hosts see to it; the machine doesn't wait.
pub(crate) fn needs_approval(meta: &Meta) -> bool {
    meta.get("requires_approval").and_then(Value::as_bool) == Some(true)
}

/// How an ended machine ended, or `None` for a state that ends nothing.
pub(crate) fn verdict(table: &Table, state: StateId) -> Option<&'static str> {
    let row = table.state(state)?;
    match (row.kind, row.verdict) {
        (StateKind::Final, Verdict::Success) => Some("success"),
        (StateKind::Final, Verdict::Failure) => Some("failure"),
        _ => None,
    }
}

/// Where a compound state begins, or where a history leads while nothing is recorded.
pub(crate) fn initials(table: &Table, state: StateId) -> Vec<StateId> {
    let row = table.state(state);
    let targets = row.map(|row| part(&table.sections().targets, &row.initial));
    targets.unwrap_or_default().to_vec()
}

/// The rows of a range.
fn part<'t, T>(rows: &'t [T], range: &std::ops::Range<u32>) -> &'t [T] {
    let bounds = usize::try_from(range.start)
        .ok()
        .zip(usize::try_from(range.end).ok());
    bounds
        .and_then(|(start, end)| rows.get(start..end))
        .unwrap_or_default()
}

/// Whether a state is a part of a parallel state that has no name in the spec.
pub(crate) fn is_nameless_region(table: &Table, state: StateId) -> bool {
    let Some(row) = table.state(state) else {
        return false;
    };
    let outer = row.parent.and_then(|parent| table.state(parent));
    row.kind.has_children()
        && outer.is_some_and(|outer| outer.kind == StateKind::Parallel)
        && meta(table, row.metadata).contains_key("implied")
}

/// Active states as people read them: `on › (media › playing | sound › loud)`.
pub(crate) fn configuration(table: &Table, active: &[StateId]) -> String {
    // States nest at most as deep as a table may, so the walk may recurse.
    fn below(table: &Table, active: &[StateId], outer: Option<StateId>) -> Vec<String> {
        let parent_of = |state: &StateId| table.state(*state).and_then(|row| row.parent);
        let inside = active.iter().copied().filter(|state| {
            let parent = parent_of(state).filter(|parent| parent.index() > 0);
            parent == outer
        });
        inside
            .map(|state| {
                let deeper = below(table, active, Some(state));
                let deeper = match deeper.as_slice() {
                    [] => None,
                    [only] => Some(only.clone()),
                    several => Some(format!("({})", several.join(" | "))),
                };
                match (is_nameless_region(table, state), deeper) {
                    (true, Some(deeper)) => deeper,
                    (_, Some(deeper)) => format!("{} › {deeper}", Place::of(table, state)),
                    (_, None) => Place::of(table, state).to_string(),
                }
            })
            .collect()
    }
    below(table, active, None).join(" | ")
}

/// The delay with which a timer sends its event, where only one action schedules it.
pub(crate) fn delay(table: &Table, timer: TimerId) -> Option<u64> {
    let mut delays = table.actions().filter_map(|(_, row)| match row.kind {
        ActionKind::Schedule(other, delay) if other == timer => Some(delay),
        _ => None,
    });
    delays.next().filter(|_| delays.next().is_none())
}

/// The timer that sends an event, if one does.
fn timer_of(table: &Table, event: EventId) -> Option<TimerId> {
    let mut timers = table.timers();
    timers.find(|(_, row)| row.event == event).map(|(id, _)| id)
}

/// Whether an action starts or stops a timer of a state, which `after` implies.
pub(crate) fn is_timers_own(table: &Table, action: ActionId) -> bool {
    let kind = table.action(action).map(|row| &row.kind);
    matches!(kind, Some(ActionKind::Schedule(timer, _) | ActionKind::Cancel(timer))
        if table.timer_name(*timer).starts_with("after."))
}

/// What an action assigns: each field with the expression that gives its value.
pub(crate) fn assigns(table: &Table, action: ActionId) -> Vec<(String, String)> {
    let sections = table.sections();
    let Some(ActionKind::Assign(range)) = table.action(action).map(|row| &row.kind) else {
        return Vec::new();
    };
    let assigns = part(&sections.assigns, range).iter();
    assigns
        .map(|row| {
            let value = expression::text(table, part(&sections.code, &row.value));
            (table.field_name(row.field).to_owned(), value)
        })
        .collect()
}

/// The events that trigger a transition: `passed`, `a or b`; what moves by itself says so.
pub(crate) fn trigger(table: &Table, transition: TransitionId) -> String {
    let events = table.triggers(transition);
    if events.is_empty() {
        return "(by itself)".to_owned();
    }
    let names: Vec<String> = events
        .iter()
        .map(|&event| event_name(table, event))
        .collect();
    names.join(" or ")
}

/// When the run sends the only event of a transition itself, so that nobody else does; names that the machine doesn't have
/// are told otherwise.
pub(crate) fn raised(table: &Table, transition: TransitionId) -> Option<&'static str> {
    match table.triggers(transition) {
        [event] if table.event_name(*event) != UNKNOWN_EVENT => {
            raised_when(table.event_name(*event))
        }
        _ => None,
    }
}

/// The name of an event for people.
pub(crate) fn event_name(table: &Table, event: EventId) -> String {
    let name = table.event_name(event);
    let is_internal = table
        .event(event)
        .is_some_and(|row| row.kind == EventKind::Internal);
    match name.strip_prefix("done.state.") {
        Some(state) if is_internal => format!("({state} is done)"),
        _ if name == UNKNOWN_EVENT => "(any unknown event)".to_owned(),
        _ => delayed(table, event).unwrap_or_else(|| name.to_owned()),
    }
}

/// `after 30s`, of an event that a state's timer sends.
fn delayed(table: &Table, event: EventId) -> Option<String> {
    let timer = timer_of(table, event)?;
    let delay = delay(table, timer).filter(|_| table.timer_name(timer).starts_with("after."))?;
    Some(format!("after {}", format_duration(delay)))
}

/// The states that a transition leads to, or `None` for one that only acts.
pub(crate) fn target(table: &Table, transition: TransitionId) -> Option<String> {
    let targets = table.targets(transition);
    let names: Vec<String> = targets
        .iter()
        .map(|&state| state_name(table, state))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The names of actions.
pub(crate) fn actions(table: &Table, ids: &[ActionId]) -> Vec<String> {
    ids.iter()
        .map(|&id| table.action_name(id).to_owned())
        .collect()
}

/// The names of the actions of a transition.
pub(crate) fn transition_actions(table: &Table, transition: TransitionId) -> Vec<String> {
    table
        .transition(transition)
        .map(|row| actions(table, table.calls(&row.calls)))
        .unwrap_or_default()
}

/// The guard of a transition as an expression, or `None` without one.
pub(crate) fn guard(table: &Table, transition: TransitionId) -> Option<String> {
    let code = table.guard(transition);
    (!code.is_empty()).then(|| expression::text(table, code))
}

/// A transition as its author would write it: `planning --> implementing : ready [steps > 0] / plan`.
pub(crate) fn statement(table: &Table, transition: TransitionId) -> String {
    let Some(row) = table.transition(transition) else {
        return String::new();
    };
    let source = state_name(table, row.source);
    let mut text = match target(table, transition) {
        Some(target) => format!("{source} --> {target} : "),
        None => format!("{source} : "),
    };
    let mut parts = Vec::new();
    if !table.triggers(transition).is_empty() {
        let events = table.triggers(transition).iter();
        let name = |&event: &EventId| {
            delayed(table, event).unwrap_or_else(|| table.event_name(event).to_owned())
        };
        let names: Vec<String> = events.map(name).collect();
        parts.push(names.join(", "));
    }
    parts.extend(guard(table, transition).map(|guard| format!("[{guard}]")));
    let actions = transition_actions(table, transition);
    if !actions.is_empty() {
        parts.push(format!("/ {}", actions.join(", ")));
    }
    text.push_str(&parts.join(" "));
    text.trim_end_matches([' ', ':']).to_owned()
}
