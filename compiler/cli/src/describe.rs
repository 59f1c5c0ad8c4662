//! Descriptions of a machine for people, from the rows of its table and their metadata.
//!
//! Everything comes from the table, so that a spec and the table that was built from it read the same.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use statemark_compiler::pass::trigger::format_duration;
use statemark_runs::raised_when;
use statemark_runtime::{
    ActionId, ActionKind, EventId, EventKind, StateId, StateKind, Table, TimerId, TransitionId,
    Verdict, spell,
};

/// The event that stands for any name that the machine doesn't have (`safe_next`).
pub(crate) const UNKNOWN_EVENT: &str = "error.unknown_event";

/// Metadata for hosts: titles, instructions, tools, limits.
pub(crate) type Meta = Map<String, Value>;

/// Returns a JSON object of a table; empty where there is none.
pub(crate) fn meta(table: &Table, text: Option<statemark_runtime::TextId>) -> Meta {
    let text = text.map_or("", |text| table.text(text));
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns the metadata of a state.
pub(crate) fn state_meta(table: &Table, state: StateId) -> Meta {
    meta(table, table.state(state).and_then(|row| row.metadata))
}

/// Returns the metadata of a transition.
pub(crate) fn transition_meta(table: &Table, transition: TransitionId) -> Meta {
    meta(
        table,
        table.transition(transition).and_then(|row| row.metadata),
    )
}

/// Returns a string among the metadata.
pub(crate) fn meta_text<'m>(meta: &'m Meta, key: &str) -> Option<&'m str> {
    meta.get(key).and_then(Value::as_str)
}

/// Returns the metadata of the machine.
pub(crate) fn machine_meta(table: &Table) -> Meta {
    table
        .metadata()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// Returns the name of a state; one that stands for a `[*]` is called `[*]`.
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

/// A state in records: its id for programs; for people also that it stands for a `[*]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateLabel {
    id: String,
    is_implied: bool,
}

impl StateLabel {
    /// Makes the label of a state.
    pub(crate) fn new(table: &Table, state: StateId) -> Self {
        Self {
            id: table.state_name(state).to_owned(),
            is_implied: is_implied(table, state),
        }
    }
}

impl fmt::Display for StateLabel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_implied {
            write!(out, "[*] ({})", self.id)
        } else {
            out.write_str(&self.id)
        }
    }
}

impl Serialize for StateLabel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.id)
    }
}

/// Reports whether a person has to approve the transition. Hosts see to it; the machine doesn't wait.
pub(crate) fn needs_approval(meta: &Meta) -> bool {
    meta.get("requires_approval").and_then(Value::as_bool) == Some(true)
}

/// Returns the verdict of a final state.
pub(crate) fn verdict(table: &Table, state: StateId) -> Option<&'static str> {
    let row = table.state(state)?;
    match (row.kind, row.verdict) {
        (StateKind::Final, Verdict::Success) => Some("success"),
        (StateKind::Final, Verdict::Failure) => Some("failure"),
        _ => None,
    }
}

/// Returns the initial states of a compound state, or the default targets of a history.
pub(crate) fn initials(table: &Table, state: StateId) -> Vec<StateId> {
    let row = table.state(state);
    let targets = row.map(|row| part(&table.sections().targets, &row.initial));
    targets.unwrap_or_default().to_vec()
}

/// Returns the rows of a range.
fn part<'t, T>(rows: &'t [T], range: &std::ops::Range<u32>) -> &'t [T] {
    let bounds = usize::try_from(range.start)
        .ok()
        .zip(usize::try_from(range.end).ok());
    bounds
        .and_then(|(start, end)| rows.get(start..end))
        .unwrap_or_default()
}

/// Reports whether a state is a region that has no name in the spec.
pub(crate) fn is_nameless_region(table: &Table, state: StateId) -> bool {
    let Some(row) = table.state(state) else {
        return false;
    };
    let outer = row.parent.and_then(|parent| table.state(parent));
    row.kind.has_children()
        && outer.is_some_and(|outer| outer.kind == StateKind::Parallel)
        && meta(table, row.metadata).contains_key("implied")
}

/// Returns active states as people read them: `on › (media › playing | sound › loud)`.
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
                    (_, Some(deeper)) => format!("{} › {deeper}", StateLabel::new(table, state)),
                    (_, None) => StateLabel::new(table, state).to_string(),
                }
            })
            .collect()
    }
    below(table, active, None).join(" | ")
}

/// Returns the delay of a timer that only one action schedules.
pub(crate) fn delay(table: &Table, timer: TimerId) -> Option<u64> {
    let mut delays = table.actions().filter_map(|(_, row)| match row.kind {
        ActionKind::Schedule(other, delay) if other == timer => Some(delay),
        _ => None,
    });
    delays.next().filter(|_| delays.next().is_none())
}

