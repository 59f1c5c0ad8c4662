//! Merge rules: which fields of an event's data become fields of the context.
//!
//! Decided here once, for tables and for generated Rust:
//!
//! 1. With `"merge": "none"` no field does.
//! 2. With `"merge": "all"` every field does, as in Statewright's workflows; `"shallow"` is its old spelling.
//! 3. Otherwise an event's schema lists the fields that do. Of an event without a schema, or with one that lists no
//!    `properties`, all fields do but those that an action assigns. So nobody who sends an event sets a counter.
//!
//! In all of them a `context_schema` has the last word: only fields that it declares are fields of the context. They are
//! the keys of its `properties`. A schema without `properties` is read as the short form (`{"count": "number"}`), whose
//! own keys are the fields.
//!
//! Only fields at the top of the data are merged, each as a whole. So an assignment of `order.total` keeps all of `order`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use statemark_runtime::MergeKind;

use crate::arena::Handle;
use crate::ir::{ActionKind, Event, Machine, Meta};

/// A rule: fields, and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) kind: MergeKind,
    pub(crate) fields: BTreeSet<String>,
}

/// The merge rules of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Merges {
    /// The rule of events that have none of their own.
    pub(crate) others: Rule,
    /// The rules of events that differ from it.
    pub(crate) events: BTreeMap<Handle<Event>, Rule>,
}

/// The word of a definition about merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// By the events' schemas and by what is assigned.
    ByField,
    /// All fields.
    All,
    /// No field.
    None,
}

impl Choice {
    /// Reads the key `merge` of a definition.
    pub(crate) fn from_meta(meta: &Meta) -> Self {
        match meta.get("merge").and_then(Value::as_str) {
            Some("none") => Self::None,
            Some("all" | "shallow") => Self::All,
            _ => Self::ByField,
        }
    }
}

impl Rule {
    fn includes(&self, field: &str) -> bool {
        self.fields.contains(field) == (self.kind == MergeKind::Only)
    }

    /// Returns the rule with those of its fields alone that a schema of the context declares.
    fn within(self, declared: Option<&BTreeSet<String>>) -> Self {
        let Some(declared) = declared else {
            return self;
        };
        let fields = declared.iter().filter(|field| self.includes(field));
        Self {
            kind: MergeKind::Only,
            fields: fields.cloned().collect(),
        }
    }
}

impl Merges {
    /// Decides the rules of a machine.
    pub(crate) fn new(machine: &Machine) -> Self {
        let choice = Choice::from_meta(&machine.meta);
        let declared = machine.context_schema.as_ref().map(declared_fields);
        let (kind, fields) = match choice {
            Choice::None => (MergeKind::Only, BTreeSet::new()),
            Choice::All => (MergeKind::Except, BTreeSet::new()),
            Choice::ByField => (MergeKind::Except, assigned_fields(machine)),
        };
        let others = Rule { kind, fields }.within(declared.as_ref());
        let mut events = BTreeMap::new();
        if choice == Choice::ByField {
            for (handle, event) in machine.events.iter() {
                let Some(fields) = event.data.as_ref().and_then(listed_fields) else {
                    continue;
                };
                let kind = MergeKind::Only;
                let rule = Rule { kind, fields }.within(declared.as_ref());
                if rule != others {
                    events.insert(handle, rule);
                }
            }
        }
        Self { others, events }
    }

    /// Reports whether a field at the top of an event's data is merged.
    pub(crate) fn includes(&self, event: Handle<Event>, field: &str) -> bool {
        self.events
            .get(&event)
            .unwrap_or(&self.others)
            .includes(field)
    }
}

/// Returns the fields at the top of the context that actions assign, wholly or in part.
pub(crate) fn assigned_fields(machine: &Machine) -> BTreeSet<String> {
    let actions = machine.actions.iter();
    let assigns = actions.filter_map(|(_, action)| match &action.kind {
        ActionKind::Assign(assigns) => Some(assigns),
        _ => None,
    });
    let paths = assigns
        .flatten()
        .map(|assign| machine.fields.at(assign.field).path.as_str());
    paths.map(|path| top(path).to_owned()).collect()
}

/// Returns the name of the field at the top that a path leads into.
pub(crate) fn top(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// Returns the fields that the schema of an event's data lists, if it lists any.
pub(crate) fn listed_fields(schema: &Value) -> Option<BTreeSet<String>> {
    let fields = schema.get("properties")?.as_object()?;
    Some(fields.keys().cloned().collect())
}

/// Returns the fields that a schema of the context declares.
fn declared_fields(schema: &Value) -> BTreeSet<String> {
    let fields = schema.get("properties").unwrap_or(schema).as_object();
    fields
        .into_iter()
        .flat_map(|fields| fields.keys().cloned())
        .collect()
}
