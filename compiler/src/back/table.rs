//! Tables: the rows that the runtime verifies and steps.
//!
//! Ids are the arena's indices, so records of the table, of generated Rust and of any other engine agree. The same machine
//! has the same bytes on every run and every computer: rows are in arena order, strings in the order of their first use,
//! and metadata is JSON with sorted keys.

mod program;

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Map, Value, json};
use statemark_runtime as runtime;
use statemark_runtime::{
    ActionId, AmbiguityRow, ClaimRow, EventId, FieldId, GuardId, MergeKind, MergeRow, Part,
    Sections, StateId, TextId, TimerId,
};

use crate::arena::Handle;
use crate::ir::{
    Action, ActionKind, Assign, Event, EventKind, Expression, Machine, Meta, State, Transition,
};
use crate::pass::merge::{Merges, Rule};
use crate::source::narrow;
use crate::valid::Valid;

/// Returns the bytes of a machine's table.
///
/// ```
/// use statemark_compiler::{Options, back, compile, source::Sources};
///
/// let mut sources = Sources::new();
/// sources.add("door.mmd", "stateDiagram-v2\n[*] --> shut\nshut --> open : push\nopen --> shut : pull");
/// let compiled = compile(&sources, &Options::default());
/// let bytes = back::table::write(&compiled.machines[0]);
/// let table = statemark_runtime::verify(statemark_runtime::decode(&bytes).unwrap()).unwrap();
/// assert_eq!(table.name(), "door");
/// ```
#[must_use]
pub fn write(valid: &Valid) -> Vec<u8> {
    // INVARIANT: a `Valid` is within the format's limits (`valid/limits.rs`).
    runtime::encode(&sections(valid)).unwrap_or_default()
}

/// Returns the SHA-256 of a table's bytes, which is its name.
#[must_use]
pub fn hash(bytes: &[u8]) -> [u8; 32] {
    hmac_sha256::Hash::hash(bytes)
}

/// Returns the SHA-256 of a part of a table.
#[must_use]
pub fn part_hash(sections: &Sections, part: Part) -> [u8; 32] {
    // INVARIANT: these are rows of a table that was decoded, or of a `Valid`; so they fit into the format.
    hash(&part.write(sections).unwrap_or_default())
}

/// Returns the rows of a machine's table.
#[must_use]
pub fn sections(valid: &Valid) -> Sections {
    rows(valid)
}

/// Returns the rows of any machine, for [`runtime::verify`] to check.
pub(crate) fn rows(machine: &Machine) -> Sections {
    let mut writer = Writer::default();
    writer.sections.name = writer.text(&machine.id.value);
    writer.sections.metadata = writer.json(machine_metadata(machine));
    for (_, event) in machine.events.iter() {
        writer.event(event);
    }
    for (_, guard) in machine.guards.iter() {
        let name = writer.text(&guard.name);
        writer.sections.guards.push(name);
    }
    for (_, field) in machine.fields.iter() {
        let path = writer.text(&field.path);
        writer.sections.fields.push(path);
    }
    for (_, action) in machine.actions.iter() {
        writer.action(action);
    }
    for (_, timer) in machine.timers.iter() {
        let row = runtime::TimerRow {
            name: writer.text(&timer.name),
            event: EventId::new(short(timer.event.index())),
        };
        writer.sections.timers.push(row);
    }
    for (_, state) in machine.states.iter() {
        writer.state(state, machine);
    }
    for (_, transition) in machine.transitions.iter() {
        writer.transition(transition);
    }
    writer.merges(&Merges::new(machine));
    for ambiguity in &machine.ambiguities {
        let event = |event: Handle<Event>| EventId::new(short(event.index()));
        let rows = ambiguity.events.iter().map(|&meaning| AmbiguityRow {
            state: StateId::new(short(ambiguity.source.index())),
            label: event(ambiguity.label),
            event: event(meaning),
        });
        writer.sections.ambiguities.extend(rows);
    }
    for (handle, guard) in machine.guards.iter().filter(|(_, guard)| guard.is_claim) {
        let text = writer.text(&guard.text);
        let guard = GuardId::new(short(handle.index()));
        writer.sections.claims.push(ClaimRow { guard, text });
    }
    writer.sections
}

