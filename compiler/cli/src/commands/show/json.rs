//! The JSON object of a machine.
//!
//! ```json
//! {
//!   "version": 1,
//!   "id": "bugfix_agent",
//!   "hash": "3f2a… (64 digits: SHA-256 of the table)",
//!   "hashes": { "behavior": "90c1…", "texts": "e3b0…", "policy": "77d0…" },
//!   "title": null,
//!   "description": "Fixes a bug …",
//!   "context": { "attempts": 0 },
//!   "initial": "planning",
//!   "entry": [],
//!   "exit": [],
//!   "states": [
//!     {
//!       "id": "planning", "kind": "atomic", "parent": null, "initial": null, "initial_targets": [], "verdict": null,
//!       "implied": false, "title": null, "description": null, "instructions": "Read the code. …",
//!       "entry": [], "exit": [], "meta": { "allowed_tools": ["Read"] }
//!     }
//!   ],
//!   "events": [{ "id": "ready", "kind": "named", "raised": null, "title": null, "description": null, "data": null }],
//!   "transitions": [
//!     {
//!       "id": 0, "source": "planning", "events": ["ready"], "guard": "steps > 0", "actions": [], "target": "implementing",
//!       "targets": ["implementing"], "internal": false, "requires_approval": false, "approval_message": null, "label": "ready [has_steps]",
//!       "description": null, "meta": {}
//!     }
//!   ],
//!   "guards": ["tests_pass"],
//!   "fields": ["steps"],
//!   "actions": [
//!     {
//!       "name": "count_attempt", "raises": null, "assigns": [{ "field": "attempts", "value": "attempts + 1" }],
//!       "schedules": null, "delay": null, "cancels": null, "fails": false, "meta": {}
//!     }
//!   ],
//!   "timers": [],
//!   "ambiguities": [],
//!   "proofs": [
//!     {
//!       "claim": "can-end", "text": "the machine can end", "verdict": "holds", "why": null,
//!       "assumes": ["events arrive in any order"],
//!       "witness": { "events": ["ready", "done"], "states": ["implementing_end"] }
//!     }
//!   ],
//!   "meta": {}
//! }
//! ```
//!
//! - The machine itself, which the table has as state 0, isn't among the states, since one of them may have its id: a
//!   state on the top level has `"parent": null`, a transition that holds in every state has `"source": null`. Where the
//!   machine begins, and what it does at its start and end, are its keys `initial`, `entry` and `exit`.
//! - `id` of a transition is its row in the table; records of `simulate` name it so.
//! - `requires_approval` says that a person has to say yes before the transition is taken, to whom a host shows
//!   `approval_message`. Asking is for hosts: the machine itself doesn't wait.
//! - `kind` of a state is `atomic`, `compound`, `parallel`, `final`, `history` or `deep_history`; of an event `named` or
//!   `internal` (it can't be sent). `raised` of a named one says when a run raises it; nobody can send it then.
//! - `initial` of a history is where it leads while nothing is remembered. `initial_targets` and `targets` are all states
//!   that are led to, several only in different regions; `initial` and `target` are the first of them.
//! - `timers` are what `after` waits for: `{"name": "after.heating.1", "event": "after.heating.1"}`. An action `schedules`
//!   one with a `delay` in milliseconds, or `cancels` it.
//! - `ambiguities` are labels that lead to several places from a state: sending one is refused while the state is active,
//!   and `events` are those that it may mean, `{"state": "reviewing", "label": "reviewed", "events": ["…", "…"]}`.
//! - `verdict` is `success` or `failure`, for final states alone; `implied` is true of one that stands for a `[*]`.
//! - `proofs` are properties of the machine, each under the key `claim`: `verdict` is `holds`, `fails` or `unknown`, `why` says what speaks against it,
//!   `assumes` what it rests on. `events` of a `witness` lead from the start to its `states`; where there are none, the
//!   states are what the property fails of. A `.table` has none (`null`): they are shown of a spec.
//! - `guards` are those that the host answers, `fields` those that other guards read; `claims` are guards that in a run hold
//!   if the sender of the event says so, in their author's words.
//! - The position of an event, transition, guard, field or action is its number in the table, that of a state is one
//!   less than its number.
//! - For a spec with errors, the object is that of `lint --output-format json` instead, and the exit code is 1.
//! - Every key is always there; `meta` has what only hosts read, with sorted keys.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use statemark_compiler::proofs::Proof;
use statemark_runs::raised_when;
use statemark_runtime::{
    ActionId, ActionKind, ActionRow, EventId, EventKind, EventRow, StateId, StateKind, StateRow,
    Table, TransitionId, TransitionRow,
};

