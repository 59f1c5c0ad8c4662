//! Legality: what can be done to a run now, and the blockers of what can't.
//!
//! [`Legality::blockers`] is the only place where an event is refused. Sending an event refuses with what it returns,
//! [`Legality::transitions`] shows the same blockers for each transition before anybody sends anything, and explanations are
//! made of those.
//!
//! What to rely on: nothing is written, and no time passes. An event that a transition of is enabled is taken if it is sent
//! with that data, unless the machine itself fails.

mod path;
mod requirement;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};
use statemark_runtime::{Candidate, EventId, EventKind, EventRow, StateId, Table, TransitionId};
use statemark_text::suggest::nearest;

pub(crate) use path::{distance, takers};
pub use requirement::required_for;
pub(crate) use requirement::{Required, names as required_names};

use crate::blocker::{Blocker, ClaimedPath, DataFault, Path, PendingRequest, Surface};
use crate::body::{Cause, RequestKind};
use crate::guard::{self, Evaluator, Fact, Question, Unmet};
use crate::internal::{UNKNOWN, is_internal};
use crate::loaded::{Invoking, Loaded};
use crate::runs::RunError;
use crate::state::{Context, Request, Status};
use crate::step::{CannotStep, Moment, StepInput, Stepper};
use crate::workflow::Workflow;

/// Most fields in an example of an event's data. Unit: fields. Why: the example stands in a sentence.
const MAX_EXAMPLE_FIELDS: usize = 3;

/// A transition that an event from outside could take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Legal {
    /// The event.
    pub event: String,
    /// The event as its author wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The state that it leads from.
    pub from: String,
    /// The states that it leads to; none if it stays.
    pub to: Vec<String>,
    /// True if sending the event now would take it.
    pub enabled: bool,
    /// The reason that it isn't taken although the machine would take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_by: Option<Held>,
    /// True if its guard is true.
    pub holds: bool,
    /// The facts that its guard reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// The facts that keep its guard from being true; none if it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<Unmet>,
    /// The claims with which its guard would be true: they alone are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// True if a person has to approve it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_approval: bool,
    /// The artifacts, checks and facts that a state requires and that are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The number of the transition in the table.
    pub transition: u16,
    /// The reason that it isn't enabled; none if it is.
    #[serde(skip)]
    pub blocker: Option<Blocker>,
}

/// A blocker that isn't the machine's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The code of the refusal that sending the event gets.
    pub code: &'static str,
    /// The reason in words.
    pub reason: String,
}

/// Something that somebody wants to do to a run.
#[derive(Clone, Copy, Debug)]
pub enum Attempt<'a> {
    /// Anything at all.
    Any,
    /// Send an event, with data that fits.
    Event {
        /// The event.
        name: &'a str,
    },
    /// Send an event with this data.
    Send {
        /// The event.
        name: &'a str,
        /// Its data.
        data: Option<&'a Value>,
    },
}

/// The legal operations on a run.
#[derive(Clone, Copy, Debug)]
pub struct Legality<'r> {
    run: &'r Loaded,
    /// The claims of whoever would send an event.
    claims: &'r [String],
}

/// An event of the machine that stands for a name that somebody sends.
pub(crate) struct Resolved {
    pub(crate) event: EventId,
    /// The cause, if the name isn't the machine's.
    pub(crate) cause: Option<Cause>,
}

/// Facts about all transitions of a run.
struct Known<'r> {
    /// The `requires` of the active states.
    requiring: Vec<&'r Value>,
    /// The reason that nothing can be done.
    standstill: Option<Blocker>,
    /// The blockers of events that the machine would take.
    held: BTreeMap<EventId, Option<Blocker>>,
}

impl Loaded {
    /// Returns the legal operations on the run now.
    #[must_use]
    pub const fn legality(&self) -> Legality<'_> {
        Legality::new(self)
    }
}

impl<'r> Legality<'r> {
    /// Makes the legality of a run.
    #[must_use]
    pub const fn new(run: &'r Loaded) -> Self {
        Self { run, claims: &[] }
    }

    /// Returns the legal operations for somebody who claims this besides.
    #[must_use]
    pub const fn claiming(self, claims: &'r [String]) -> Self {
        Self { claims, ..self }
    }