/// Returns the program of one expression, with the constants and texts that it names.
pub(super) fn program(expression: &Expression) -> Sections {
    let mut writer = Writer::default();
    writer.expression(expression);
    writer.sections
}

#[derive(Default)]
struct Writer {
    sections: Sections,
    texts: BTreeMap<String, TextId>,
}

impl Writer {
    fn text(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.texts.get(text) {
            return id;
        }
        let id = TextId::new(narrow(self.sections.texts.len()));
        self.sections.texts.push(text.into());
        self.texts.insert(text.to_owned(), id);
        id
    }

    fn json(&mut self, meta: Meta) -> Option<TextId> {
        if meta.is_empty() {
            return None;
        }
        Some(self.text(&sorted(Value::Object(meta)).to_string()))
    }

    fn event(&mut self, event: &Event) {
        let mut meta = Map::new();
        put(&mut meta, "title", event.title.clone());
        put(&mut meta, "description", event.description.clone());
        put(&mut meta, "data", event.data.clone());
        let kind = match event.kind {
            EventKind::Named | EventKind::Unknown => runtime::EventKind::Named,
            EventKind::Completion(_) | EventKind::Delayed | EventKind::Fault => {
                runtime::EventKind::Internal
            }
        };
        let row = runtime::EventRow {
            name: self.text(&event.id),
            kind,
            metadata: self.json(meta),
        };
        self.sections.events.push(row);
    }

    fn action(&mut self, action: &Action) {
        let kind = match &action.kind {
            ActionKind::Host => runtime::ActionKind::Host,
            ActionKind::Fallible => runtime::ActionKind::Fallible,
            ActionKind::Raise(event) => {
                runtime::ActionKind::Raise(EventId::new(short(event.index())))
            }
            ActionKind::Assign(assigns) => {
                let rows: Vec<_> = assigns.iter().map(|assign| self.assign(assign)).collect();
                runtime::ActionKind::Assign(append(&mut self.sections.assigns, rows))
            }
            ActionKind::Schedule(timer, delay) => {
                runtime::ActionKind::Schedule(TimerId::new(short(timer.index())), *delay)
            }
            ActionKind::Cancel(timer) => {
                runtime::ActionKind::Cancel(TimerId::new(short(timer.index())))
            }
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => runtime::ActionKind::If {
                guard: self.program(|writer| writer.expression(guard)),
                then: self.calls(then),
                otherwise: self.calls(otherwise),
            },
        };
        let row = runtime::ActionRow {
            name: self.text(&action.name),
            kind,
            metadata: self.json(action.meta.clone()),
        };
        self.sections.actions.push(row);
    }

    fn assign(&mut self, assign: &Assign) -> runtime::AssignRow {
        runtime::AssignRow {
            field: FieldId::new(short(assign.field.index())),
            value: self.program(|writer| writer.expression(&assign.value)),
        }
    }

    /// Returns the range of the instructions that a function writes.
    fn program(&mut self, write: impl FnOnce(&mut Self)) -> Range<u32> {
        let start = narrow(self.sections.code.len());
        write(self);
        start..narrow(self.sections.code.len())
    }

    fn state(&mut self, state: &State, machine: &Machine) {
        let initial = state.initial.as_ref();
        let targets = targets(initial.map_or(&[], |initial| &initial.targets));
        let row = runtime::StateRow {
            name: self.text(&state.id),
            kind: state.kind,
            verdict: state.verdict,
            parent: state
                .parent
                .map(|parent| StateId::new(short(parent.index()))),
            end: short(state.end),
            initial: append(&mut self.sections.targets, targets),
            initial_calls: self.calls(initial.map_or(&[], |initial| &initial.actions)),
            entry: self.calls(&state.entry),
            exit: self.calls(&state.exit),
            transitions: short(state.transitions.start)..short(state.transitions.end),
            done: state.done.map(|event| EventId::new(short(event.index()))),
            metadata: self.json(state_metadata(state, machine)),
        };
        self.sections.states.push(row);
    }

