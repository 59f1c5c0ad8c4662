//! Macrosteps of a run.
//!
//! A machine is restored from the run state, takes an event, and its step is described.
//!
//! No effect is carried out here, and nothing is stored: the result is a [`StepRecord`], and only the journal counts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use statemark_runtime::{
    ActionId, Candidate, Configuration, Data, Datum, EventId, FieldId, GuardId, Host, JsonError,
    Machine, NamedError, Outcome, Record, Recorder, RestoreError, StateId, StateKind, StepError,
    Table, TimerId, Verdict, evaluate,
};

use crate::body::{Arming, EffectKey, Microstep, StepRecord};
use crate::guard::Evaluator;
use crate::id::RunId;
use crate::state::{Context, RunState};
use crate::workflow::Workflow;

/// The input of a macrostep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepInput<'m> {
    /// The start of the machine.
    Start,
    /// An event.
    Event(EventId),
    /// The outcome of an invoked run, for the state that invoked it.
    Outcome(EventId, StateId),
    /// A timer that is due.
    Timer(TimerId),
    /// A jump into these states, without a transition.
    Jump(&'m [StateId]),
}

/// The run, record and time of a macrostep.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'r> {
    /// The run.
    pub run: &'r RunId,
    /// The number of the step's record, by which its effects are named.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub now: u64,
}

/// The reasons why a macrostep can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotStep {
    /// The table doesn't have a leaf or history of the run state.
    #[error("the table has no state `{name}`")]
    UnknownState {
        /// Its name.
        name: String,
    },
    /// The run state isn't a configuration of the table's machine.
    #[error("{0}")]
    Configuration(RestoreError),
    /// A machine can't hold the data.
    #[error("the data can't be kept: {0}")]
    Data(JsonError),
    /// The machine refuses or fails.
    #[error("{0}")]
    Step(NamedError),
    /// A running machine was started, or an event was sent to one that wasn't.
    #[error("the machine isn't where this step begins")]
    Misplaced,
}

/// The machine in a stepper.
#[derive(Clone)]
enum Instance<'w> {
    /// A machine that isn't started. `None` once starting it has failed.
    Fresh(Option<RunHost>),
    /// A running machine.
    Running(Machine<'w, RunHost>),
}

/// The machine of a run, restored from the run state.
#[derive(Clone)]
pub struct Stepper<'w> {
    workflow: &'w Workflow,
    instance: Instance<'w>,
    /// The context before the next step.
    context: Context,
}

