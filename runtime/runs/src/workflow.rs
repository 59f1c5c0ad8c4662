//! Workflows: verified tables, with the metadata that they carry for a host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use statemark_runtime::{
    ActionKind, Data, DecodeError, EventId, FieldId, Instruction, Part, StateId, Table, TextId,
    TransitionId, VerifyError, decode, spell, verify,
};

use crate::actor::Role;
use crate::authority::Right;
use crate::body::Waiting;
use crate::hash::Hash;
use crate::runs::InvalidRequest;
use crate::schema::{self, Schemas};
use crate::state::Context;

/// The keys of policy that hold nothing up.
const HARMLESS: [&str; 3] = ["implied", "tags", "version"];

/// A transition by names: where it leads, on which condition, and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lead {
    /// The source. None is the machine itself, which is no state that anybody sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The targets; none if it stays.
    pub to: Vec<String>,
    /// The guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The actions, without those that start and stop timers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
}

/// A machine of which runs can be started.
#[derive(Debug)]
pub struct Workflow {
    table: Table,
    hash: Hash,
    bytes: Vec<u8>,
    machine: Value,
    /// The data of a machine without a field: that of each run begins as a copy.
    data: Data,
    states: Vec<Value>,
    events: Vec<Value>,
    transitions: Vec<Value>,
    actions: Vec<Value>,
    /// The entry limits of states that have one. Kept by name, because every event asks for all of them.
    max_visits: BTreeMap<String, u64>,
    /// True if decisions about its runs are signed. Every load of a run asks.
    signed: bool,
    /// The schemas of its events and of its context, compiled when one is first asked for.
    schemas: Schemas,
}

/// The persons who may decide about runs of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvers {
    /// Their names; everybody but the asker if it is empty.
    pub names: Vec<String>,
    /// True if they sign what they decide.
    pub signed: bool,
}

impl Approvers {
    /// Reads them from a definition's metadata of a machine.
    ///
    /// They are a list of names, or `{"signed": true, "names": […]}`.
    fn from_meta(machine: &Value) -> Self {
        let meta = machine.get("meta");
        let declared = meta.and_then(|it| it.get("approvers"));
        let (names, signed) = match declared {
            Some(Value::Object(fields)) => (fields.get("names"), fields.get("signed")),
            other => (other, None),
        };
        let names = names.and_then(Value::as_array).into_iter().flatten();
        let names = names.filter_map(Value::as_str).map(str::to_owned);
        Self {
            names: names.collect(),
            signed: signed == Some(&Value::Bool(true)),
        }
    }
}

/// The reasons why bytes are no workflow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The bytes are no table.
    #[error("{0}")]
    Decode(DecodeError),
    /// The table isn't sound.
    #[error("{0}")]
    Verify(VerifyError),
    /// The table's metadata isn't JSON.
    #[error("the table's metadata isn't JSON: {0}")]
    Metadata(serde_json::Error),
}

