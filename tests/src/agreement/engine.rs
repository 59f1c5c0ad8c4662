//! The engines under test, behind one trait.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Action, Field, HostGuard, Machine, Timer};
use statemark_compiler::valid::Valid;
use statemark_runtime::{
    ActionError, ActionId, Cause, Configuration, EventId, FailedStart, FieldId, GuardId, Outcome,
    Record, Recorder, StepError, Table, TimerId, Value,
};

use super::Case;
use super::world::{World, datum};
use crate::naive::{self, Datum, Failure, Interpreter};
use crate::random::Chance;

/// Most microsteps of a step where that can be set. Unit: microsteps. Why: many random machines run in circles, and time
/// is better spent elsewhere.
pub(super) const LIMIT: u32 = 40;

/// What became of a step, and its record.
pub(super) type Told = (Result<Outcome, Failure>, Record);

/// What comes from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Send(usize),
    Elapse(usize),
}

impl Step {
    pub(super) fn random(machine: &Machine, chance: &mut Chance) -> Self {
        let timers = machine.timers.len();
        if timers > 0 && chance.percent(30) {
            return Self::Elapse(chance.below(timers));
        }
        // Most can be sent; the others are refused, which must be so everywhere.
        let events = machine.events.iter();
        let named =
            events.filter(|(_, event)| event.kind == statemark_compiler::ir::EventKind::Named);
        let named: Vec<usize> = named.map(|(handle, _)| handle.index()).collect();
        if chance.percent(97) {
            return Self::Send(chance.pick(&named).unwrap());
        }
        Self::Send(chance.below(machine.events.len()))
    }

    pub(super) fn show(self, machine: &Machine) -> String {
        match self {
            Self::Send(event) => machine.events.at(Handle::at(event)).id.clone(),
            Self::Elapse(timer) => format!("{} elapses", machine.timers.at(Handle::at(timer)).name),
        }
    }
}

/// A running machine.
pub(super) trait Engine {
    fn step(&mut self, step: Step) -> Told;
    /// The active states without active children, in document order.
    fn leaves(&mut self) -> Vec<usize>;
    fn is_ended(&mut self) -> bool;
    fn world(&mut self) -> &mut World;
    /// The next step begins.
    fn next(&mut self) {
        self.world().next();
    }
    /// Between two steps an engine may be put away and taken out again.
    fn pause(&mut self) {}
}

pub(super) struct Naive<'m> {
    interpreter: Interpreter<'m, World>,
}

impl<'m> Naive<'m> {
    /// An interpreter that takes so many microsteps at most in a step.
    pub(super) fn start(case: &Case, valid: &'m Valid, limit: u32) -> (Self, Told) {
        let world = World::new(&case.machine, case.seed);
        let (mut interpreter, told) = Interpreter::interpret(valid, world, limit);
        interpreter.host.settle();
        (Self { interpreter }, told)
    }

    pub(super) fn set_limit(&mut self, limit: u32) {
        self.interpreter.limit = limit;
    }
}

impl Engine for Naive<'_> {
    fn step(&mut self, step: Step) -> Told {
        let told = match step {
            Step::Send(event) => self.interpreter.send(Handle::at(event)),
            Step::Elapse(timer) => self.interpreter.elapse(Handle::at(timer)),
        };
        self.interpreter.host.settle();
        told
    }

    fn leaves(&mut self) -> Vec<usize> {
        self.interpreter.leaves()
    }

    fn is_ended(&mut self) -> bool {
        self.interpreter.is_ended()
    }

    fn world(&mut self) -> &mut World {
        &mut self.interpreter.host
    }
}

impl naive::Host for World {
    fn guard(&mut self, guard: Handle<HostGuard>) -> bool {
        World::guard(self, guard.index())
    }

    fn action(&mut self, action: Handle<Action>) {
        self.act(action.index());
    }

