//! Generated Rust: the modules that the build script wrote, behind the trait of engines.
//!
//! A twin of each machine takes the same steps, and nobody observes it: steps that are looked up are its alone. It must
//! come to the same outcomes, snapshots and worlds.

use statemark_runtime::{
    ActionId, EventId, Observer, Outcome, Recorder, StateId, StepError, StepFailure, Value,
};

use super::Case;
use super::engine::{Engine, Step, Told, failure};
use super::world::{World, datum};
use crate::naive::Failure;

/// A generated machine that runs.
pub(super) struct Generated<M> {
    machine: M,
    twin: M,
    recorder: Recorder,
    /// The event of each timer.
    timers: Vec<EventId>,
}

impl<M: Module> Generated<M> {
    /// No engine if the start failed.
    pub(super) fn start(case: &Case) -> (Option<Self>, Told) {
        let world = World::new(&case.machine, case.seed);
        let timers = case.machine.timers.iter();
        let timers = timers.map(|(_, timer)| EventId::from_index(timer.event.index()).unwrap());
        let mut recorder = Recorder::new();
        let started = M::start(world, &mut recorder);
        let outcome = match &started {
            Ok(machine) if machine.ended() => Ok(Outcome::Ended),
            Ok(_) => Ok(Outcome::Taken),
            Err(failed) => Err(failure(&failed.error)),
        };
        let record = recorder.finish(None, outcome.unwrap_or(Outcome::Ignored));
        let twin = M::start(World::new(&case.machine, case.seed), &mut ());
        let engine = started.ok().map(|mut machine| {
            machine.host().settle();
            machine.look();
            Self {
                machine,
                twin: twin.expect("a twin starts where its machine does"),
                recorder,
                timers: timers.collect(),
            }
        });
        (engine, (outcome, record))
    }
}

impl<M: Module> Engine for Generated<M> {
    fn step(&mut self, step: Step) -> Told {
        *self.twin.host() = self.machine.host().clone();
        let (event, outcome, unobserved) = match step {
            Step::Send(event) => {
                let event = EventId::from_index(event).unwrap();
                let outcome = self.machine.send(event, &mut self.recorder);
                (event, outcome, self.twin.send(event, &mut ()))
            }
            Step::Elapse(timer) => {
                let outcome = self.machine.elapse(timer, &mut self.recorder);
                let unobserved = self.twin.elapse(timer, &mut ());
                (self.timers[timer], Some(outcome), Some(unobserved))
            }
        };
        assert_eq!(unobserved, outcome, "nobody observes {event:?}");
        let outcome = match outcome {
            Some(outcome) => {
                let failed = outcome.as_ref().err();
                let action = failed.and_then(|failed| failed.action.clone());
                assert_eq!(
                    action,
                    self.machine.host().failure(),
                    "the action that failed"
                );
                outcome.map_err(|failed| failure(&failed.error))
            }
            // Its type has no such event.
            None if self.machine.ended() => Err(Failure::Ended),
            None => Err(Failure::NotAnEvent),
        };
        for machine in [&mut self.machine, &mut self.twin] {
            machine.host().settle();
            machine.look();
        }
        assert_eq!(self.twin.snapshot_text(), self.machine.snapshot_text());
        assert_eq!(self.twin.leaves(), self.machine.leaves());
        assert_eq!(self.twin.ended(), self.machine.ended());
        assert_eq!(self.twin.host(), self.machine.host());
        let record = self
            .recorder
            .finish(Some(event), outcome.unwrap_or(Outcome::Ignored));
        (outcome, record)
    }

    fn leaves(&mut self) -> Vec<usize> {
        let leaves = self.machine.leaves().into_iter();
        leaves.map(StateId::index).collect()
    }

    fn is_ended(&mut self) -> bool {
        self.machine.ended()
    }

    fn world(&mut self) -> &mut World {
        self.machine.host()
    }
}

/// What the tests do with a generated machine.
pub(super) trait Module: Sized {
    fn start<O: Observer>(world: World, observer: &mut O) -> Result<Self, Failed>;
    /// None if the module has no such event.
    fn send<O: Observer>(
        &mut self,
        event: EventId,
        observer: &mut O,
    ) -> Option<Result<Outcome, Failed>>;
    fn elapse<O: Observer>(&mut self, timer: usize, observer: &mut O) -> Result<Outcome, Failed>;
    /// The snapshot, with what histories have recorded.
    fn snapshot_text(&self) -> String;
    fn leaves(&self) -> Vec<StateId>;
    fn ended(&self) -> bool;
    fn host(&mut self) -> &mut World;
    /// Tells the world what a machine that has its data to itself holds.
    fn look(&mut self);
}