use crate::describe::{self, Meta};
use crate::specs::LoadedMachine;

/// The state that stands for the machine.
const ROOT: StateId = StateId::new(0);

/// Writes the object of a machine.
pub(super) fn json(loaded: &LoadedMachine, proofs: Option<Vec<Proof>>) -> String {
    let machine = machine(loaded, proofs);
    let text = serde_json::to_string_pretty(&machine).unwrap_or_default();
    format!("{text}\n")
}

/// Returns the object of a machine without its proofs.
pub(super) fn value(loaded: &LoadedMachine) -> Value {
    serde_json::to_value(machine(loaded, None)).unwrap_or_default()
}

fn machine(loaded: &LoadedMachine, proofs: Option<Vec<Proof>>) -> Machine<'_> {
    let table = &loaded.table;
    let mut meta = describe::machine_meta(table);
    let root = table.state(ROOT);
    let texts = |ids: &[_]| {
        ids.iter()
            .map(|&text| table.text(text).to_owned())
            .collect()
    };
    Machine {
        version: 1,
        id: table.name(),
        hash: &loaded.hash,
        hashes: loaded.part_hashes().collect(),
        title: take(&mut meta, "title"),
        description: take(&mut meta, "description"),
        context: take(&mut meta, "context"),
        initial: first(table, ROOT),
        entry: root.map_or(Vec::new(), |row| call_names(table, &row.entry)),
        exit: root.map_or(Vec::new(), |row| call_names(table, &row.exit)),
        states: table
            .states()
            .filter(|(id, _)| *id != ROOT)
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
        claims: table.claims().map(|(_, text)| text.to_owned()).collect(),
        fields: texts(&table.sections().fields),
        actions: table
            .actions()
            .map(|(id, row)| action(table, id, row))
            .collect(),
        timers: table
            .timers()
            .map(|(_, row)| Timer {
                name: table.text(row.name),
                event: table.event_name(row.event),
            })
            .collect(),
        ambiguities: table
            .states()
            .flat_map(|(id, _)| {
                let labels = describe::ambiguities(table, id).into_iter();
                labels.map(move |(label, events)| Ambiguity {
                    state: table.state_name(id),
                    label,
                    events,
                })
            })
            .collect(),
        proofs,
        meta,
    }
}

#[derive(Serialize)]
struct Machine<'t> {
    version: u32,
    id: &'t str,
    hash: &'t str,
    hashes: BTreeMap<&'static str, String>,
    title: Value,
    description: Value,
    context: Value,
    initial: Option<&'t str>,
    entry: Vec<String>,
    exit: Vec<String>,
    states: Vec<State<'t>>,
    events: Vec<Event<'t>>,
    transitions: Vec<Transition<'t>>,
    guards: Vec<String>,
    claims: Vec<String>,
    fields: Vec<String>,
    actions: Vec<Action<'t>>,
    timers: Vec<Timer<'t>>,
    ambiguities: Vec<Ambiguity<'t>>,
    proofs: Option<Vec<Proof>>,
    meta: Meta,
}

#[derive(Serialize)]
struct State<'t> {
    id: &'t str,
    kind: &'static str,
    parent: Option<&'t str>,
    initial: Option<&'t str>,
    initial_targets: Vec<&'t str>,
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
    raised: Option<&'static str>,
    title: Value,
    description: Value,
    data: Value,
}

#[derive(Serialize)]
struct Transition<'t> {
    id: usize,
    source: Option<&'t str>,
    events: Vec<&'t str>,
    guard: Option<String>,
    actions: Vec<String>,
    target: Option<&'t str>,
    targets: Vec<&'t str>,
    internal: bool,
    requires_approval: bool,
    approval_message: Value,
    label: Value,
    description: Value,
    meta: Meta,
}

#[derive(Serialize)]
struct Action<'t> {
    name: &'t str,
    raises: Option<&'t str>,
    assigns: Vec<Assign>,
    schedules: Option<&'t str>,
    delay: Option<u64>,
    cancels: Option<&'t str>,
    /// True if the host can fail to carry it out.
    fails: bool,
    meta: Meta,
}