    fn try_action(&mut self, action: Handle<Action>) -> bool {
        self.try_act(action.index()).is_ok()
    }

    fn field(&self, field: Handle<Field>) -> Datum {
        self.datum(field.index())
    }

    fn assign(&mut self, field: Handle<Field>, value: Datum) {
        World::assign(self, field.index(), value);
    }

    fn schedule(&mut self, timer: Handle<Timer>, delay: u64) {
        World::schedule(self, timer.index(), delay);
    }

    fn cancel(&mut self, timer: Handle<Timer>) {
        World::cancel(self, timer.index());
    }

    fn begin(&mut self) {
        World::begin(self);
    }

    fn rollback(&mut self) {
        World::rollback(self);
    }
}

/// The table engine's host.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked(World);

impl statemark_runtime::Host for Asked {
    fn guard(&mut self, guard: GuardId) -> bool {
        self.0.guard(guard.index())
    }

    fn action(&mut self, action: ActionId) {
        self.0.act(action.index());
    }

    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        let carried_out = self.0.try_act(action.index());
        carried_out.map_err(|before| before.to_string().into())
    }

    fn field(&self, field: FieldId) -> Value<'_> {
        self.0.field(field.index())
    }

    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        self.0.assign(field.index(), datum(value));
    }

    fn schedule(&mut self, timer: TimerId, delay: u64) {
        self.0.schedule(timer.index(), delay);
    }

    fn cancel(&mut self, timer: TimerId) {
        self.0.cancel(timer.index());
    }

    fn begin(&mut self) {
        self.0.begin();
    }

    fn rollback(&mut self) {
        self.0.rollback();
    }
}

/// Compares what an engine says of a failed action with what its world knows.
fn check_failure(told: Option<ActionError<ActionId, Cause>>, world: &World) {
    let told = told.map(|failure| {
        let done = failure.done.iter().map(|action| action.index());
        let cause = failure.cause.to_string().parse().unwrap();
        (failure.action.index(), cause, done.collect())
    });
    assert_eq!(told, world.failure(), "the action that failed");
}

/// The engine that steps tables, twice: watched, for its records, and unwatched, where it may take shortcuts.
pub(super) struct ByTable<'t> {
    watched: statemark_runtime::Machine<'t, Asked>,
    unwatched: statemark_runtime::Machine<'t, Asked>,
    recorder: Recorder,
}

impl<'t> ByTable<'t> {
    /// No engine if the start failed.
    pub(super) fn start(case: &Case, table: &'t Table) -> (Option<Self>, Told) {
        let mut recorder = Recorder::new();
        let host = Asked(World::new(&case.machine, case.seed));
        let checked = |failed: FailedStart<Asked>| {
            check_failure(failed.failure, &failed.host.0);
            failed.error
        };
        let unwatched = statemark_runtime::Machine::try_start(table, host.clone(), &mut ());
        let unwatched = unwatched.map_err(checked);
        let started = statemark_runtime::Machine::try_start(table, host, &mut recorder);
        let started = started.map_err(checked);
        let outcome = match &started {
            Ok(machine) if machine.is_ended() => Ok(Outcome::Ended),
            Ok(_) => Ok(Outcome::Taken),
            Err(fault) => Err(failure(fault)),
        };
        let record = recorder.finish(None, outcome.unwrap_or(Outcome::Ignored));
        assert_eq!(
            started.as_ref().err(),
            unwatched.as_ref().err(),
            "the start unwatched"
        );
        let mut engine = started
            .ok()
            .zip(unwatched.ok())
            .map(|(watched, unwatched)| Self {
                watched,
                unwatched,
                recorder,
            });
        if let Some(engine) = &mut engine {
            engine.watched.set_step_limit(LIMIT);
            engine.unwatched.set_step_limit(LIMIT);
            engine.compare();
        }
        (engine, (outcome, record))
    }

