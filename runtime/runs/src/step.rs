//! One macrostep of a run: the machine is put where the fold says it is, takes an event, and is asked what it did.
//!
//! Nothing is carried out here and nothing is kept: out comes a [`StepRecord`], and the journal is the only truth.

use std::fmt;

use serde_json::{Map, Value};
use statemark_runtime::{
    ActionId, Candidate, Configuration, Data, Datum, EventId, FieldId, Host, JsonError, Machine,
    Outcome, Record, Recorder, RestoreError, StateId, StateKind, StepError, Table, TimerId,
    Verdict, evaluate,
};

use crate::body::{Arming, EffectKey, Microstep, StepRecord};
use crate::fold::RunState;
use crate::id::RunId;
use crate::workflow::Workflow;

/// What moves the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move<'m> {
    /// It begins.
    Start,
    /// An event.
    Event(EventId),
    /// An event that concerns this state: what the run that it invoked has come to.
    Outcome(EventId, StateId),
    /// A timer was due.
    Timer(TimerId),
    /// These states are entered, by no transition.
    Jump(&'m [StateId]),
}

/// When and where a step is made.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'r> {
    /// The run.
    pub run: &'r RunId,
    /// The record that will say so: effects are named by it.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub now: u64,
}

/// Why no step could be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum CannotStep {
    /// A leaf or a history that the table doesn't have.
    UnknownState {
        /// Its name.
        name: String,
    },
    /// What the journal says isn't a configuration of the table's machine.
    Configuration(RestoreError),
    /// The data can't be kept by a machine.
    Data(JsonError),
    /// The machine refuses or fails.
    Step(StepError),
    /// A machine that runs was started, or one that doesn't was sent an event.
    Misplaced,
}

impl fmt::Display for CannotStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownState { name } => write!(out, "the table has no state `{name}`"),
            Self::Configuration(error) => error.fmt(out),
            Self::Data(error) => write!(out, "the data can't be kept: {error}"),
            Self::Step(error) => error.fmt(out),
            Self::Misplaced => out.write_str("the machine isn't where this step begins"),
        }
    }
}

impl std::error::Error for CannotStep {}

/// Where a machine is.
enum Place<'w> {
    /// It hasn't begun; or it failed to, and is gone.
    Fresh(Option<RunHost>),
    /// Somewhere.
    Running(Machine<'w, RunHost>),
}

/// The machine of a run, where the fold says it is.
pub struct Stepper<'w> {
    workflow: &'w Workflow,
    place: Place<'w>,
    before: Datum,
}

