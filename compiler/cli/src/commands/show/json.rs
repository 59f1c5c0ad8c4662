//! A machine as one JSON object.
//!
//! ```json
//! {
//!   "version": 1,
//!   "id": "bugfix_agent",
//!   "hash": "3f2a… (64 digits: SHA-256 of the table)",
//!   "title": null,
//!   "description": "Fixes a bug …",
//!   "context": { "attempts": 0 },
//!   "states": [
//!     {
//!       "id": "planning", "kind": "atomic", "parent": "bugfix_agent", "initial": null, "verdict": null,
//!       "implied": false, "title": null, "description": null, "instructions": "Read the code. …",
//!       "entry": [], "exit": [], "meta": { "allowed_tools": ["Read"] }
//!     }
//!   ],
//!   "events": [{ "id": "ready", "kind": "named", "title": null, "description": null, "data": null }],
//!   "transitions": [
//!     {
//!       "source": "planning", "events": ["ready"], "guard": "steps > 0", "actions": [], "target": "implementing",
//!       "internal": false, "label": "ready [has_steps]", "description": null, "meta": {}
//!     }
//!   ],
//!   "guards": ["tests_pass"],
//!   "fields": ["steps"],
//!   "actions": [{ "name": "count_attempt", "raises": null, "meta": {} }],
//!   "meta": {}
//! }
//! ```
//!
//! - The first state is the root, which stands for the machine and has its id; it alone has no parent.
//! - `kind` of a state is `atomic`, `compound` or `final`; of an event `named` or `internal` (nobody can send it).
//! - `verdict` is `success` or `failure`, for final states alone; `implied` is true of one that stands for a `[*]`.
//! - `guards` are those that the host answers, `fields` those that other guards read.
//! - The position of a state, event, transition, guard, field or action is its number in the table.
//! - Every key is always there; `meta` has what only hosts read, with sorted keys.

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{
    ActionRow, EventId, EventKind, EventRow, StateId, StateKind, StateRow, Table, TransitionId,
    TransitionRow, Verdict,
};

use crate::loading::Loaded;
use crate::wording::{self, Meta};

pub(super) fn json(loaded: &Loaded) -> String {
    let table = &loaded.table;
    let mut meta = wording::machine_meta(table);
    let texts = |ids: &[_]| {
        ids.iter()
            .map(|&text| table.text(text).to_owned())
            .collect()
    };
    let machine = Machine {
        version: 1,
        id: table.name(),
        hash: &loaded.hash,
        title: taken(&mut meta, "title"),
        description: taken(&mut meta, "description"),
        context: taken(&mut meta, "context"),
        states: table
            .states()
            .map(|(id, row)| state(table, id, row))
            .collect(),
        events: table
            .events()
            .map(|(id, row)| event(table, id, row))
            .collect(),
        transitions: table
            .transitions()
            .map(|(id, row)| transition(table, id, row))
            .collect(),
        guards: texts(&table.sections().guards),
        fields: texts(&table.sections().fields),
        actions: table.actions().map(|(_, row)| action(table, row)).collect(),
        meta,
    };
    let text = serde_json::to_string_pretty(&machine).unwrap_or_default();
    format!("{text}\n")
}

#[derive(Serialize)]
struct Machine<'t> {
    version: u32,
    id: &'t str,
    hash: &'t str,
    title: Value,
    description: Value,
    context: Value,
    states: Vec<State<'t>>,
    events: Vec<Event<'t>>,
    transitions: Vec<Transition<'t>>,
    guards: Vec<String>,
    fields: Vec<String>,
    actions: Vec<Action<'t>>,
    meta: Meta,
}

#[derive(Serialize)]
struct State<'t> {
    id: &'t str,
    kind: &'static str,
    parent: Option<&'t str>,
    initial: Option<&'t str>,
    verdict: Option<&'static str>,
    implied: bool,
    title: Value,
    description: Value,
    instructions: Value,
    entry: Vec<String>,
    exit: Vec<String>,
    meta: Meta,
}

#[derive(Serialize)]
struct Event<'t> {
    id: &'t str,
    kind: &'static str,
    title: Value,
    description: Value,
    data: Value,
}

#[derive(Serialize)]
struct Transition<'t> {
    source: &'t str,
    events: Vec<&'t str>,
    guard: Option<String>,
    actions: Vec<String>,
    target: Option<&'t str>,
    internal: bool,
    label: Value,
    description: Value,
    meta: Meta,
}

#[derive(Serialize)]
struct Action<'t> {
    name: &'t str,
    raises: Option<&'t str>,
    meta: Meta,
}

/// The value of a key, or `null`, and the key no longer among the others.
fn taken(meta: &mut Meta, key: &str) -> Value {
    meta.remove(key).unwrap_or(Value::Null)
}

fn state<'t>(table: &'t Table, id: StateId, row: &StateRow) -> State<'t> {
    let mut meta = wording::state_meta(table, id);
    State {
        id: table.state_name(id),
        kind: match row.kind {
            StateKind::Compound => "compound",
            StateKind::Final => "final",
            _ => "atomic",
        },
        parent: row.parent.map(|parent| table.state_name(parent)),
        initial: wording::initial(table, id).map(|state| table.state_name(state)),
        verdict: match (row.kind, row.verdict) {
            (StateKind::Final, Verdict::Success) => Some("success"),
            (StateKind::Final, Verdict::Failure) => Some("failure"),
            _ => None,
        },
        implied: meta.remove("implied").is_some(),
        title: taken(&mut meta, "title"),
        description: taken(&mut meta, "description"),
        instructions: taken(&mut meta, "instructions"),
        entry: wording::actions(table, table.calls(&row.entry)),
        exit: wording::actions(table, table.calls(&row.exit)),
        meta,
    }
}

fn event<'t>(table: &'t Table, id: EventId, row: &EventRow) -> Event<'t> {
    let mut meta = wording::meta(table, row.metadata);
    Event {
        id: table.event_name(id),
        kind: match row.kind {
            EventKind::Internal => "internal",
            _ => "named",
        },
        title: taken(&mut meta, "title"),
        description: taken(&mut meta, "description"),
        data: taken(&mut meta, "data"),
    }
}

fn transition<'t>(table: &'t Table, id: TransitionId, row: &TransitionRow) -> Transition<'t> {
    let mut meta = wording::transition_meta(table, id);
    let events = table.triggers(id).iter();
    Transition {
        source: table.state_name(row.source),
        events: events.map(|&event| table.event_name(event)).collect(),
        guard: wording::guard(table, id),
        actions: wording::transition_actions(table, id),
        target: table
            .targets(id)
            .first()
            .map(|&state| table.state_name(state)),
        internal: row.internal,
        label: taken(&mut meta, "label"),
        description: taken(&mut meta, "description"),
        meta,
    }
}

fn action<'t>(table: &'t Table, row: &ActionRow) -> Action<'t> {
    Action {
        name: table.text(row.name),
        raises: row.raises.map(|event| table.event_name(event)),
        meta: wording::meta(table, row.metadata),
    }
}
