//! Appendix D: the main loop.
//!
//! SCXML's interpreter runs in a thread of its own and waits for external events; here each is a call of
//! [`Interpreter::send`], one turn of the main loop.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Action, Event, EventKind, Machine, State, Timer, Transition};
use statemark_runtime::{
    EventId, MAX_RAISED, Observer as _, Outcome, Record, Recorder, TransitionId,
};

use super::Host;

/// A machine that is interpreted, with SCXML's global variables.
#[derive(Debug)]
pub(crate) struct Interpreter<'m, H> {
    pub(super) machine: &'m Machine,
    pub(crate) host: H,
    pub(super) configuration: BTreeSet<Handle<State>>,
    pub(super) history_value: BTreeMap<Handle<State>, Vec<Handle<State>>>,
    pub(super) internal_queue: VecDeque<Handle<Event>>,
    pub(super) running: bool,
    pub(super) recorder: Recorder,
    /// Most microsteps in a macrostep.
    pub(crate) limit: u32,
    /// How many events were raised in this macrostep, those that are done with included.
    pub(super) raised_so_far: usize,
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    StepLimit,
    RaiseLimit,
    Ended,
    NotAnEvent,
    /// The label leads to several places from this state.
    Ambiguous(Handle<State>),
    /// An assignment had no value, and the machine has no `error.execution`.
    Execution(Handle<Action>),
    /// The host could not carry out an action.
    Action(Handle<Action>),
}

/// What became of a macrostep, and what was seen of it.
pub(crate) type Told = (Result<Outcome, Failure>, Record);

impl<'m, H: Host> Interpreter<'m, H> {
    /// Appendix D, `interpret(doc)`: enters the initial configuration, then comes to rest. No macrostep takes more than
    /// `limit` microsteps.
    pub(crate) fn interpret(machine: &'m Machine, host: H, limit: u32) -> (Self, Told) {
        let mut interpreter = Self {
            machine,
            host,
            configuration: BTreeSet::from([machine.root()]),
            history_value: BTreeMap::new(),
            internal_queue: VecDeque::new(),
            running: true,
            recorder: Recorder::new(),
            limit,
            raised_so_far: 0,
        };
        let told = interpreter.macrostep(None, Self::begin_machine);
        (interpreter, told)
    }

    /// The machine's initial transition: its actions first, since the root itself isn't entered.
    fn begin_machine(&mut self) -> Result<Outcome, Failure> {
        let root = self.machine.states.at(self.machine.root());
        self.execute_content(&root.initial.as_ref().unwrap().actions)?;
        self.enter_initial_states()?;
        self.main_event_loop(0)
    }

    /// An external event.
    pub(crate) fn send(&mut self, event: Handle<Event>) -> Told {
        let may_be_sent = matches!(
            self.machine.events.at(event).kind,
            EventKind::Named | EventKind::Unknown
        );
        let mut ambiguities = self.machine.ambiguities.iter();
        let ambiguous =
            ambiguities.find(|it| it.label == event && self.configuration.contains(&it.source));
        let ambiguous = ambiguous.map(|it| Failure::Ambiguous(it.source));
        self.external(
            event,
            (!may_be_sent).then_some(Failure::NotAnEvent).or(ambiguous),
        )
    }

    /// A timer's event.
    pub(crate) fn elapse(&mut self, timer: Handle<Timer>) -> Told {
        self.external(self.machine.timers.at(timer).event, None)
    }

    fn external(&mut self, event: Handle<Event>, refused: Option<Failure>) -> Told {
        self.macrostep(Some(event), |interpreter| {
            if !interpreter.running {
                return Err(Failure::Ended);
            }
            if let Some(refused) = refused {
                return Err(refused);
            }
            let enabled_transitions = interpreter.select_transitions(event);
            if enabled_transitions.is_empty() {
                return Ok(Outcome::Ignored);
            }
            interpreter.microstep(&enabled_transitions)?;
            interpreter.main_event_loop(1)
        })
    }

    /// One macrostep as one change: if it fails, all is as it was before.
    fn macrostep(
        &mut self,
        event: Option<Handle<Event>>,
        steps: impl FnOnce(&mut Self) -> Result<Outcome, Failure>,
    ) -> Told {
        let before = (
            self.configuration.clone(),
            self.history_value.clone(),
            self.running,
        );
        self.host.begin();
        self.internal_queue.clear();
        self.raised_so_far = 0;
        let outcome = steps(self);
        if outcome.is_err() {
            (self.configuration, self.history_value, self.running) = before;
            self.host.rollback();
        }
        let event = event.map(|event| EventId::from_index(event.index()).unwrap());
        let record = self
            .recorder
            .finish(event, outcome.unwrap_or(Outcome::Ignored));
        (outcome, record)
    }

    /// Appendix D, `mainEventLoop()`, its inner loop: eventless transitions first, then events from the internal queue,
    /// until there is neither. `taken` microsteps were before.
    fn main_event_loop(&mut self, taken: u32) -> Result<Outcome, Failure> {
        let mut taken = taken;
        while self.running {
            if self.raised_so_far > MAX_RAISED {
                return Err(Failure::RaiseLimit);
            }
            let mut enabled_transitions = self.select_eventless_transitions();
            if enabled_transitions.is_empty() {
                let Some(internal_event) = self.internal_queue.pop_front() else {
                    return Ok(Outcome::Taken);
                };
                enabled_transitions = self.select_transitions(internal_event);
            }
            if enabled_transitions.is_empty() {
                continue;
            }
            if taken == self.limit {
                return Err(Failure::StepLimit);
            }
            taken += 1;
            self.microstep(&enabled_transitions)?;
        }
        self.exit_interpreter();
        Ok(Outcome::Ended)
    }

    /// Appendix D, `exitInterpreter()`. Not as there: an ended machine stays where it ended, so that it can be asked
    /// how; nothing is left, and no exit action runs. Only what is still queued is dropped.
    fn exit_interpreter(&mut self) {
        self.internal_queue.clear();
    }

    /// Appendix D, `microstep(enabledTransitions)`.
    fn microstep(&mut self, enabled_transitions: &[Handle<Transition>]) -> Result<(), Failure> {
        self.recorder.microstep();
        for t in enabled_transitions {
            self.recorder
                .transition(TransitionId::from_index(t.index()).unwrap());
        }
        self.exit_states(enabled_transitions)?;
        self.execute_transition_content(enabled_transitions)?;
        self.enter_states(enabled_transitions)
    }

    /// The active states without active children, in document order.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        let leaves = self.configuration.iter().copied();
        leaves
            .filter(|&state| super::tree::is_atomic(self.machine, state))
            .map(Handle::index)
            .collect()
    }

    /// Whether the machine has ended.
    pub(crate) fn is_ended(&self) -> bool {
        !self.running
    }
}