impl<'w> Stepper<'w> {
    /// Makes a machine that isn't started yet, with a context.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn fresh(workflow: &'w Workflow, context: &Map<String, Value>) -> Result<Self, CannotStep> {
        let context = Context::from(context.clone());
        let mut host = RunHost::new(workflow, &context)?;
        host.assigned = Some(Vec::new());
        Ok(Self {
            instance: Instance::Fresh(Some(host)),
            workflow,
            context,
        })
    }

    /// Restores a machine from the state of a run.
    ///
    /// Takes time in what the machine can read of the context, not in the context's size.
    ///
    /// # Errors
    ///
    /// The state isn't one of this workflow's machine.
    pub fn restored(workflow: &'w Workflow, state: &RunState) -> Result<Self, CannotStep> {
        let context = state.context.clone();
        let host = RunHost::new(workflow, &context)?;
        let configuration = configuration(workflow.table(), state)?;
        let machine = Machine::restore(workflow.table(), host, configuration)
            .map_err(CannotStep::Configuration)?;
        Ok(Self {
            instance: Instance::Running(machine),
            workflow,
            context,
        })
    }

    /// Returns the transitions that could be taken next, for an event with this data.
    ///
    /// Guards are evaluated, nothing is done. The data is merged by the rule of the event, so the answer is about this
    /// event's transitions. The data can be read until the next call.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn candidates(
        &mut self,
        event: Option<EventId>,
        data: Option<&Value>,
    ) -> Result<Vec<Candidate>, CannotStep> {
        let data = data.map(read_datum).transpose()?;
        let Instance::Running(machine) = &mut self.instance else {
            return Ok(Vec::new());
        };
        let host = machine.host_mut();
        host.data.rollback();
        if let Some(data) = data {
            host.receive(self.workflow, &self.context, event, data);
        }
        Ok(machine.candidates())
    }

    /// Returns the transitions that could be taken next, each for its own event with this data.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn candidates_by_event(
        &mut self,
        data: Option<&Value>,
    ) -> Result<Vec<Candidate>, CannotStep> {
        let mut all = self.candidates(None, data)?;
        let events: BTreeSet<EventId> = all.iter().map(|it| it.event).collect();
        let table = self.workflow.table();
        let names = data.and_then(Value::as_object).into_iter().flatten();
        let names: Vec<&String> = names.map(|(name, _)| name).collect();
        for event in events {
            let differs =
                |name: &&&String| table.merges(Some(event), name) != table.merges(None, name);
            if names.iter().find(differs).is_none() {
                continue;
            }
            for (old, new) in all.iter_mut().zip(self.candidates(Some(event), data)?) {
                if old.event == event {
                    *old = new;
                }
            }
        }
        Ok(all)
    }

    /// Returns the machine, if it is started.
    #[must_use]
    pub const fn machine(&self) -> Option<&Machine<'w, RunHost>> {
        match &self.instance {
            Instance::Running(machine) => Some(machine),
            Instance::Fresh(_) => None,
        }
    }

    /// Replaces the context of a running machine, between two steps.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn set_context(&mut self, context: &Map<String, Value>) -> Result<(), CannotStep> {
        if let Instance::Running(machine) = &mut self.instance {
            let context = Context::from(context.clone());
            let read = RunHost::new(self.workflow, &context)?;
            machine.host_mut().data = read.data;
            self.context = context;
        }
        Ok(())
    }

    /// Returns the context after the last step.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Answers guards that have no expression, from now on; the others of them are false.
    ///
    /// A run has nobody who answers them; a simulation does.
    pub fn answer_guards(&mut self, answers: BTreeMap<GuardId, bool>) {
        if let Instance::Running(machine) = &mut self.instance {
            machine.host_mut().answers = Some(answers);
        }
    }

    /// Makes these claims hold, from now on and no others.
    ///
    /// One that the machine doesn't have is left out.
    pub fn claim(&mut self, claims: &[String]) {
        if let Instance::Running(machine) = &mut self.instance {
            let workflow = self.workflow;
            let named = claims.iter().filter_map(|it| workflow.claim_named(it));
            machine.host_mut().claims = named.collect();
        }
    }

    /// Makes one macrostep.
    ///
    /// # Errors
    ///
    /// The machine refuses the event, or fails; or the data would outgrow what a machine can hold. The stepper is of no
    /// more use then.
    pub fn step(
        &mut self,
        input: StepInput<'_>,
        data: Option<&Value>,
        moment: Moment<'_>,
    ) -> Result<(Outcome, StepRecord), CannotStep> {
        let mut recorder = Recorder::new();
        let table = self.workflow.table();
        let failed = |error: StepError| CannotStep::Step(error.explain(table));
        let data = data.map(read_datum).transpose()?;
        if let Instance::Running(machine) = &mut self.instance {
            machine.host_mut().reset();
        }
        let outcome = match (input, &mut self.instance) {
            (StepInput::Start, Instance::Fresh(host)) => {
                let host = host.take().ok_or(CannotStep::Misplaced)?;
                let machine =
                    Machine::start_observed(table, host, &mut recorder).map_err(failed)?;
                let ended = machine.is_ended();
                self.instance = Instance::Running(machine);
                if ended {
                    Outcome::Ended
                } else {
                    Outcome::Taken
                }
            }
            (StepInput::Event(event), Instance::Running(machine)) => {
                let host = machine.host_mut();
                let data = data.unwrap_or_default();
                host.receive(self.workflow, &self.context, Some(event), data);
                let sent = machine.send_observed(event, &mut recorder);
                sent.map_err(failed)?
            }
            (StepInput::Outcome(event, state), Instance::Running(machine)) => {
                let host = machine.host_mut();
                let data = data.unwrap_or_default();
                host.receive(self.workflow, &self.context, Some(event), data);
                let states = outcome_sources(table, event, state);
                let sent = machine.send_to_observed(event, &states, &mut recorder);
                sent.map_err(failed)?
            }
            (StepInput::Timer(timer), Instance::Running(machine)) => {
                let sent = machine.elapse_observed(timer, &mut recorder);
                sent.map_err(failed)?
            }
            (StepInput::Jump(targets), Instance::Running(machine)) => {
                let jumped = machine.jump_observed(targets, &mut recorder);
                jumped.map_err(failed)?
            }
            (StepInput::Start, Instance::Running(_)) | (_, Instance::Fresh(_)) => {
                return Err(CannotStep::Misplaced);
            }
        };
        if outcome == Outcome::Ignored
            && let Instance::Running(machine) = &mut self.instance
        {
            // The event's data was merged for its guards' sake only.
            machine.host_mut().data.rollback();
        }
        let record = recorder.finish(None, outcome);
        let step = self.commit_step(&record, moment)?;
        Ok((outcome, step))
    }

    /// Commits the context, and describes the step by names.
    fn commit_step(
        &mut self,
        record: &Record,
        moment: Moment<'_>,
    ) -> Result<StepRecord, CannotStep> {
        let table = self.workflow.table();
        let Instance::Running(machine) = &mut self.instance else {
            return Ok(StepRecord::default());
        };
        let host = machine.host_mut();
        host.data.commit();
        let effects = std::mem::take(&mut host.effects);
        let armed = std::mem::take(&mut host.timers);
        let changed = host.changed_fields()?;
        self.context.apply_step(changed.clone());
        // A context that can't be read back would leave a run that no event can move.
        self.context.check().map_err(CannotStep::Data)?;
        let state = |id: &StateId| table.state_name(*id).to_owned();
        let steps = record.steps.iter().map(|step| Microstep {
            transitions: step.transitions.iter().map(|id| id.raw()).collect(),
            exited: step.exited.iter().map(state).collect(),
            actions: step
                .actions
                .iter()
                .map(|id| table.action_name(*id).to_owned())
                .collect(),
            entered: step.entered.iter().map(state).collect(),
            raised: step
                .raised
                .iter()
                .map(|id| table.event_name(*id).to_owned())
                .collect(),
        });
        let mut absent: Vec<String> = Vec::new();
        for field in &record.absent {
            let name = table.field_name(*field);
            if !absent.iter().any(|known| known == name) {
                absent.push(name.to_owned());
            }
        }
        let effects = effects
            .into_iter()
            .zip(1..)
            .map(|(action, number)| EffectKey {
                key: format!("{}:{}:{number}", moment.run, moment.seq),
                name: table.action_name(action).to_owned(),
            });
        let timers = armed
            .into_iter()
            .map(|(timer, delay): (TimerId, Option<u64>)| Arming {
                timer: table.timer_name(timer).to_owned(),
                due: delay.map(|delay| moment.now.saturating_add(delay)),
            });
        let configuration = machine.configuration();
        let history = configuration.history().map(|(history, states)| {
            let states = states.iter().map(state).collect();
            (table.state_name(history).to_owned(), states)
        });
        Ok(StepRecord {
            steps: steps.collect(),
            absent,
            effects: effects.collect(),
            changed,
            timers: timers.collect(),
            leaves: configuration.leaves().map(|id| state(&id)).collect(),
            history: history.collect(),
            ended: end_verdict(table, configuration),
        })
    }
}