impl Workflow {
    /// Decodes and verifies a table.
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
        let all = |ids: &mut dyn Iterator<Item = Option<TextId>>| {
            let values = ids.map(|id| read(id.map(text)));
            values.collect::<Result<Vec<_>, _>>()
        };
        let states = all(&mut rows.states.iter().map(|row| row.metadata))?;
        let events = all(&mut rows.events.iter().map(|row| row.metadata))?;
        let transitions = all(&mut rows.transitions.iter().map(|row| row.metadata))?;
        let actions = all(&mut rows.actions.iter().map(|row| row.metadata))?;
        let machine = read(table.metadata())?;
        let max_visits = table.states().filter_map(|(id, _)| {
            let most = states.get(id.index())?.get("max_visits")?.as_u64()?;
            Some((table.state_name(id).to_owned(), most))
        });
        let max_visits = max_visits.collect();
        Ok(Self {
            max_visits,
            signed: Approvers::from_meta(&machine).signed,
            schemas: Schemas::default(),
            hash: Hash::digest(&bytes),
            data: Data::new(&table, BTreeMap::new()),
            table,
            bytes,
            machine,
            states,
            events,
            transitions,
            actions,
        })
    }

    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.table.name()
    }

    /// Returns the table.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the table's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the hash of the table's bytes.
    #[must_use]
    pub const fn hash(&self) -> Hash {
        self.hash
    }

    /// Returns the hash of a part of the table.
    ///
    /// Takes time in the size of the table.
    #[must_use]
    pub fn part_hash(&self, part: Part) -> Hash {
        let part = part.write(self.table.sections());
        // INVARIANT: the rows were decoded, so they fit into the format.
        Hash::digest(part.as_ref().unwrap_or(&self.bytes))
    }

    /// Returns the definition's metadata of the machine: an object or null.
    #[must_use]
    pub const fn meta(&self) -> &Value {
        &self.machine
    }

    /// Returns the definition's metadata of a state.
    #[must_use]
    pub fn state_meta(&self, state: StateId) -> &Value {
        self.states.get(state.index()).unwrap_or(&Value::Null)
    }

    /// Returns the entry limits of states that have one.
    pub(crate) const fn max_visits(&self) -> &BTreeMap<String, u64> {
        &self.max_visits
    }

    /// Returns the workflow that a state invokes.
    #[must_use]
    pub fn invoked_workflow(&self, state: StateId) -> Option<&str> {
        self.state_meta(state).get("invoke").and_then(Value::as_str)
    }

    /// Returns the definition's metadata of an event.
    #[must_use]
    pub fn event_meta(&self, event: EventId) -> &Value {
        self.events.get(event.index()).unwrap_or(&Value::Null)
    }

    /// Returns the definition's metadata of a transition.
    #[must_use]
    pub fn transition_meta(&self, transition: TransitionId) -> &Value {
        self.transitions
            .get(transition.index())
            .unwrap_or(&Value::Null)
    }

    /// Describes a transition by names. `None` if the table has none of that number.
    #[must_use]
    pub fn lead(&self, transition: TransitionId) -> Option<Lead> {
        let table = &self.table;
        let row = table.transition(transition)?;
        let code = table.guard(transition);
        let calls = table.calls(&row.calls).iter().filter(|action| {
            // What starts and stops timers is the compiler's, not the author's.
            let row = table.action(**action);
            !row.is_some_and(|row| {
                matches!(row.kind, ActionKind::Schedule(..) | ActionKind::Cancel(..))
            })
        });
        let name = |state: StateId| table.state_name(state).to_owned();
        let targets = table.targets(transition).iter();
        Some(Lead {
            from: (row.source != StateId::new(0)).then(|| name(row.source)),
            to: targets.map(|it| name(*it)).collect(),
            guard: (!code.is_empty()).then(|| spell(code, table)),
            actions: calls.map(|it| table.action_name(*it).to_owned()).collect(),
        })
    }

    /// Describes what an event that waits for an approval would take, in the order of taking.
    ///
    /// The table has to be that of the run: numbers mean nothing in another one. Older journals have only the transitions
    /// that need the approval.
    #[must_use]
    pub fn leads(&self, waiting: &Waiting) -> Vec<Lead> {
        let numbers = match waiting.takes.as_slice() {
            [] => &waiting.transitions,
            takes => takes,
        };
        let numbers = numbers.iter().copied().map(TransitionId::new);
        numbers.filter_map(|it| self.lead(it)).collect()
    }

    /// Reports whether a transition needs an approval.
    #[must_use]
    pub fn requires_approval(&self, transition: TransitionId) -> bool {
        let meta = self.transition_meta(transition);
        meta.get("requires_approval") == Some(&Value::Bool(true))
    }

    /// Returns the persons who may decide about its runs, and whether their decisions are signed.
    #[must_use]
    pub fn approvers(&self) -> Approvers {
        Approvers::from_meta(&self.machine)
    }

    /// Reports whether decisions about its runs are signed.
    #[must_use]
    pub const fn demands_signatures(&self) -> bool {
        self.signed
    }

    /// Returns the transitions that need an approval, by their numbers.
    pub(crate) fn guarded_transitions(&self) -> Vec<u16> {
        let all = self.table.transitions().map(|(id, _)| id);
        let guarded = all.filter(|it| self.requires_approval(*it));
        guarded.map(TransitionId::raw).collect()
    }

    /// Returns the data of a machine without a field.
    pub(crate) const fn empty_data(&self) -> &Data {
        &self.data
    }

    /// Returns the fields of an event's data that become fields of the context.
    pub(crate) fn merged_fields(
        &self,
        event: EventId,
        data: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut merged = data.clone();
        merged.retain(|name, _| self.table.merges(Some(event), name));
        merged
    }

    /// Returns the fields of an event's data that didn't become fields of the context.
    ///
    /// Guards and actions read them as `event.x`.
    #[must_use]
    pub fn unmerged_fields(&self, event: &str, data: Option<&Value>) -> Vec<String> {
        let event = self.table.event_named(event);
        let fields = data.and_then(Value::as_object).into_iter().flatten();
        let unmerged = fields.filter(|(name, _)| !self.table.merges(event, name));
        unmerged.map(|(name, _)| name.clone()).collect()
    }

    /// Returns its schemas.
    pub(crate) const fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// Checks fields from outside before a context gets them. Returns the defect, if there is one.
    ///
    /// They are checked against `context_schema`; without one, against the types of the fields' initial values. A context
    /// that was wrong before isn't the fields' fault.
    pub(crate) fn context_defect(
        &self,
        context: &Context,
        fields: &Map<String, Value>,
    ) -> Option<String> {
        if fields.is_empty() {
            return None;
        }
        let Some(schema) = self.machine.get("context_schema") else {
            return self.find_mistyped(fields);
        };
        let part = schema::part_for(schema, fields);
        let given = || Value::Object(fields.clone());
        if part.is_some_and(|it| self.schemas.validate(&it, &given()).is_ok()) {
            return None;
        }
        let before = Value::Object(context.to_map());
        let mut after = context.to_map();
        after.extend(fields.clone());
        let error = self.schemas.validate(schema, &Value::Object(after)).err()?;
        let was_valid = self.schemas.validate(schema, &before).is_ok();
        was_valid.then(|| format!("the context wouldn't be as `context_schema` says: {error}"))
    }

    /// Finds the first field with another type than its initial value.
    ///
    /// Null and compound initial values allow every type, and so do fields that only comparisons (`field`, `op`, `value`)
    /// read, which take any. Where no expression reads any field, as in Statewright's workflows, that holds for every field.
    pub(crate) fn find_mistyped(&self, fields: &Map<String, Value>) -> Option<String> {
        let initial = self.machine.get("context")?.as_object()?;
        let (mut typed, mut compared) = (BTreeSet::new(), BTreeSet::new());
        for instruction in &self.table.sections().code {
            match instruction {
                Instruction::Load(field) => typed.insert(self.table.field_name(*field)),
                Instruction::Compare(field, ..) => compared.insert(self.table.field_name(*field)),
                _ => false,
            };
        }
        let is_free =
            |name: &str| typed.is_empty() || compared.contains(name) && !typed.contains(name);
        let mut fields = fields.iter().filter(|(name, _)| !is_free(name));
        fields.find_map(|(name, value)| {
            let expected = scalar_type(initial.get(name)?)?;
            let fits = value.is_null() || scalar_type(value) == Some(expected);
            (!fits).then(|| {
                let actual = schema::shorten_finding(&value.to_string());
                format!("the context would have `{actual}` in `{name}`, which begins as {expected}")
            })
        })
    }

    /// Checks that a caller may set fields by an input of a run or of a fork.
    ///
    /// A person may set any. Others may set those that the definition lists as `inputs`; one without that list takes
    /// fields that no guard reads, at the start of a run alone: else an agent would answer its own guards.
    ///
    /// # Errors
    ///
    /// [`InvalidRequest::NoInput`] names the first field that the caller may not set.
    pub(crate) fn check_inputs(
        &self,
        role: Role,
        fields: &Value,
        at_start: bool,
    ) -> Result<(), InvalidRequest> {
        let Some(fields) = fields.as_object() else {
            return Ok(());
        };
        if Right::Decide.is_granted(role) || fields.is_empty() {
            return Ok(());
        }
        let listed = self.machine.get("inputs").and_then(Value::as_array);
        let guarded = if listed.is_none() && at_start {
            self.guarded_fields()
        } else {
            BTreeSet::new()
        };
        let may_set = |field: &str| match listed {
            Some(listed) => listed.iter().any(|it| it.as_str() == Some(field)),
            None => at_start && !guarded.contains(field),
        };
        match fields.keys().find(|field| !may_set(field)) {
            None => Ok(()),
            Some(field) => Err(InvalidRequest::NoInput {
                field: field.clone(),
                workflow: self.id().to_owned(),
                listed: listed.map(|all| {
                    let names = all.iter().filter_map(Value::as_str);
                    names.map(str::to_owned).collect()
                }),
                at_start,
            }),
        }
    }

    /// Returns the fields that a guard of a transition reads.
    fn guarded_fields(&self) -> BTreeSet<&str> {
        let mut fields = BTreeSet::new();
        for (id, _) in self.table.transitions() {
            for instruction in self.table.guard(id) {
                if let Instruction::Load(field) | Instruction::Compare(field, ..) = instruction {
                    fields.insert(self.table.field_name(*field));
                }
            }
        }
        fields
    }

    /// Returns the definition's metadata of an action.
    #[must_use]
    pub fn action_meta(&self, action: &str) -> &Value {
        let action = self.table.action_named(action);
        let meta = action.and_then(|action| self.actions.get(action.index()));
        meta.unwrap_or(&Value::Null)
    }

    /// Returns the names in the table: of itself, its states, events, actions, timers, fields and claims.
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
            .chain(table.claims().map(|(_, text)| text))
    }

    /// Reports whether nothing holds the machine up: no guards, claims, actions and timers, and no policy.
    ///
    /// Then its states are steps that somebody reports on, and no more.
    pub(crate) fn is_plain(&self) -> bool {
        let table = &self.table;
        let is_harmless = |meta: &Value| {
            let mut keys = meta.as_object().into_iter().flatten();
            keys.all(|(key, _)| {
                HARMLESS.contains(&key.as_str())
                    || Part::from_key(key).is_some_and(|it| it != Part::Policy)
            })
        };
        let mut states = table.states();
        let mut events = table.events();
        let mut transitions = table.transitions();
        is_harmless(self.meta())
            && table.actions().next().is_none()
            && table.timers().next().is_none()
            && states.all(|(id, _)| is_harmless(self.state_meta(id)))
            && events.all(|(id, _)| is_harmless(self.event_meta(id)))
            && transitions
                .all(|(id, _)| table.guard(id).is_empty() && is_harmless(self.transition_meta(id)))
    }

    /// Returns the states that a person sees, in document order: all but the root and generated ones.
    pub fn visible_states(&self) -> impl Iterator<Item = (StateId, &str)> {
        let states = self.table.states().skip(1).map(|(id, _)| id);
        let visible = states.filter(|id| !self.is_implied(*id));
        visible.map(|id| (id, self.table.state_name(id)))
    }

    /// Reports whether the compiler generated a state, such as the end for `[*]` or a choice.
    #[must_use]
    pub fn is_implied(&self, state: StateId) -> bool {
        self.state_meta(state).get("implied") == Some(&Value::Bool(true))
    }
}

/// A source of workflows: specs that the caller has compiled.
pub trait Workflows: Send + Sync {
    /// Finds a workflow by its id.
    fn find(&self, id: &str) -> Option<Arc<Workflow>>;

    /// Returns the ids of all workflows, sorted.
    fn ids(&self) -> Vec<String>;

    /// Returns the specs that define a workflow of that id each in its own way.
    ///
    /// None of them counts then.
    fn rivals(&self, _id: &str) -> Vec<String> {
        Vec::new()
    }

    /// Reports whether a document of that id has no machine.
    ///
    /// Reports on its steps are accepted without a check.
    fn lacks_machine(&self, _id: &str) -> bool {
        false
    }

    /// Reports whether the project starts accepted workflows alone.
    fn only_accepted(&self) -> bool {
        false
    }
}

/// A fixed set of workflows, by id.
impl Workflows for BTreeMap<String, Arc<Workflow>> {
    fn find(&self, id: &str) -> Option<Arc<Workflow>> {
        self.get(id).cloned()
    }

    fn ids(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
}

/// Describes the type of a scalar.
const fn scalar_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(_) => Some("a boolean"),
        Value::Number(_) => Some("a number"),
        Value::String(_) => Some("a string"),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
