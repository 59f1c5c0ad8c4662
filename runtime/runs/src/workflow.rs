//! What runs run: a verified table, and what its metadata says to a host.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use statemark_runtime::{
    DecodeError, EventId, FieldId, Merge, SchemaKeys, StateId, Table, TransitionId, VerifyError,
    decode, verify,
};

use crate::hash::Hash;
use crate::schema;

/// A machine that runs can be started of.
#[derive(Debug)]
pub struct Workflow {
    table: Table,
    hash: Hash,
    bytes: Vec<u8>,
    machine: Value,
    merge: Merge,
    states: Vec<Value>,
    events: Vec<Value>,
    transitions: Vec<Value>,
    actions: Vec<Value>,
    /// By state: how often it may be entered. Those that may always be aren't here: a run asks of every event at once.
    max_visits: BTreeMap<String, u64>,
}

/// Bytes that are no workflow.
#[derive(Debug)]
#[non_exhaustive]
pub enum WorkflowError {
    /// They are no table.
    Decode(DecodeError),
    /// The table isn't sound.
    Verify(VerifyError),
    /// Its metadata isn't JSON.
    Metadata(serde_json::Error),
}

impl fmt::Display for WorkflowError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decode(error) => error.fmt(out),
            Self::Verify(error) => error.fmt(out),
            Self::Metadata(error) => write!(out, "the table's metadata isn't JSON: {error}"),
        }
    }
}

impl std::error::Error for WorkflowError {}

impl Workflow {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// The bytes are no sound table.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, WorkflowError> {
        let sections = decode(&bytes).map_err(WorkflowError::Decode)?;
        let table = verify(sections).map_err(WorkflowError::Verify)?;
        let text = |id| table.text(id);
        let read = |text: Option<&str>| match text {
            Some(text) => serde_json::from_str(text).map_err(WorkflowError::Metadata),
            None => Ok(Value::Null),
        };
        let rows = table.sections();
        let all = |ids: Vec<Option<&str>>| ids.into_iter().map(read).collect::<Result<Vec<_>, _>>();
        let states = all(rows
            .states
            .iter()
            .map(|row| row.metadata.map(text))
            .collect())?;
        let events = all(rows
            .events
            .iter()
            .map(|row| row.metadata.map(text))
            .collect())?;
        let transitions = rows.transitions.iter().map(|row| row.metadata.map(text));
        let transitions = all(transitions.collect())?;
        let actions = rows.actions.iter().map(|row| row.metadata.map(text));
        let actions = all(actions.collect())?;
        let machine = read(table.metadata())?;
        let max_visits = table.states().filter_map(|(id, _)| {
            let most = states.get(id.index())?.get("max_visits")?.as_u64()?;
            Some((table.state_name(id).to_owned(), most))
        });
        let max_visits = max_visits.collect();
        Ok(Self {
            max_visits,
            hash: Hash::of(&bytes),
            table,
            bytes,
            merge: merge(&machine),
            machine,
            states,
            events,
            transitions,
            actions,
        })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.table.name()
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// The table's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their hash.
    #[must_use]
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// What the definition says of the machine; an object or null.
    #[must_use]
    pub const fn meta(&self) -> &Value {
        &self.machine
    }

    /// What it says of a state.
    #[must_use]
    pub fn state_meta(&self, state: StateId) -> &Value {
        self.states.get(state.index()).unwrap_or(&Value::Null)
    }

    /// How often states may be entered, of those that say so.
    pub(crate) const fn max_visits(&self) -> &BTreeMap<String, u64> {
        &self.max_visits
    }

    /// The workflow that a state invokes.
    #[must_use]
    pub fn invoked_in(&self, state: StateId) -> Option<&str> {
        self.state_meta(state).get("invoke").and_then(Value::as_str)
    }

    /// What it says of an event.
    #[must_use]
    pub fn event_meta(&self, event: EventId) -> &Value {
        self.events.get(event.index()).unwrap_or(&Value::Null)
    }

    /// What it says of a transition.
    #[must_use]
    pub fn transition_meta(&self, transition: TransitionId) -> &Value {
        self.transitions
            .get(transition.index())
            .unwrap_or(&Value::Null)
    }

    /// Whether somebody has to approve a transition.
    #[must_use]
    pub fn requires_approval(&self, transition: TransitionId) -> bool {
        let meta = self.transition_meta(transition);
        meta.get("requires_approval") == Some(&Value::Bool(true))
    }

    /// The fields of events' data that become fields of the context.
    pub(crate) const fn merge(&self) -> &Merge {
        &self.merge
    }