#[derive(Serialize)]
struct Assign {
    field: String,
    value: String,
}

#[derive(Serialize)]
struct Timer<'t> {
    name: &'t str,
    event: &'t str,
}

#[derive(Serialize)]
struct Ambiguity<'t> {
    state: &'t str,
    label: &'t str,
    events: Vec<&'t str>,
}

/// Takes the value of a key, or `null`, out of the metadata.
fn take(meta: &mut Meta, key: &str) -> Value {
    meta.remove(key).unwrap_or(Value::Null)
}

/// Returns the id of a state other than the root.
fn below_root(table: &Table, state: StateId) -> Option<&str> {
    (state != ROOT).then(|| table.state_name(state))
}

/// Returns the names of the actions in a range of calls.
fn call_names(table: &Table, range: &Range<u32>) -> Vec<String> {
    describe::action_names(table, table.calls(range))
}

/// Returns the first initial state of a state.
fn first(table: &Table, state: StateId) -> Option<&str> {
    let first = describe::initials(table, state).first().copied();
    first.map(|state| table.state_name(state))
}

fn names<'t>(table: &'t Table, states: &[StateId]) -> Vec<&'t str> {
    let states = states.iter();
    states.map(|&state| table.state_name(state)).collect()
}

fn state<'t>(table: &'t Table, id: StateId, row: &StateRow) -> State<'t> {
    let mut meta = describe::state_meta(table, id);
    State {
        id: table.state_name(id),
        kind: match row.kind {
            StateKind::Compound => "compound",
            StateKind::Final => "final",
            StateKind::Parallel => "parallel",
            StateKind::History => "history",
            StateKind::DeepHistory => "deep_history",
            _ => "atomic",
        },
        parent: row.parent.and_then(|parent| below_root(table, parent)),
        initial: first(table, id),
        initial_targets: names(table, &describe::initials(table, id)),
        verdict: describe::verdict(table, id),
        implied: meta.remove("implied").is_some(),
        title: take(&mut meta, "title"),
        description: take(&mut meta, "description"),
        instructions: take(&mut meta, "instructions"),
        entry: call_names(table, &row.entry),
        exit: call_names(table, &row.exit),
        meta,
    }
}

fn event<'t>(table: &'t Table, id: EventId, row: &EventRow) -> Event<'t> {
    let mut meta = describe::meta(table, row.metadata);
    Event {
        id: table.event_name(id),
        kind: match row.kind {
            EventKind::Internal => "internal",
            _ => "named",
        },
        raised: raised_when(table.event_name(id)),
        title: take(&mut meta, "title"),
        description: take(&mut meta, "description"),
        data: take(&mut meta, "data"),
    }
}

fn transition<'t>(table: &'t Table, id: TransitionId, row: &TransitionRow) -> Transition<'t> {
    let mut meta = describe::transition_meta(table, id);
    let events = table.triggers(id).iter();
    let requires_approval = describe::needs_approval(&meta);
    meta.remove("requires_approval");
    Transition {
        id: id.index(),
        source: below_root(table, row.source),
        events: events.map(|&event| table.event_name(event)).collect(),
        guard: describe::guard(table, id),
        actions: describe::transition_actions(table, id),
        target: table
            .targets(id)
            .first()
            .map(|&state| table.state_name(state)),
        targets: names(table, table.targets(id)),
        internal: row.internal,
        requires_approval,
        approval_message: take(&mut meta, "approval_message"),
        label: take(&mut meta, "label"),
        description: take(&mut meta, "description"),
        meta,
    }
}

fn action<'t>(table: &'t Table, id: ActionId, row: &ActionRow) -> Action<'t> {
    let (schedules, delay) = match row.kind {
        ActionKind::Schedule(timer, delay) => (Some(table.timer_name(timer)), Some(delay)),
        _ => (None, None),
    };
    let cancels = match row.kind {
        ActionKind::Cancel(timer) => Some(table.timer_name(timer)),
        _ => None,
    };
    Action {
        name: table.text(row.name),
        raises: row.kind.raised().map(|event| table.event_name(event)),
        assigns: describe::assignments(table, id)
            .into_iter()
            .map(|(field, value)| Assign { field, value })
            .collect(),
        schedules,
        delay,
        cancels,
        fails: row.kind == ActionKind::Fallible,
        meta: describe::meta(table, row.metadata),
    }
}