    /// Restores the run's machine, with the claims.
    pub(crate) fn stepper(&self) -> Result<Stepper<'r>, CannotStep> {
        let mut stepper = Stepper::restored(&self.run.workflow, &self.run.state)?;
        stepper.claim(self.claims);
        Ok(stepper)
    }

    /// Returns the reasons that an attempt can't succeed now; none if it can.
    ///
    /// # Errors
    ///
    /// The state isn't one of the workflow's machine.
    pub fn blockers(&self, attempt: &Attempt<'_>) -> Result<Vec<Blocker>, RunError> {
        let (name, data) = match attempt {
            Attempt::Any => return Ok(self.standstill().into_iter().collect()),
            Attempt::Event { name } => (*name, None),
            Attempt::Send { name, data } => (*name, Some(*data)),
        };
        let resolved = match self.resolve(name)? {
            Ok(resolved) => resolved,
            Err(blocker) => return Ok(vec![blocker]),
        };
        if let Err(unknown) = self.run.workflow.read_claims(self.claims) {
            return Ok(vec![unknown]);
        }
        let outcome = self.run.awaited_child(name, data.flatten(), None)?;
        if let Some(invoking) = outcome {
            return Ok(vec![child_outcome(name, &invoking)]);
        }
        if let Some(data) = data
            && let Some(fault) = self.data_fault(resolved.event, name, data)
        {
            let event = Some(name.to_owned());
            return Ok(vec![Blocker::BadData { event, fault }]);
        }
        // A state that catches the name takes it.
        if resolved.cause.is_some() {
            return Ok(Vec::new());
        }
        match self.not_taken(name, data.flatten()) {
            Err(RunError::Step(CannotStep::Data(error))) => {
                let fault = DataFault::Unstorable(error.to_string());
                Ok(vec![Blocker::BadData { event: None, fault }])
            }
            blockers => blockers,
        }
    }

    /// Returns the reasons that the machine or its requirements and limits ignore an event.
    pub(crate) fn not_taken(
        &self,
        event: &str,
        data: Option<&Value>,
    ) -> Result<Vec<Blocker>, RunError> {
        let transitions = self.transitions_of(Some(event), data)?;
        if transitions.iter().any(|it| it.enabled) {
            return Ok(Vec::new());
        }
        let blockers: Vec<Blocker> = transitions
            .into_iter()
            .filter_map(|it| it.blocker)
            .collect();
        if blockers.is_empty() {
            return Ok(vec![self.not_here(event)]);
        }
        Ok(blockers)
    }

    /// Returns the transitions that events could take next, in the order of selection.
    ///
    /// # Errors
    ///
    /// The state isn't one of the workflow's machine.
    pub fn transitions(&self) -> Result<Vec<Legal>, RunError> {
        self.transitions_of(None, None)
    }

    /// Returns the transitions that an event could take with this data.
    ///
    /// Guards see the data merged into the context.
    ///
    /// # Errors
    ///
    /// As for [`Legality::transitions`]; the data can't be stored.
    pub fn transitions_of(
        &self,
        event: Option<&str>,
        data: Option<&Value>,
    ) -> Result<Vec<Legal>, RunError> {
        let run = self.run;
        let table = run.workflow.table();
        let mut stepper = self.stepper()?;
        let sent = event.and_then(|event| table.event_named(event));
        let mut candidates = stepper.candidates(sent, data)?;
        candidates.retain(|candidate| {
            let name = table.event_name(candidate.event);
            !is_internal(name) && event.is_none_or(|event| event == name)
        });
        let mut known = Known {
            requiring: self.requiring(),
            standstill: self.standstill(),
            held: BTreeMap::new(),
        };
        let mut transitions = Vec::new();
        for candidate in &candidates {
            let legal = self.describe(candidate, &stepper);
            let blocker = if candidate.enabled {
                self.blocker_of(&legal, candidate.event, data, &mut known)?
            } else {
                Some(machine_blocker(table, candidate, &mut stepper))
            };
            transitions.push(legal.with(blocker));
        }
        Ok(transitions)
    }

    /// Returns the blocker of a transition that the machine would take.
    fn blocker_of(
        &self,
        legal: &Legal,
        id: EventId,
        data: Option<&Value>,
        known: &mut Known<'_>,
    ) -> Result<Option<Blocker>, RunError> {
        // An event at which the machine fails leaves nothing.
        let missing = self.missing_now(id, data, &known.requiring);
        let missing = missing.unwrap_or_default();
        if !missing.is_empty() {
            let event = legal.event.clone();
            return Ok(Some(Blocker::Requires { event, missing }));
        }
        let earlier = known.standstill.clone();
        if let Some(blocker) = earlier.or_else(|| self.request_first(&legal.event)) {
            return Ok(Some(blocker));
        }
        if let Some(blocker) = known.held.get(&id) {
            return Ok(blocker.clone());
        }
        let blocker = self.held_back_by(id, data, &legal.from)?;
        // The outcome of a child is about each state that waits for one.
        if !matches!(&blocker, Some(Blocker::ChildOutcome { run: Some(_), .. })) {
            known.held.insert(id, blocker.clone());
        }
        Ok(blocker)
    }

    /// Returns the events that would be taken if they were sent now.
    #[must_use]
    pub fn enabled_events(&self) -> Vec<String> {
        if self.standstill().is_some() {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let transitions = self.transitions().unwrap_or_default().into_iter();
        let events = transitions.filter(|it| it.enabled).map(|it| it.event);
        events.filter(|it| seen.insert(it.clone())).collect()
    }

    /// Returns the questions that the guard of a transition asks.
    #[must_use]
    pub fn questions(&self, transition: u16) -> Vec<Question> {
        guard::questions(self.run.workflow.table(), TransitionId::new(transition))
    }

    /// Returns the reason that nothing can be done to the run, if there is one.
    #[must_use]
    pub fn standstill(&self) -> Option<Blocker> {
        let restoring = self.run.state.restoring.as_ref();
        let restoring = restoring.map(|restoring| Blocker::Restoring {
            checkpoint: restoring.name.clone(),
        });
        restoring.or_else(|| self.stopped())
    }

    /// Returns the reason that nothing more can be done to the run, or the restore that has to end first.
    pub(crate) fn over_or_restoring(&self) -> Option<Blocker> {
        let standstill = self.standstill();
        standstill.filter(|blocker| !matches!(blocker, Blocker::Paused { .. }))
    }

    /// Returns the status of a run that is paused or over, as a blocker.
    pub(crate) fn stopped(&self) -> Option<Blocker> {
        let state = &self.run.state;
        let status = state.status();
        Some(match status {
            Status::Running | Status::Waiting => return None,
            Status::Paused => Blocker::Paused {
                by: state.paused_by.clone(),
                reason: state.paused.clone(),
            },
            Status::Cancelled => Blocker::Cancelled {
                reason: state.cancelled.clone(),
            },
            Status::Completed | Status::Failed => Blocker::Ended {
                success: status == Status::Completed,
                closed: state.ended.is_none(),
                states: state.leaves.clone(),
            },
        })
    }

    /// Returns the request that has to be settled before an event is taken.
    pub(crate) fn request_first(&self, event: &str) -> Option<Blocker> {
        let request = self.run.state.held_by()?;
        let is_free = self.meanwhile().iter().any(|it| it == event);
        (!is_free).then(|| Blocker::RequestFirst {
            request: PendingRequest::new(request),
        })
    }

    /// Returns the machine's event that a name stands for, or the reason that nobody sends it now.
    pub(crate) fn resolve(&self, name: &str) -> Result<Result<Resolved, Blocker>, RunError> {
        if let Some(blocker) = self.standstill().or_else(|| self.request_first(name)) {
            return Ok(Err(blocker));
        }
        let table = self.run.workflow.table();
        let named = table.event_named(name);
        let is_active = |state| self.run.state.is_active(table.state_name(state));
        if let Some(blocker) = named.and_then(|event| explain_ambiguous(table, event, is_active)) {
            return Ok(Err(blocker));
        }
        if let Some(event) = named {
            let internal = explain_internal(table, event);
            return Ok(internal.map_or(Ok(Resolved { event, cause: None }), Err));
        }
        Ok(match table.event_named(UNKNOWN) {
            Some(event) if self.catches(event)? => {
                let sent = name.to_owned();
                let cause = Some(Cause::SafeNext { sent });
                Ok(Resolved { event, cause })
            }
            _ => Err(self.unknown_event(name)),
        })
    }

    /// Returns the blocker of an event that the machine doesn't have.
    pub(crate) fn unknown_event(&self, event: &str) -> Blocker {
        let known = self.sendable_events();
        Blocker::UnknownEvent {
            workflow: self.run.workflow.id().to_owned(),
            event: event.to_owned(),
            suggestion: nearest(event, known.iter().map(String::as_str)).map(str::to_owned),
            known,
        }
    }

    /// Returns the blocker of an event that no active state takes.
    pub(crate) fn not_here(&self, event: &str) -> Blocker {
        not_here(self.run.workflow.table(), event, &self.run.state.leaves)
    }

    /// Returns the defect of an event's data, if it has one.
    fn data_fault(&self, event: EventId, name: &str, data: Option<&Value>) -> Option<DataFault> {
        let workflow = &self.run.workflow;
        let is_plain = |data: &&Value| !matches!(data, Value::Object(_) | Value::Null);
        if workflow.event_meta(event).get("data").is_none()
            && let Some(data) = data.filter(is_plain)
        {
            return Some(self.no_object(name, data));
        }
        data_fault(workflow, &self.run.state.context, event, data)
    }

    /// Returns the defect of data that isn't an object, with an example of one that guards could read.
    fn no_object(&self, event: &str, data: &Value) -> DataFault {
        let read: BTreeSet<String> = self.fields_of(event).into_iter().collect();
        let read = read.iter().take(MAX_EXAMPLE_FIELDS);
        let fields: Vec<String> = read.map(|it| format!("\"{it}\": …")).collect();
        let example = match fields.as_slice() {
            [] => r#"{"passed": true}"#.to_owned(),
            fields => format!("{{{}}}", fields.join(", ")),
        };
        let is_json = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
        let found = match data {
            Value::String(text) if is_json(text) => "a string of JSON (send the JSON itself)",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Number(_) => "a number",
            _ => "a boolean",
        };
        DataFault::NotAnObject { found, example }
    }

    /// Returns the events that are taken although a request is open: `while_waiting` of the active states.
    fn meanwhile(&self) -> Vec<String> {
        let run = self.run;
        let table = run.workflow.table();
        let states = table.states().map(|(id, _)| id);
        let active = states.filter(|id| run.state.is_active(table.state_name(*id)));
        let mut events: Vec<String> = Vec::new();
        for id in active {
            let named = run.workflow.state_meta(id).get("while_waiting");
            let named = named.and_then(Value::as_array).into_iter().flatten();
            for event in named.filter_map(Value::as_str) {
                if !events.iter().any(|it| it == event) {
                    events.push(event.to_owned());
                }
            }
        }
        events
    }

    /// Returns the events of the machine that can be sent, here or elsewhere.
    pub(crate) fn sendable_events(&self) -> Vec<String> {
        let table = self.run.workflow.table();
        let named = table
            .events()
            .filter(|(_, row)| row.kind == EventKind::Named);
        let names = named.map(|(id, _)| table.event_name(id));
        let names = names.filter(|name| !is_internal(name));
        names.map(str::to_owned).collect()
    }

    /// Reports whether an active state catches names that the machine doesn't have.
    fn catches(&self, unknown: EventId) -> Result<bool, RunError> {
        let mut stepper = self.stepper()?;
        let candidates = stepper.candidates(None, None)?;
        Ok(candidates
            .iter()
            .any(|it| it.event == unknown && it.enabled))
    }

    /// Returns the blocker of an event that the machine would take.
    ///
    /// It is a child's outcome, or exceeds a limit of visits.
    fn held_back_by(
        &self,
        event: EventId,
        data: Option<&Value>,
        from: &str,
    ) -> Result<Option<Blocker>, RunError> {
        let run = self.run;
        let name = run.workflow.table().event_name(event);
        if let Some(invoking) = run.awaited_child(name, data, Some(from))? {
            return Ok(Some(child_outcome(name, &invoking)));
        }
        if run.workflow.max_visits().is_empty() {
            return Ok(None);
        }
        let Ok(mut stepper) = self.stepper() else {
            return Ok(None);
        };
        let stepped = stepper.step(StepInput::Event(event), data, self.moment());
        Ok(stepped
            .ok()
            .and_then(|(_, step)| run.visit_limit(name, &step)))
    }

    /// Returns the moment of the run's last record: trial steps take no time.
    fn moment(&self) -> Moment<'r> {
        Moment {
            run: &self.run.run,
            seq: self.run.head.seq,
            now: self.run.state.updated,
        }
    }

    fn describe(&self, candidate: &Candidate, stepper: &Stepper<'_>) -> Legal {
        let workflow = &self.run.workflow;
        let table = workflow.table();
        let row = table.transition(candidate.transition);
        let title = workflow.event_meta(candidate.event).get("title");
        Legal {
            event: table.event_name(candidate.event).to_owned(),
            title: title.and_then(Value::as_str).map(str::to_owned),
            from: row.map_or_else(String::new, |row| table.state_name(row.source).to_owned()),
            to: targets(table, candidate.transition),
            enabled: candidate.enabled,
            held_by: None,
            holds: candidate.holds,
            facts: guard::facts(table, candidate.transition, stepper),
            unmet: Vec::new(),
            claims: Vec::new(),
            requires_approval: workflow.requires_approval(candidate.transition),
            lacks: Vec::new(),
            transition: candidate.transition.raw(),
            blocker: None,
        }
    }
}