/// By the data of the last [`Stepper::candidates`].
impl Evaluator for Stepper<'_> {
    fn holds(&mut self, code: &std::ops::Range<u32>) -> bool {
        let Instance::Running(machine) = &mut self.instance else {
            return false;
        };
        let configuration = machine.configuration().clone();
        let host = machine.host_mut();
        let table = self.workflow.table();
        let value = evaluate(table, code, &configuration, host, &mut Recorder::new());
        matches!(value, Ok(Datum::Bool(true)))
    }

    fn holds_claiming(&mut self, code: &std::ops::Range<u32>, claims: &[GuardId]) -> bool {
        let Instance::Running(machine) = &mut self.instance else {
            return false;
        };
        let host = machine.host_mut();
        let before = host.claims.clone();
        host.claims.extend(claims);
        let holds = self.holds(code);
        if let Instance::Running(machine) = &mut self.instance {
            machine.host_mut().claims = before;
        }
        holds
    }

    fn value(&self, field: FieldId) -> Option<Value> {
        let datum = self.machine()?.host().data.get(field).to_datum().ok()?;
        to_json(&datum)
    }

    fn has_host(&self) -> bool {
        let host = self.machine().map(Machine::host);
        host.is_some_and(|host| host.answers.is_some())
    }
}

/// Returns the states that may take the outcome of a child: its invoker and the ancestors.
///
/// Success stays within the invoker's region, so that one run never completes two regions. Failure reaches all ancestors.
fn outcome_sources(table: &Table, event: EventId, state: StateId) -> Vec<StateId> {
    let within_region = table.event_name(event) == "done";
    let is_parallel = |state: &StateId| {
        let row = table.state(*state);
        row.is_some_and(|row| row.kind == StateKind::Parallel)
    };
    let ancestors = table.chain(state).skip(1);
    let ancestors = ancestors.take_while(|it| !(within_region && is_parallel(it)));
    std::iter::once(state).chain(ancestors).collect()
}

