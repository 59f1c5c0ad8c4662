//! Records: the effects of a step, as plain data.
//!
//! The same table, configuration, context and events give the same records, on every engine. A [`Record`] is made by a
//! [`Recorder`], which is an [`Observer`]: who doesn't ask for records doesn't pay for them.

use alloc::vec::Vec;

use crate::host::Observer;
use crate::id::{ActionId, EventId, FieldId, StateId, TransitionId};

/// The outcome of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an event that no transition takes is `Outcome::Ignored`, and no error: ask `is_taken()`"]
#[non_exhaustive]
pub enum Outcome {
    /// At least one transition was taken.
    Taken,
    /// No transition was enabled. The configuration is as it was.
    Ignored,
    /// A transition was taken, and the machine has reached a top-level final state.
    Ended,
}

impl Outcome {
    /// Returns whether a transition was taken. An event that is ignored is no error.
    ///
    /// ```
    /// use statemark_runtime::Outcome;
    ///
    /// assert!(Outcome::Ended.is_taken() && !Outcome::Ignored.is_taken());
    /// ```
    #[must_use]
    pub const fn is_taken(self) -> bool {
        !matches!(self, Self::Ignored)
    }
}

/// One microstep: transitions that were taken together, with what they left, did and entered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Microstep {
    /// The transitions taken, in the order of selection.
    /// There is one, or one for each of several regions; none for the entry into the initial configuration.
    pub transitions: Vec<TransitionId>,
    /// The states left, in order: descendants first.
    pub exited: Vec<StateId>,
    /// The actions carried out, in order.
    pub actions: Vec<ActionId>,
    /// The states entered, in order: ancestors first.
    pub entered: Vec<StateId>,
    /// The events raised, in order.
    pub raised: Vec<EventId>,
}

/// One macrostep: all that one event did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The event sent; `None` for the start of the machine.
    pub event: Option<EventId>,
    /// The outcome.
    pub outcome: Outcome,
    /// The microsteps, in order; none where the event was ignored.
    pub steps: Vec<Microstep>,
    /// The fields that a guard wanted to read and that are absent, in the order of asking.
    pub absent: Vec<FieldId>,
}

/// Makes a [`Record`] of what it observes.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    steps: Vec<Microstep>,
    absent: Vec<FieldId>,
    /// True if a microstep has begun and nothing but its transitions is seen yet.
    selecting: bool,
}

impl Recorder {
    /// Returns a recorder without observations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the record of all observations since the last call.
    pub fn finish(&mut self, event: Option<EventId>, outcome: Outcome) -> Record {
        self.selecting = false;
        Record {
            event,
            outcome,
            steps: core::mem::take(&mut self.steps),
            absent: core::mem::take(&mut self.absent),
        }
    }

    /// Returns the microstep under way; the start of a machine begins one without a transition.
    fn step(&mut self) -> Option<&mut Microstep> {
        self.selecting = false;
        if self.steps.is_empty() {
            self.steps.push(Microstep::default());
        }
        self.steps.last_mut()
    }
}

impl Observer for Recorder {
    fn microstep(&mut self) {
        self.steps.push(Microstep::default());
        self.selecting = true;
    }

    fn transition(&mut self, transition: TransitionId) {
        if !self.selecting {
            self.microstep();
        }
        if let Some(step) = self.steps.last_mut() {
            step.transitions.push(transition);
        }
    }

    fn exited(&mut self, state: StateId) {
        if let Some(step) = self.step() {
            step.exited.push(state);
        }
    }

    fn action(&mut self, action: ActionId) {
        if let Some(step) = self.step() {
            step.actions.push(action);
        }
    }

    fn entered(&mut self, state: StateId) {
        if let Some(step) = self.step() {
            step.entered.push(state);
        }
    }

    fn raised(&mut self, event: EventId) {
        if let Some(step) = self.step() {
            step.raised.push(event);
        }
    }

    fn absent(&mut self, field: FieldId) {
        self.selecting = false;
        self.absent.push(field);
    }
}