/// Returns the reason that a label is refused: it leads to several places from active states.
///
/// None if the event is ambiguous in no active state.
pub fn explain_ambiguous(
    table: &Table,
    label: EventId,
    is_active: impl Fn(StateId) -> bool,
) -> Option<Blocker> {
    let states = table.ambiguous_states(label);
    let states: Vec<StateId> = states.filter(|state| is_active(*state)).collect();
    let mut choices: Vec<String> = Vec::new();
    for &state in &states {
        for event in table.meanings(state, label) {
            let name = table.event_name(event);
            if !choices.iter().any(|it| it == name) {
                choices.push(name.to_owned());
            }
        }
    }
    (!states.is_empty()).then(|| Blocker::AmbiguousEvent {
        event: table.event_name(label).to_owned(),
        states: states
            .iter()
            .map(|it| table.state_name(*it).to_owned())
            .collect(),
        choices,
    })
}

/// Returns the reason that nobody sends an event: it comes from the machine, or from the run, itself.
///
/// None if it is one that is sent.
pub fn explain_internal(table: &Table, event: EventId) -> Option<Blocker> {
    let name = table.event_name(event);
    let is_named = table
        .event(event)
        .is_some_and(|row: &EventRow| row.kind == EventKind::Named);
    (!is_named || is_internal(name)).then(|| Blocker::InternalEvent {
        event: name.to_owned(),
        to: None,
        path: Path::Unexplored,
    })
}