/// Returns whether a machine that has ended has ended in success.
fn end_verdict(table: &Table, configuration: &Configuration) -> Option<bool> {
    if !configuration.is_ended(table) {
        return None;
    }
    let leaf = configuration.leaves().next()?;
    Some(table.state(leaf)?.verdict != Verdict::Failure)
}

fn configuration(table: &Table, state: &RunState) -> Result<Configuration, CannotStep> {
    let find = |name: &String| {
        table
            .state_named(name)
            .ok_or_else(|| CannotStep::UnknownState { name: name.clone() })
    };
    let all = |names: &[String]| names.iter().map(find).collect::<Result<Vec<_>, _>>();
    let mut configuration = Configuration::from_leaves(table, &all(&state.leaves)?)
        .map_err(CannotStep::Configuration)?;
    for (history, states) in &state.history {
        configuration = configuration
            .record(table, find(history)?, &all(states)?)
            .map_err(CannotStep::Configuration)?;
    }
    Ok(configuration)
}

/// Reads data for a machine. Why by way of text: the reader has the limits of what a machine may hold.
fn read_datum(value: &Value) -> Result<Datum, CannotStep> {
    Datum::from_json(&value.to_string()).map_err(CannotStep::Data)
}

/// Returns a value of a context as the machine has it.
///
/// INVARIANT: a machine can hold what is in a checked context.
fn to_datum(value: &Value) -> Option<Datum> {
    read_datum(value).ok()
}

/// Returns a value of a machine as JSON.
///
/// INVARIANT: a datum writes itself as JSON.
fn to_json(datum: &Datum) -> Option<Value> {
    serde_json::from_str(&datum.to_string()).ok()
}

/// The host of a run's machine: it holds the data, and collects effects and timers.
#[derive(Clone, Debug)]
pub struct RunHost {
    /// The fields that the machine's programs name, and those that events have set.
    data: Data,
    /// The fields at the top that the step may have changed, as they were before.
    touched: BTreeMap<String, Option<Datum>>,
    effects: Vec<ActionId>,
    timers: Vec<(TimerId, Option<u64>)>,
    /// The assignments of the last step, in order; none for a run, of which nobody asks them.
    assigned: Option<Vec<(FieldId, Datum)>>,
    /// The answers to guards without an expression, where somebody gives them.
    answers: Option<BTreeMap<GuardId, bool>>,
    /// The guards that the sender of the event claims.
    claims: BTreeSet<GuardId>,
    /// The guards of the last step without an expression and without an answer.
    unanswered: BTreeSet<GuardId>,
}