    /// Returns the fields of an event's data that become fields of the context.
    pub(crate) fn merged(&self, data: &Map<String, Value>) -> Map<String, Value> {
        let mut merged = data.clone();
        merged.retain(|name, _| self.merge.includes(name));
        merged
    }

    /// Why a context can't get these fields from outside: by the schema of contexts; where there is none, by the types that
    /// its fields begin with. What was wrong before isn't theirs.
    pub(crate) fn unfit(
        &self,
        context: &Map<String, Value>,
        fields: &Map<String, Value>,
    ) -> Option<String> {
        if fields.is_empty() {
            return None;
        }
        let Some(schema) = self.machine.get("context_schema") else {
            return self.mistyped(fields);
        };
        let mut after = context.clone();
        after.extend(fields.clone());
        let error = schema::check(schema, &Value::Object(after)).err()?;
        let before = Value::Object(context.clone());
        let was_fit = schema::check(schema, &before).is_ok();
        was_fit.then(|| format!("the context wouldn't be as `context_schema` says: {error}"))
    }

    /// The first of some fields that is of another type than the context begins with. Nothing and compound values say
    /// nothing of what may stand there later.
    fn mistyped(&self, fields: &Map<String, Value>) -> Option<String> {
        let begins = self.machine.get("context")?.as_object()?;
        fields.iter().find_map(|(name, value)| {
            let expected = kind(begins.get(name)?)?;
            let is_of_it = value.is_null() || kind(value) == Some(expected);
            (!is_of_it).then(|| {
                let found = schema::shortened(&value.to_string());
                format!("the context would have `{found}` in `{name}`, which begins as {expected}")
            })
        })
    }

    /// What it says of an action.
    #[must_use]
    pub fn action_meta(&self, action: &str) -> &Value {
        let action = self.table.action_named(action);
        let meta = action.and_then(|action| self.actions.get(action.index()));
        meta.unwrap_or(&Value::Null)
    }

    /// The names in the table: of itself, its states, events, actions, timers and fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let table = &self.table;
        let fields = table.sections().fields.len();
        let fields = (0..u16::try_from(fields).unwrap_or(u16::MAX)).map(FieldId::new);
        std::iter::once(self.id())
            .chain(table.states().map(|(id, _)| table.state_name(id)))
            .chain(table.events().map(|(id, _)| table.event_name(id)))
            .chain(table.actions().map(|(id, _)| table.action_name(id)))
            .chain(table.timers().map(|(id, _)| table.timer_name(id)))
            .chain(fields.map(|id| table.field_name(id)))
    }

    /// The states that a person sees, in document order: all but the root and those that the compiler made up.
    pub fn visible_states(&self) -> impl Iterator<Item = (StateId, &str)> {
        let states = self.table.states().skip(1).map(|(id, _)| id);
        let visible = states.filter(|id| !self.is_implied(*id));
        visible.map(|id| (id, self.table.state_name(id)))
    }

    /// Whether the compiler made up a state: an end that `[*]` stands for, a decision.
    #[must_use]
    pub fn is_implied(&self, state: StateId) -> bool {
        self.state_meta(state).get("implied") == Some(&Value::Bool(true))
    }
}

/// Decides from a machine's metadata which fields of events' data are merged; the rule is the engine's.
fn merge(machine: &Value) -> Merge {
    let keys = |value: &Value| -> BTreeSet<String> {
        let fields = value.as_object().into_iter();
        fields.flat_map(|fields| fields.keys().cloned()).collect()
    };
    let schema = machine.get("context_schema").map(|schema| SchemaKeys {
        own: keys(schema),
        properties: schema.get("properties").map(keys),
    });
    Merge::decide(machine.get("merge").and_then(Value::as_str), schema)
}

/// Where workflows come from: specs that the caller has compiled.
pub trait Workflows: Send + Sync {
    /// The workflow of that id.
    fn find(&self, id: &str) -> Option<Arc<Workflow>>;

    /// The ids of all workflows, sorted.
    fn ids(&self) -> Vec<String>;

    /// Whether there is a document of that id that has no machine: reports on it are taken, and nobody checks them.
    fn lacks_machine(&self, _id: &str) -> bool {
        false
    }
}

/// A few workflows at hand.
impl Workflows for BTreeMap<String, Arc<Workflow>> {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.get(id).cloned()
    }

    fn ids(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
}

/// What a single value is, in words.
const fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(_) => Some("a boolean"),
        Value::Number(_) => Some("a number"),
        Value::String(_) => Some("a text"),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