impl<'w> Stepper<'w> {
    /// A machine that hasn't begun, with this context.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn fresh(workflow: &'w Workflow, context: &Map<String, Value>) -> Result<Self, CannotStep> {
        let host = RunHost::new(workflow, context)?;
        Ok(Self {
            before: host.data.to_datum(),
            place: Place::Fresh(Some(host)),
            workflow,
        })
    }

    /// A machine in the state of a run.
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
            place: Place::Running(machine),
            workflow,
        })
    }

    /// What could be taken next, if an event came with that data. Guards are asked, nothing is done; the data can be read
    /// until the next call.
    ///
    /// # Errors
    ///
    /// [`CannotStep::Data`].
    pub fn candidates(&mut self, data: Option<&Value>) -> Result<Vec<Candidate>, CannotStep> {
        let Place::Running(machine) = &mut self.place else {
            return Ok(Vec::new());
        };
        machine.host_mut().data.rollback();
        if let Some(data) = data {
            machine.host_mut().data.receive(datum(data)?);
        }
        Ok(machine.candidates())
    }

    /// The machine, if it has begun.
    #[must_use]
    pub const fn machine(&self) -> Option<&Machine<'w, RunHost>> {
        match &self.place {
            Place::Running(machine) => Some(machine),
            Place::Fresh(_) => None,
        }
    }

    /// Whether a part of a guard is true, by the data of the last [`Stepper::candidates`]: a range of the table's code.
    pub(crate) fn holds(&mut self, code: &std::ops::Range<u32>) -> bool {
        let Place::Running(machine) = &mut self.place else {
            return false;
        };
        let configuration = machine.configuration().clone();
        let host = machine.host_mut();
        let table = self.workflow.table();
        let value = evaluate(table, code, &configuration, host, &mut Recorder::new());
        matches!(value, Ok(Datum::Bool(true)))
    }

    /// Makes one macrostep.
    ///
    /// # Errors
    ///
    /// The machine refuses the event, or fails; or the data would grow beyond what a machine can be given. Nothing has
    /// changed then, but the machine has gone on: it is of no more use.
    pub fn step(
        &mut self,
        moves: Move<'_>,
        data: Option<&Value>,
        moment: Moment<'_>,
    ) -> Result<(Outcome, StepRecord), CannotStep> {
        let mut recorder = Recorder::new();
        let data = data.map(datum).transpose()?;
        let outcome = match (moves, &mut self.place) {
            (Move::Start, Place::Fresh(host)) => {
                let host = host.take().ok_or(CannotStep::Misplaced)?;
                let machine = Machine::start_observed(self.workflow.table(), host, &mut recorder)
                    .map_err(CannotStep::Step)?;
                let ended = machine.is_ended();
                self.place = Place::Running(machine);
                if ended {
                    Outcome::Ended
                } else {
                    Outcome::Taken
                }
            }
            (Move::Event(event), Place::Running(machine)) => {
                machine.host_mut().data.receive(data.unwrap_or_default());
                let sent = machine.send_observed(event, &mut recorder);
                sent.map_err(CannotStep::Step)?
            }
            (Move::Outcome(event, state), Place::Running(machine)) => {
                machine.host_mut().data.receive(data.unwrap_or_default());
                let states = concerned(self.workflow.table(), event, state);
                let sent = machine.send_to_observed(event, &states, &mut recorder);
                sent.map_err(CannotStep::Step)?
            }
            (Move::Timer(timer), Place::Running(machine)) => {
                let sent = machine.elapse_observed(timer, &mut recorder);
                sent.map_err(CannotStep::Step)?
            }
            (Move::Jump(targets), Place::Running(machine)) => {
                let jumped = machine.jump_observed(targets, &mut recorder);
                jumped.map_err(CannotStep::Step)?
            }
            (Move::Start, Place::Running(_)) | (_, Place::Fresh(_)) => {
                return Err(CannotStep::Misplaced);
            }
        };
        if outcome == Outcome::Ignored
            && let Place::Running(machine) = &mut self.place
        {
            // The event's data was merged for its guards' sake only.
            machine.host_mut().data.rollback();
        }
        let record = recorder.finish(None, outcome);
        let told = self.told(&record, moment);
        if !told.changed.is_empty() {
            // What can't be read back would leave a run that nothing moves any more.
            Datum::from_json(&self.before.to_string()).map_err(CannotStep::Data)?;
        }
        Ok((outcome, told))
    }

    /// What a step did, by names.
    fn told(&mut self, record: &Record, moment: Moment<'_>) -> StepRecord {
        let table = self.workflow.table();
        let Place::Running(machine) = &mut self.place else {
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
            ended: ending(table, configuration),
        }
    }
}

/// The states that the outcome of an invoked run concerns, in the order in which they are asked: the one that invoked it,
/// then those around it. Success ends at the region that it stands in, so that one run never completes two regions; a
/// failure is a matter of whatever is around, too.
fn concerned(table: &Table, event: EventId, state: StateId) -> Vec<StateId> {
    let within_region = table.event_name(event) == "done";
    let is_parallel = |state: &StateId| {
        let row = table.state(*state);
        row.is_some_and(|row| row.kind == StateKind::Parallel)
    };
    let around = table.chain(state).skip(1);
    let around = around.take_while(|it| !(within_region && is_parallel(it)));
    std::iter::once(state).chain(around).collect()
}

/// If the machine has ended: whether that is a success.
fn ending(table: &Table, configuration: &Configuration) -> Option<bool> {
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

/// JSON as a machine keeps it: integers are exact.
fn datum(value: &Value) -> Result<Datum, CannotStep> {
    Datum::from_json(&value.to_string()).map_err(CannotStep::Data)
}

/// The fields at the top that differ. None goes away: a machine can't remove one.
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

/// What a machine of a run asks and does: it reads data, and its effects and timers are noted.
#[derive(Debug)]
pub struct RunHost {
    data: Data,
    effects: Vec<ActionId>,
    timers: Vec<(TimerId, Option<u64>)>,
}

impl RunHost {
    fn new(workflow: &Workflow, context: &Map<String, Value>) -> Result<Self, CannotStep> {
        let text = serde_json::to_string(context).unwrap_or_default();
        let data = Data::from_json(workflow.table(), &text).map_err(CannotStep::Data)?;
        Ok(Self {
            data: data.with_merge(workflow.merge().clone()),
            effects: Vec::new(),
            timers: Vec::new(),
        })
    }

    /// The value of a field.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }
}

impl Host for RunHost {
    fn action(&mut self, action: ActionId) {
        self.effects.push(action);
    }

    fn field(&self, field: FieldId) -> statemark_runtime::Value<'_> {
        self.data.field(field)
    }

    fn assign(&mut self, field: FieldId, value: statemark_runtime::Value<'_>) {
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
    }
}