impl RunHost {
    fn new(workflow: &Workflow, context: &Context) -> Result<Self, CannotStep> {
        context.check().map_err(CannotStep::Data)?;
        let data = workflow.empty_data();
        Ok(Self {
            data: data.with_named(|name| context.get(name).and_then(to_datum)),
            touched: BTreeMap::new(),
            effects: Vec::new(),
            timers: Vec::new(),
            assigned: None,
            answers: None,
            claims: BTreeSet::new(),
            unanswered: BTreeSet::new(),
        })
    }

    /// Returns the assignments of the last step, in order; those of a restored machine aren't noted.
    #[must_use]
    pub fn assigned(&self) -> &[(FieldId, Datum)] {
        self.assigned.as_deref().unwrap_or_default()
    }

    /// Returns the guards of the last step that nobody has answered.
    #[must_use]
    pub const fn unanswered(&self) -> &BTreeSet<GuardId> {
        &self.unanswered
    }

    /// Forgets the last step, and takes back what was received for its candidates.
    fn reset(&mut self) {
        self.data.rollback();
        self.touched.clear();
        self.unanswered.clear();
        if let Some(assigned) = &mut self.assigned {
            assigned.clear();
        }
    }

    /// Takes the data of an event. `context` has the fields that no program names.
    fn receive(
        &mut self,
        workflow: &Workflow,
        context: &Context,
        event: Option<EventId>,
        data: Datum,
    ) {
        let is_merged = |field: &str| workflow.table().merges(event, field);
        self.data.rollback();
        if let Datum::Object(fields) = &data {
            for field in fields.keys().filter(|field| is_merged(field)) {
                let old = self.data.top(field).cloned();
                let old = old.or_else(|| context.get(field).and_then(to_datum));
                self.touched.entry(field.clone()).or_insert(old);
            }
        }
        self.data.receive(data, is_merged);
    }

    /// Returns the fields at the top that the last step has changed. A machine can't remove a field.
    fn changed_fields(&mut self) -> Result<Map<String, Value>, CannotStep> {
        let touched = std::mem::take(&mut self.touched);
        let changed = touched.into_iter().filter_map(|(name, old)| {
            let new = self
                .data
                .top(&name)
                .filter(|new| Some(*new) != old.as_ref())?;
            Some((name, to_json(new)?))
        });
        let changed: Map<String, Value> = changed.collect();
        if !changed.is_empty() {
            let text = serde_json::to_string(&changed).unwrap_or_default();
            Datum::from_json(&text).map_err(CannotStep::Data)?;
        }
        Ok(changed)
    }
}

impl Host for RunHost {
    fn guard(&mut self, guard: GuardId) -> bool {
        if self.claims.contains(&guard) {
            return true;
        }
        let answer = self.answers.as_ref().and_then(|it| it.get(&guard)).copied();
        answer.unwrap_or_else(|| {
            self.unanswered.insert(guard);
            false
        })
    }

    fn action(&mut self, action: ActionId) {
        self.effects.push(action);
    }

    fn field(&self, field: FieldId) -> statemark_runtime::Value<'_> {
        self.data.field(field)
    }

    fn assign(&mut self, field: FieldId, value: statemark_runtime::Value<'_>) {
        if let Some(assigned) = &mut self.assigned
            && let Ok(datum) = value.to_datum()
        {
            assigned.push((field, datum));
        }
        if let Some(name) = self.data.top_of(field)
            && !self.touched.contains_key(name)
        {
            let old = self.data.top(name).cloned();
            self.touched.insert(name.to_owned(), old);
        }
        self.data.assign(field, value);
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.timers.push((timer, Some(delay)));
    }

    fn cancel(&mut self, timer: TimerId) {
        self.timers.push((timer, None));
    }

    fn begin(&mut self) {
        self.data.begin();
    }

    fn rollback(&mut self) {
        self.data.rollback();
        self.effects.clear();
        self.timers.clear();
        if let Some(assigned) = &mut self.assigned {
            assigned.clear();
        }
    }
}