/// Returns the reason that the data of an event is refused.
///
/// That is the event's schema, or that of the context that the data is merged into.
///
/// None if nothing is wrong with it.
pub fn explain_data(
    workflow: &Workflow,
    context: &Context,
    event: EventId,
    data: Option<&Value>,
) -> Option<Blocker> {
    let fault = data_fault(workflow, context, event, data)?;
    let event = Some(workflow.table().event_name(event).to_owned());
    Some(Blocker::BadData { event, fault })
}

fn data_fault(
    workflow: &Workflow,
    context: &Context,
    event: EventId,
    data: Option<&Value>,
) -> Option<DataFault> {
    let schema = workflow.event_meta(event).get("data");
    let nothing = Value::Object(Map::new());
    // An event that never has data may come without.
    let schema = schema.filter(|it| data.is_some() || **it != Value::Bool(false));
    if let Some(schema) = schema
        && let Err(error) = workflow
            .schemas()
            .validate(schema, data.unwrap_or(&nothing))
    {
        return Some(DataFault::Schema(error.to_string()));
    }
    let merged = workflow.merged_fields(event, data.and_then(Value::as_object)?);
    let error = workflow.context_defect(context, &merged)?;
    Some(DataFault::Context(error))
}

/// Returns the reason that a machine has ignored an event, by its candidates with the event's data.
pub fn explain_ignored(
    table: &Table,
    event: &str,
    states: &[String],
    candidates: &[Candidate],
    evaluator: &mut impl Evaluator,
) -> Blocker {
    let id = table.event_named(event);
    let own = candidates.iter().filter(|it| Some(it.event) == id);
    let blockers = own.map(|it| machine_blocker(table, it, evaluator));
    choose_blocker(blockers.collect()).unwrap_or_else(|| not_here(table, event, states))
}