/// Returns the timer that sends an event, if one does.
fn timer_of(table: &Table, event: EventId) -> Option<TimerId> {
    let mut timers = table.timers();
    timers.find(|(_, row)| row.event == event).map(|(id, _)| id)
}

/// Reports whether an action starts or stops a timer that `after` implies.
pub(crate) fn is_after_action(table: &Table, action: ActionId) -> bool {
    let kind = table.action(action).map(|row| &row.kind);
    matches!(kind, Some(ActionKind::Schedule(timer, _) | ActionKind::Cancel(timer))
        if table.timer_name(*timer).starts_with("after."))
}

/// Returns the assignments of an action: each field with the expression of its value.
pub(crate) fn assignments(table: &Table, action: ActionId) -> Vec<(String, String)> {
    let sections = table.sections();
    let Some(ActionKind::Assign(range)) = table.action(action).map(|row| &row.kind) else {
        return Vec::new();
    };
    let assigns = part(&sections.assigns, range).iter();
    assigns
        .map(|row| {
            let value = spell(part(&sections.code, &row.value), table);
            (table.field_name(row.field).to_owned(), value)
        })
        .collect()
}

/// Returns the events that trigger a transition: `passed`, `a or b`, `(automatic)`.
pub(crate) fn trigger(table: &Table, transition: TransitionId) -> String {
    let events = table.triggers(transition);
    if events.is_empty() {
        return "(automatic)".to_owned();
    }
    let names: Vec<String> = events
        .iter()
        .map(|&event| event_name(table, event))
        .collect();
    names.join(" or ")
}

/// Says when a run raises the only event of a transition itself, if it does.
pub(crate) fn raised(table: &Table, transition: TransitionId) -> Option<&'static str> {
    match table.triggers(transition) {
        [event] if table.event_name(*event) != UNKNOWN_EVENT => {
            raised_when(table.event_name(*event))
        }
        _ => None,
    }
}

/// Returns the name of an event for people.
pub(crate) fn event_name(table: &Table, event: EventId) -> String {
    let name = table.event_name(event);
    let is_internal = table
        .event(event)
        .is_some_and(|row| row.kind == EventKind::Internal);
    match name.strip_prefix("done.state.") {
        Some(state) if is_internal => format!("({state} is done)"),
        _ if name == UNKNOWN_EVENT => "(any unknown event)".to_owned(),
        _ => delay_name(table, event).unwrap_or_else(|| name.to_owned()),
    }
}

/// Returns `after 30s` for the event of a timer that `after` implies.
fn delay_name(table: &Table, event: EventId) -> Option<String> {
    // Its event has the timer's name; no other event needs a look at all timers.
    if !table.event_name(event).starts_with("after.") {
        return None;
    }
    let delay = delay(table, timer_of(table, event)?)?;
    Some(format!("after {}", format_duration(delay)))
}

/// Returns the targets of a transition, if it has any.
pub(crate) fn target(table: &Table, transition: TransitionId) -> Option<String> {
    let targets = table.targets(transition);
    let names: Vec<String> = targets
        .iter()
        .map(|&state| state_name(table, state))
        .collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Returns the names of actions.
pub(crate) fn action_names(table: &Table, ids: &[ActionId]) -> Vec<String> {
    ids.iter()
        .map(|&id| table.action_name(id).to_owned())
        .collect()
}

/// Returns the names of the actions of a transition.
pub(crate) fn transition_actions(table: &Table, transition: TransitionId) -> Vec<String> {
    table
        .transition(transition)
        .map(|row| action_names(table, table.calls(&row.calls)))
        .unwrap_or_default()
}

/// Returns the guard of a transition as an expression, if it has one.
pub(crate) fn guard(table: &Table, transition: TransitionId) -> Option<String> {
    let code = table.guard(transition);
    (!code.is_empty()).then(|| spell(code, table))
}

/// Returns a transition as its author would write it: `planning --> implementing : ready [steps > 0]`.
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
            delay_name(table, event).unwrap_or_else(|| table.event_name(event).to_owned())
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

/// Returns the labels that lead to several places from a state, with the events that they may mean.
pub(crate) fn ambiguities(table: &Table, state: StateId) -> Vec<(&str, Vec<&str>)> {
    let rows = table.sections().ambiguities.iter();
    let mut labels: Vec<EventId> = rows
        .filter(|it| it.state == state)
        .map(|it| it.label)
        .collect();
    labels.dedup();
    let labels = labels.into_iter().map(|label| {
        let events = table.meanings(state, label);
        (
            table.event_name(label),
            events.map(|event| table.event_name(event)).collect(),
        )
    });
    labels.collect()
}