    fn transition(&mut self, transition: &Transition) {
        let mut meta = transition.meta.clone();
        put(&mut meta, "description", transition.description.clone());
        put(
            &mut meta,
            "label",
            transition
                .label
                .as_ref()
                .map(|label| label.text.value.clone()),
        );
        let triggers = transition
            .triggers
            .iter()
            .map(|event| EventId::new(short(event.index())));
        let targets = targets(&transition.targets);
        let guard = self.program(|writer| {
            if let Some(guard) = &transition.guard {
                writer.expression(&guard.value);
            }
        });
        let row = runtime::TransitionRow {
            source: StateId::new(short(transition.source.index())),
            internal: transition.internal,
            triggers: append(&mut self.sections.triggers, triggers),
            guard,
            calls: self.calls(&transition.actions),
            targets: append(&mut self.sections.targets, targets),
            metadata: self.json(meta),
        };
        self.sections.transitions.push(row);
    }

    fn merges(&mut self, merges: &Merges) {
        let is_default = merges.others.kind == MergeKind::Except && merges.others.fields.is_empty();
        if !is_default {
            self.merge_rule(None, &merges.others);
        }
        for (event, rule) in &merges.events {
            self.merge_rule(Some(EventId::new(short(event.index()))), rule);
        }
    }

    fn merge_rule(&mut self, event: Option<EventId>, rule: &Rule) {
        let kind = rule.kind;
        if rule.fields.is_empty() {
            let field = None;
            self.sections.merges.push(MergeRow { event, kind, field });
        }
        for field in &rule.fields {
            let field = Some(self.text(field));
            self.sections.merges.push(MergeRow { event, kind, field });
        }
    }

    fn calls(&mut self, actions: &[Handle<Action>]) -> Range<u32> {
        let ids = actions
            .iter()
            .map(|action| ActionId::new(short(action.index())));
        append(&mut self.sections.calls, ids)
    }
}

/// Converts states to the format's ids.
fn targets(states: &[Handle<State>]) -> impl Iterator<Item = StateId> {
    states
        .iter()
        .map(|state| StateId::new(short(state.index())))
}

/// Appends values to a list and returns their range.
fn append<T>(list: &mut Vec<T>, values: impl IntoIterator<Item = T>) -> Range<u32> {
    let start = narrow(list.len());
    list.extend(values);
    start..narrow(list.len())
}

/// Converts an arena's index to the format's 16 bits; `valid/limits.rs` has refused larger machines.
fn short(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

fn put(meta: &mut Meta, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        meta.insert(key.to_owned(), value.into());
    }
}

fn machine_metadata(machine: &Machine) -> Meta {
    let mut meta = machine.meta.clone();
    put(&mut meta, "title", machine.title.clone());
    put(&mut meta, "description", machine.description.clone());
    put(&mut meta, "context", machine.context.clone());
    if !machine.interrupts.is_empty() {
        let interrupts = machine.interrupts.iter().map(|interrupt| {
            let target = interrupt
                .target
                .map_or("$return", |target| &machine.states.at(target).id);
            (
                interrupt.name.value.clone(),
                json!({"file_pattern": interrupt.pattern, "target": target}),
            )
        });
        meta.insert("interrupts".to_owned(), Value::Object(interrupts.collect()));
    }
    meta
}

fn state_metadata(state: &State, machine: &Machine) -> Meta {
    let mut meta = state.meta.clone();
    let text = |text: &crate::source::Spanned<String>| text.value.clone();
    put(&mut meta, "title", state.title.as_ref().map(text));
    put(
        &mut meta,
        "description",
        state.description.as_ref().map(text),
    );
    put(
        &mut meta,
        "instructions",
        state.instructions.as_ref().map(text),
    );
    let name = |event: &Handle<Event>| machine.events.at(*event).id.clone();
    put(
        &mut meta,
        "on_max_iterations",
        state.on_max_iterations.as_ref().map(name),
    );
    if !state.while_waiting.is_empty() {
        let names: Vec<String> = state.while_waiting.iter().map(name).collect();
        meta.insert("while_waiting".to_owned(), names.into());
    }
    if state.implied {
        meta.insert("implied".to_owned(), true.into());
    }
    meta
}

/// Sorts the keys of every object, whatever map `serde_json` was built with.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let by_key: BTreeMap<String, Value> = map.into_iter().collect();
            Value::Object(
                by_key
                    .into_iter()
                    .map(|(key, value)| (key, sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