/// Returns the blocker of a transition that the machine doesn't take.
fn machine_blocker(
    table: &Table,
    candidate: &Candidate,
    evaluator: &mut impl Evaluator,
) -> Blocker {
    let event = table.event_name(candidate.event).to_owned();
    if candidate.holds {
        let row = table.transition(candidate.transition);
        let from = row.map(|row| table.state_name(row.source).to_owned());
        return Blocker::Preceded {
            event,
            from: from.into_iter().collect(),
        };
    }
    let unmet = guard::unmet(table, candidate.transition, evaluator);
    let to = targets(table, candidate.transition);
    let claims = guard::opening_claims(table, candidate.transition, &unmet, evaluator);
    if claims.is_empty() {
        return Blocker::GuardFalse { event, to, unmet };
    }
    let paths = vec![ClaimedPath { to, claims }];
    Blocker::ClaimsNeeded { event, paths }
}

fn not_here(table: &Table, event: &str, states: &[String]) -> Blocker {
    let takers = takers(table, event).into_iter();
    Blocker::NotHere {
        event: event.to_owned(),
        states: states.to_vec(),
        takers: takers.map(|id| table.state_name(id).to_owned()).collect(),
        path: Path::Unexplored,
    }
}

fn targets(table: &Table, transition: TransitionId) -> Vec<String> {
    let targets = table.targets(transition).iter();
    targets.map(|id| table.state_name(*id).to_owned()).collect()
}