/// Tells the world what a machine that has its data to itself holds; written with the machine.
trait Look {
    fn look(&mut self);
}

/// What `new_observed` gives: a machine, or a result where the start can run on.
trait Started<M> {
    fn started(self) -> Result<M, Failed>;
}

impl<M, E: Into<Failed>> Started<M> for Result<M, E> {
    fn started(self) -> Result<M, Failed> {
        self.map_err(Into::into)
    }
}

/// The error of a step, and of a failed action its number, its cause and those of the actions before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failed {
    error: StepError,
    action: Option<(usize, usize, Vec<usize>)>,
}

impl<A: Numbered> From<StepError<A>> for Failed {
    fn from(error: StepError<A>) -> Self {
        Self {
            error: error.map_action(Numbered::id),
            action: None,
        }
    }
}

/// The enum `Action` of a module, by number.
trait Numbered: Copy {
    fn id(self) -> ActionId;
}

impl Numbered for ActionId {
    fn id(self) -> ActionId {
        self
    }
}

impl<A: Numbered> From<StepFailure<A, usize>> for Failed {
    fn from(failure: StepFailure<A, usize>) -> Self {
        match failure {
            StepFailure::Machine(error) => error.into(),
            StepFailure::Action(failure) => {
                let done = failure.done.iter().map(|action| action.id().index());
                Self {
                    error: StepError::ActionFailed(failure.action.id()),
                    action: Some((failure.action.id().index(), failure.cause, done.collect())),
                }
            }
            _ => panic!("another failure"),
        }
    }
}

/// In what the faces of generated machines differ: one state or several, and timers.
macro_rules! face {
    (one $name:ident) => {
        face!(one_leaf $name);
        face!(timeless $name);
    };
    (one_timed $name:ident) => {
        face!(one_leaf $name);
        face!(timed $name);
    };
    (regions $name:ident) => {
        face!(leaves $name);
        face!(timeless $name);
    };
    (regions_timed $name:ident) => {
        face!(leaves $name);
        face!(timed $name);
    };
    (one_leaf $name:ident) => {
        fn leaves(&self) -> Vec<StateId> {
            vec![self.state().id()]
        }
    };
    (leaves $name:ident) => {
        fn leaves(&self) -> Vec<StateId> {
            self.states().map(|state| state.id()).collect()
        }
    };
    (timed $name:ident) => {
        fn elapse<O: Observer>(
            &mut self,
            timer: usize,
            observer: &mut O,
        ) -> Result<Outcome, Failed> {
            self.elapse_observed($name::Timer::ALL[timer], observer)
                .map_err(Into::into)
        }
    };
    (timeless $name:ident) => {
        fn elapse<O: Observer>(&mut self, timer: usize, _: &mut O) -> Result<Outcome, Failed> {
            panic!("there is no timer {timer}")
        }
    };
}

macro_rules! engines {
    ($($face:ident $name:ident $seed:literal)*) => {
        $(
            impl Started<$name::Machine<World>> for $name::Machine<World> {
                fn started(self) -> Result<Self, Failed> {
                    Ok(self)
                }
            }

            impl Module for $name::Machine<World> {
                fn start<O: Observer>(world: World, observer: &mut O) -> Result<Self, Failed> {
                    Self::new_observed(world, observer).started()
                }

                fn send<O: Observer>(
                    &mut self,
                    event: EventId,
                    observer: &mut O,
                ) -> Option<Result<Outcome, Failed>> {
                    let event = $name::Event::ALL.iter().find(|other| other.id() == event)?;
                    Some(self.send_observed(*event, observer).map_err(Into::into))
                }

                face!($face $name);

                fn snapshot_text(&self) -> String {
                    format!("{:?}", self.snapshot())
                }

                fn ended(&self) -> bool {
                    self.is_ended()
                }

                fn host(&mut self) -> &mut World {
                    self.host_mut()
                }

                fn look(&mut self) {
                    Look::look(self);
                }
            }
        )*

        /// Every machine that was written: its seed, and what starts it.
        pub(super) const WRITTEN: &[(u64, super::Check)] = &[
            $(($seed, super::check_generated::<$name::Machine<World>>)),*
        ];
    };
}

include!(concat!(env!("OUT_DIR"), "/random.rs"));