    /// Whoever watches changes nothing.
    fn compare(&mut self) {
        let (watched, unwatched) = (&mut self.watched, &mut self.unwatched);
        assert_eq!(
            watched.configuration(),
            unwatched.configuration(),
            "the configuration unwatched"
        );
        watched.host_mut().0.settle();
        unwatched.host_mut().0.settle();
        assert_eq!(watched.host(), unwatched.host(), "the world unwatched");
        for machine in [watched, unwatched] {
            check_failure(machine.take_failure(), &machine.host().0);
        }
    }

    fn send(&mut self, event: EventId) -> Result<Outcome, StepError> {
        let can = self.unwatched.can(event);
        let unwatched = self.unwatched.send(event);
        let watched = self.watched.send_observed(event, &mut self.recorder);
        assert_eq!(watched, unwatched, "the outcome unwatched");
        let refused = matches!(
            watched,
            Err(StepError::Ended | StepError::NotAnEvent(_) | StepError::Ambiguous { .. })
        );
        assert_eq!(
            can,
            watched != Ok(Outcome::Ignored) && !refused,
            "what `can` says"
        );
        watched
    }

    fn elapse(&mut self, timer: TimerId) -> Result<Outcome, StepError> {
        let unwatched = self.unwatched.elapse(timer);
        let watched = self.watched.elapse_observed(timer, &mut self.recorder);
        assert_eq!(watched, unwatched, "the outcome unwatched");
        watched
    }
}

impl Engine for ByTable<'_> {
    fn step(&mut self, step: Step) -> Told {
        let (event, outcome) = match step {
            Step::Send(event) => {
                let event = EventId::from_index(event).unwrap();
                (event, self.send(event))
            }
            Step::Elapse(timer) => {
                let timer = TimerId::from_index(timer).unwrap();
                let event = self.watched.table().timer(timer).unwrap().event;
                (event, self.elapse(timer))
            }
        };
        self.compare();
        let outcome = outcome.map_err(|fault| failure(&fault));
        let record = self
            .recorder
            .finish(Some(event), outcome.unwrap_or(Outcome::Ignored));
        (outcome, record)
    }

    fn leaves(&mut self) -> Vec<usize> {
        let leaves = self.watched.configuration().leaves();
        leaves.map(|leaf| leaf.index()).collect()
    }

    fn is_ended(&mut self) -> bool {
        self.watched.is_ended()
    }

    fn world(&mut self) -> &mut World {
        &mut self.watched.host_mut().0
    }

    fn next(&mut self) {
        self.watched.host_mut().0.next();
        self.unwatched.host_mut().0.next();
    }

    /// Leaves and histories as plain numbers are enough to go on.
    fn pause(&mut self) {
        let table = self.watched.table();
        let before = self.watched.configuration();
        let leaves: Vec<_> = before.leaves().collect();
        let mut configuration = Configuration::from_leaves(table, &leaves).unwrap();
        for (history, states) in before.history() {
            configuration = configuration.record(table, history, states).unwrap();
        }
        assert_eq!(configuration, *before);
        let host = self.watched.host().clone();
        self.watched = statemark_runtime::Machine::restore(table, host, configuration).unwrap();
        self.watched.set_step_limit(LIMIT);
    }
}

/// The runtime's error as the interpreter's.
pub(super) fn failure(fault: &StepError) -> Failure {
    match fault {
        StepError::StepLimit { .. } => Failure::StepLimit,
        StepError::RaiseLimit => Failure::RaiseLimit,
        StepError::Ended => Failure::Ended,
        StepError::NotAnEvent(_) => Failure::NotAnEvent,
        StepError::Ambiguous { state, .. } => Failure::Ambiguous(Handle::at(state.index())),
        StepError::NoValue(action) => Failure::Execution(Handle::at(action.index())),
        StepError::ActionFailed(action) => Failure::Action(Handle::at(action.index())),
        other => panic!("another failure: {other:?}"),
    }
}
