//! Macrosteps of a run.
//!
//! A machine is restored from the run state, takes an event, and its step is described.
//!
//! No effect is carried out here, and nothing is stored: the result is a [`StepRecord`], and only the journal counts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use statemark_runtime::{
    ActionId, Candidate, Configuration, Data, Datum, EventId, FieldId, GuardId, Host, JsonError,
    Machine, Outcome, Record, Recorder, RestoreError, StateId, StateKind, StepError, Table,
    TimerId, Verdict, evaluate,
};

use crate::body::{Arming, EffectKey, Microstep, StepRecord};
use crate::guard::Evaluator;
use crate::id::RunId;
use crate::state::RunState;
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
    Step(StepError),
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
    before: Datum,
}

impl<'w> Stepper<'w> {
    /// Makes a machine that isn't started yet, with a context.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn fresh(workflow: &'w Workflow, context: &Map<String, Value>) -> Result<Self, CannotStep> {
        let host = RunHost::new(workflow, context)?;
        Ok(Self {
            before: host.data.to_datum(),
            instance: Instance::Fresh(Some(host)),
            workflow,
        })
    }

    /// Restores a machine from the state of a run.
    ///
    /// # Errors
    ///
    /// The state isn't one of this workflow's machine.
    pub fn restored(workflow: &'w Workflow, state: &RunState) -> Result<Self, CannotStep> {
        let host = RunHost::new(workflow, &state.context)?;
        let before = host.data.to_datum();
        let configuration = configuration(workflow.table(), state)?;
        let machine = Machine::restore(workflow.table(), host, configuration)
            .map_err(CannotStep::Configuration)?;
        Ok(Self {
            before,
            instance: Instance::Running(machine),
            workflow,
        })
    }

    /// Returns the transitions that could be taken next, for an event with this data.
    ///
    /// Guards are evaluated, nothing is done. The data can be read until the next call.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn candidates(&mut self, data: Option<&Value>) -> Result<Vec<Candidate>, CannotStep> {
        let Instance::Running(machine) = &mut self.instance else {
            return Ok(Vec::new());
        };
        machine.host_mut().data.rollback();
        if let Some(data) = data {
            machine.host_mut().data.receive(read_datum(data)?);
        }
        Ok(machine.candidates())
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
            machine.host_mut().data = read_context(self.workflow, context)?;
            self.before = machine.host().data.to_datum();
        }
        Ok(())
    }

    /// Answers guards that have no expression, from now on; the others of them are false.
    ///
    /// A run has nobody who answers them; a simulation does.
    pub fn answer_guards(&mut self, answers: BTreeMap<GuardId, bool>) {
        if let Instance::Running(machine) = &mut self.instance {
            machine.host_mut().answers = Some(answers);
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
        let data = data.map(read_datum).transpose()?;
        if let Instance::Running(machine) = &mut self.instance {
            machine.host_mut().assigned.clear();
            machine.host_mut().unanswered.clear();
        }
        let outcome = match (input, &mut self.instance) {
            (StepInput::Start, Instance::Fresh(host)) => {
                let host = host.take().ok_or(CannotStep::Misplaced)?;
                let machine = Machine::start_observed(self.workflow.table(), host, &mut recorder)
                    .map_err(CannotStep::Step)?;
                let ended = machine.is_ended();
                self.instance = Instance::Running(machine);
                if ended {
                    Outcome::Ended
                } else {
                    Outcome::Taken
                }
            }
            (StepInput::Event(event), Instance::Running(machine)) => {
                machine.host_mut().data.receive(data.unwrap_or_default());
                let sent = machine.send_observed(event, &mut recorder);
                sent.map_err(CannotStep::Step)?
            }
            (StepInput::Outcome(event, state), Instance::Running(machine)) => {
                machine.host_mut().data.receive(data.unwrap_or_default());
                let states = outcome_sources(self.workflow.table(), event, state);
                let sent = machine.send_to_observed(event, &states, &mut recorder);
                sent.map_err(CannotStep::Step)?
            }
            (StepInput::Timer(timer), Instance::Running(machine)) => {
                let sent = machine.elapse_observed(timer, &mut recorder);
                sent.map_err(CannotStep::Step)?
            }
            (StepInput::Jump(targets), Instance::Running(machine)) => {
                let jumped = machine.jump_observed(targets, &mut recorder);
                jumped.map_err(CannotStep::Step)?
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
        let step = self.commit_step(&record, moment);
        if !step.changed.is_empty() {
            // A context that can't be read back would leave a run that no event can move.
            Datum::from_json(&self.before.to_string()).map_err(CannotStep::Data)?;
        }
        Ok((outcome, step))
    }

    /// Commits the context, and describes the step by names.
    fn commit_step(&mut self, record: &Record, moment: Moment<'_>) -> StepRecord {
        let table = self.workflow.table();
        let Instance::Running(machine) = &mut self.instance else {
            return StepRecord::default();
        };
        let host = machine.host_mut();
        host.data.commit();
        let effects = std::mem::take(&mut host.effects);
        let armed = std::mem::take(&mut host.timers);
        let after = host.data.to_datum();
        let changed = changes(&self.before, &after);
        self.before = after;
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
        StepRecord {
            steps: steps.collect(),
            absent,
            effects: effects.collect(),
            changed,
            timers: timers.collect(),
            leaves: configuration.leaves().map(|id| state(&id)).collect(),
            history: history.collect(),
            ended: end_verdict(table, configuration),
        }
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

    fn value(&self, field: FieldId) -> Option<Value> {
        let datum = self.machine()?.host().data().get(field).to_datum().ok()?;
        serde_json::from_str(&datum.to_string()).ok()
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

/// Returns the top-level fields that differ. A machine can't remove a field.
fn changes(before: &Datum, after: &Datum) -> Map<String, Value> {
    let (Datum::Object(before), Datum::Object(after)) = (before, after) else {
        return Map::new();
    };
    let changed = after
        .iter()
        .filter(|(key, value)| before.get(*key) != Some(value));
    changed
        // INVARIANT: a datum writes itself as JSON.
        .filter_map(|(key, value)| {
            Some((key.clone(), serde_json::from_str(&value.to_string()).ok()?))
        })
        .collect()
}

/// The host of a run's machine: it holds the data, and collects effects and timers.
#[derive(Clone, Debug)]
pub struct RunHost {
    data: Data,
    effects: Vec<ActionId>,
    timers: Vec<(TimerId, Option<u64>)>,
    /// The assignments of the last step, in order.
    assigned: Vec<(FieldId, Datum)>,
    /// The answers to guards without an expression, where somebody gives them.
    answers: Option<BTreeMap<GuardId, bool>>,
    /// The guards of the last step without an expression and without an answer.
    unanswered: BTreeSet<GuardId>,
}

impl RunHost {
    fn new(workflow: &Workflow, context: &Map<String, Value>) -> Result<Self, CannotStep> {
        Ok(Self {
            data: read_context(workflow, context)?,
            effects: Vec::new(),
            timers: Vec::new(),
            assigned: Vec::new(),
            answers: None,
            unanswered: BTreeSet::new(),
        })
    }

    /// Returns the assignments of the last step, in order.
    #[must_use]
    pub fn assigned(&self) -> &[(FieldId, Datum)] {
        &self.assigned
    }

    /// Returns the guards of the last step that nobody has answered.
    #[must_use]
    pub const fn unanswered(&self) -> &BTreeSet<GuardId> {
        &self.unanswered
    }

    /// Returns the machine's data.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }
}

fn read_context(workflow: &Workflow, context: &Map<String, Value>) -> Result<Data, CannotStep> {
    let text = serde_json::to_string(context).unwrap_or_default();
    let data = Data::from_json(workflow.table(), &text).map_err(CannotStep::Data)?;
    Ok(data.with_merge(workflow.merge().clone()))
}

impl Host for RunHost {
    fn guard(&mut self, guard: GuardId) -> bool {
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
        if let Ok(datum) = value.to_datum() {
            self.assigned.push((field, datum));
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
        self.assigned.clear();
    }
}
