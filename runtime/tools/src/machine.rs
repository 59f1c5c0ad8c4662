//! Machines by names: the states, transitions and events of a table, as answers describe them.

use serde::Serialize;
use serde_json::{Map, Value};
use statemark_runs::{Lead, Workflow, raised_when};
use statemark_runtime::{ActionKind, EventId, EventKind, Table, TransitionId};

/// A state by names.
#[derive(Serialize)]
pub(crate) struct State {
    state: String,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_final: bool,
    /// The definition's own words.
    #[serde(flatten)]
    meta: Map<String, Value>,
}

/// The keys of a state's definition that its description has.
const STATE_KEYS: [&str; 7] = [
    "title",
    "instructions",
    "allowed_tools",
    "disallowed_tools",
    "capabilities",
    "requires",
    "max_iterations",
];

/// Describes the states that somebody sees, in document order.
pub(crate) fn states(workflow: &Workflow) -> impl Iterator<Item = State> {
    let table = workflow.table();
    workflow.visible_states().map(move |(id, name)| {
        let parent = table
            .parent(id)
            .filter(|it| table.parent(*it).is_some())
            .map(|parent| table.state_name(parent).to_owned());
        State {
            state: name.to_owned(),
            parent,
            is_final: table.is_end(id),
            meta: select(workflow.state_meta(id), &STATE_KEYS),
        }
    })
}

/// Returns those of an object's fields that have one of these names.
fn select(object: &Value, keys: &[&str]) -> Map<String, Value> {
    let fields = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())));
    fields.collect()
}

/// The keys of an event's definition that its description has.
const EVENT_KEYS: [&str; 3] = ["title", "description", "data"];

/// Returns what the definition says of the events that can be sent, by name, if it says anything.
pub(crate) fn described_events(workflow: &Workflow) -> Option<Value> {
    let table = workflow.table();
    let named = table
        .events()
        .filter(|(_, row)| row.kind == EventKind::Named);
    let described = named.filter_map(|(id, _)| {
        let meta = select(workflow.event_meta(id), &EVENT_KEYS);
        let name = table.event_name(id).to_owned();
        (!meta.is_empty()).then_some((name, Value::Object(meta)))
    });
    let described: Map<String, Value> = described.collect();
    (!described.is_empty()).then_some(Value::Object(described))
}

/// A transition by names.
#[derive(Serialize)]
pub(crate) struct Transition {
    /// None for the machine itself, which is no state that anybody sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    to: Vec<String>,
    /// The condition under which the run itself raises its event.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    after_ms: Vec<u64>,
    /// The events that can be sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<String>,
    /// The internal events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    on: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: Vec<String>,
    /// The definition's own words.
    #[serde(flatten)]
    meta: Map<String, Value>,
}

/// Describes the transitions, in the order of their numbers.
pub(crate) fn transitions(workflow: &Workflow) -> impl Iterator<Item = Transition> {
    let ids = workflow.table().transitions().map(|(id, _)| id);
    ids.filter_map(|id| Some(transition(workflow, id, workflow.lead(id)?)))
}

fn transition(workflow: &Workflow, id: TransitionId, lead: Lead) -> Transition {
    let table = workflow.table();
    let name_of = |event: &EventId| table.event_name(*event).to_owned();
    let triggers = table.triggers(id).iter();
    let (sent, internal): (Vec<&EventId>, Vec<&EventId>) = triggers.partition(|event| {
        let row = table.event(**event);
        row.is_some_and(|row| row.kind == EventKind::Named)
            && raised_when(table.event_name(**event)).is_none()
    });
    let mut raised = internal
        .iter()
        .filter_map(|event| raised_when(table.event_name(**event)));
    let untimed = internal
        .iter()
        .filter(|event| delay(table, ***event).is_none());
    Transition {
        from: lead.from,
        to: lead.to,
        when: raised.next(),
        after_ms: internal
            .iter()
            .filter_map(|it| delay(table, **it))
            .collect(),
        events: sent.into_iter().map(name_of).collect(),
        on: untimed.map(|event| name_of(event)).collect(),
        guard: lead.guard,
        actions: lead.actions,
        meta: select(
            workflow.transition_meta(id),
            &["requires_approval", "description"],
        ),
    }
}

/// Returns the delay of the timer that raises an event. Unit: milliseconds.
fn delay(table: &Table, event: EventId) -> Option<u64> {
    table.actions().find_map(|(_, row)| match &row.kind {
        ActionKind::Schedule(timer, delay) => {
            let row = table.timer(*timer)?;
            (row.event == event).then_some(*delay)
        }
        _ => None,
    })
}