impl Legal {
    /// Adds the reason that the transition isn't enabled, if there is one.
    fn with(mut self, blocker: Option<Blocker>) -> Self {
        self.enabled = blocker.is_none();
        match &blocker {
            None | Some(Blocker::Preceded { .. }) => {}
            Some(Blocker::GuardFalse { unmet, .. }) => self.unmet.clone_from(unmet),
            Some(Blocker::ClaimsNeeded { paths, .. }) => {
                let claims = paths.iter().flat_map(|path| &path.claims);
                self.claims = claims.cloned().collect();
            }
            Some(Blocker::Requires { missing, .. }) => {
                self.lacks = missing.iter().map(|it| it.name().to_owned()).collect();
            }
            Some(other) => {
                self.held_by = Some(Held {
                    code: other.code(Surface::Refusal),
                    reason: other.message(),
                });
            }
        }
        self.blocker = blocker;
        self
    }
}

impl PendingRequest {
    /// Reports whether other events wait for it.
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        self.blocking || self.kind == RequestKind::Approval
    }

    /// Makes the description of a request, for people.
    pub(crate) fn new(request: &Request) -> Self {
        let opened = &request.opened;
        let asker = request.asker.name.as_ref();
        let others = opened.approvers.iter().filter(|it| Some(*it) != asker);
        Self {
            id: opened.request.clone(),
            kind: opened.kind,
            event: opened.event.as_ref().map(|it| it.event.clone()),
            approvers: others.cloned().collect(),
            blocking: opened.blocking,
        }
    }
}

/// Returns the blocker that a refusal names.
///
/// It is one that isn't the machine's if there is one, else the claims that would help, else all false guards as one.
pub(crate) fn choose_blocker(blockers: Vec<Blocker>) -> Option<Blocker> {
    let is_machines = |blocker: &Blocker| {
        matches!(
            blocker,
            Blocker::GuardFalse { .. } | Blocker::ClaimsNeeded { .. } | Blocker::Preceded { .. }
        )
    };
    if let Some(other) = blockers.iter().find(|it| !is_machines(it)) {
        return Some(other.clone());
    }
    let mut all = blockers.into_iter();
    let mut decisive = all.next()?;
    for blocker in all {
        match (&mut decisive, blocker) {
            (Blocker::GuardFalse { to, unmet, .. }, Blocker::GuardFalse { unmet: more, .. }) => {
                to.clear();
                for one in more {
                    if !unmet.contains(&one) {
                        unmet.push(one);
                    }
                }
            }
            (Blocker::Preceded { from, .. }, Blocker::Preceded { from: more, .. }) => {
                from.extend(more);
            }
            (Blocker::ClaimsNeeded { paths, .. }, Blocker::ClaimsNeeded { paths: more, .. }) => {
                paths.extend(more);
            }
            // Of a false guard and one that a claim opens, the latter can be helped.
            (Blocker::GuardFalse { .. }, claims @ Blocker::ClaimsNeeded { .. }) => {
                decisive = claims;
            }
            (Blocker::Preceded { .. }, guard) => decisive = guard,
            _ => {}
        }
    }
    Some(decisive)
}

fn child_outcome(event: &str, invoking: &Invoking) -> Blocker {
    let run = invoking.child.as_ref().map(|(run, _)| run.to_string());
    Blocker::ChildOutcome {
        event: event.to_owned(),
        step: invoking.step.clone(),
        workflow: invoking.workflow.clone(),
        run,
        ended: invoking.ended(),
    }
}
