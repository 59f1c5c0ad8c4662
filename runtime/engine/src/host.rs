//! The surroundings of a machine: the [`Host`], which answers and acts, and the [`Observer`].
//!
//! The step algorithm calls both at the moments that SCXML's appendix D names, in its order. Both are static: a host
//! without guards or an observer that watches nothing costs no instruction.

use crate::failure::Cause;
use crate::id::{ActionId, EventId, FieldId, GuardId, StateId, TimerId, TransitionId};
use crate::value::Value;

/// Answers the questions that a machine asks, and does what it says.
///
/// Every method has a default, so that a machine without guards and actions runs on `()`.
pub trait Host {
    /// Reports whether the named guard holds now.
    /// The default fails closed.
    fn guard(&mut self, guard: GuardId) -> bool {
        let _ = guard;
        false
    }

    /// Carries out the action. Actions of one step come in order: exit, transition, entry.
    fn action(&mut self, action: ActionId) {
        let _ = action;
    }

    /// Carries out an action that the table lets fail, or says why it can't.
    ///
    /// A failure fails the step: what the machine owns is as it was before, and what the host has done in the step stays
    /// done. [`Machine::take_failure`](crate::Machine::take_failure) has the cause and lists those actions.
    /// The default carries it out by [`action`](Self::action).
    ///
    /// # Errors
    ///
    /// The action could not be carried out.
    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        self.action(action);
        Ok(())
    }

    /// Returns the value of a field of the context, or of the data of the current event.
    fn field(&self, field: FieldId) -> Value<'_> {
        let _ = field;
        Value::Absent
    }

    /// Changes a field of the context.
    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        let _ = (field, value);
    }

    /// Sends the timer's event after `delay` milliseconds, unless the timer is cancelled before.
    /// Time is the host's: it calls [`Machine::elapse`](crate::Machine::elapse) when the delay is over. A timer may be
    /// scheduled several times.
    fn schedule(&mut self, timer: TimerId, delay: u64) {
        let _ = (timer, delay);
    }

    /// Forgets all that the timer still has to send.
    fn cancel(&mut self, timer: TimerId) {
        let _ = timer;
    }

    /// Begins a macrostep that may assign, schedule or cancel.
    /// What it does until it ends is one change.
    fn begin(&mut self) {}

    /// Rolls back a macrostep that failed.
    /// Fields and timers are to be as they were when it began.
    fn rollback(&mut self) {}
}

impl Host for () {}

/// The host may stay with its owner.
impl<H: Host + ?Sized> Host for &mut H {
    #[inline]
    fn guard(&mut self, guard: GuardId) -> bool {
        (**self).guard(guard)
    }

    #[inline]
    fn action(&mut self, action: ActionId) {
        (**self).action(action);
    }

    #[inline]
    fn try_action(&mut self, action: ActionId) -> Result<(), Cause> {
        (**self).try_action(action)
    }

    #[inline]
    fn field(&self, field: FieldId) -> Value<'_> {
        (**self).field(field)
    }

    #[inline]
    fn assign(&mut self, field: FieldId, value: Value<'_>) {
        (**self).assign(field, value);
    }

    #[inline]
    fn schedule(&mut self, timer: TimerId, delay: u64) {
        (**self).schedule(timer, delay);
    }

    #[inline]
    fn cancel(&mut self, timer: TimerId) {
        (**self).cancel(timer);
    }

    #[inline]
    fn begin(&mut self) {
        (**self).begin();
    }

    #[inline]
    fn rollback(&mut self) {
        (**self).rollback();
    }
}

/// Watches a step. Methods are called in the order in which things happen.
///
/// Every engine calls them in the same order, so that records can be compared. Of one microstep:
///
/// 1. [`microstep`](Self::microstep), once; then [`transition`](Self::transition) for each transition that is taken in
///    it, in the order of the leaves that they were selected for. There are several only where several regions are active.
/// 2. For each state that is left, in reverse document order: its exit actions, then [`exited`](Self::exited). What
///    histories record is what is active before the first of them.
/// 3. The actions of the transitions, in the order of part 1.
/// 4. For each state that is entered, in document order: [`entered`](Self::entered), then its entry actions; then, if it
///    is a final state whose parent has a `done` event, [`raised`](Self::raised) with that event; then the same of each
///    parallel state around it, from the inside out, as long as all regions of it are done; then, if it is entered by
///    default, the actions of its initial transition; then, if it is entered through a history of it that has recorded
///    nothing, the actions of the history's default transition; all before anything of its children.
///
/// An action that the host carries out is [`action`](Self::action), after the host has returned; so is one that assigns,
/// schedules or cancels. One that fails is none. One that raises an event isn't given to the host; it is `action` and right behind it
/// [`raised`](Self::raised). A conditional one is `action` once its condition was asked; what it then does follows. An
/// assignment without a value is no `action`: it is `raised` with the event `error.execution`, and the rest of the list
/// is skipped, with the lists around it if that is one of a conditional action.
///
/// The start of a machine has no `microstep` and no `transition`: it is the actions of the root's initial transition,
/// then part 4. The root itself is never entered and never exited. Entering a final child of the root raises nothing; the
/// machine has ended, no further microstep follows, and what was raised before is dropped.
///
/// An internal transition without a target calls neither `exited` nor `entered`. An event that is ignored, or that is
/// raised and then triggers nothing, calls nothing but `absent`.
///
/// [`absent`](Self::absent) comes while programs run: of guards before the `microstep` in which the transition is taken,
/// of actions in their place; once for each reading of an absent field. Guards are asked in the order of selection: for
/// each leaf its own transitions, then those of the states around it, up to the first that holds. A transition around
/// several leaves is asked for the first of them only. After every microstep the eventless transitions come first, then
/// those of the next raised event.
pub trait Observer {
    /// Reports whether the observer watches at all.
    /// An engine may leave out the other calls where this is `false`.
    #[inline]
    fn watches(&self) -> bool {
        true
    }

    /// Observes the beginning of a microstep; its transitions follow.
    fn microstep(&mut self) {}

    /// Observes a transition that is taken in the microstep.
    fn transition(&mut self, transition: TransitionId) {
        let _ = transition;
    }

    /// Observes a state that was exited.
    fn exited(&mut self, state: StateId) {
        let _ = state;
    }

    /// Observes an action that was carried out.
    fn action(&mut self, action: ActionId) {
        let _ = action;
    }

    /// Observes a state that was entered.
    fn entered(&mut self, state: StateId) {
        let _ = state;
    }

    /// Observes an event that was raised by an action, or because a compound state is done.
    fn raised(&mut self, event: EventId) {
        let _ = event;
    }

    /// Observes an absent field that a guard has read.
    /// The guard is undecided, which counts as false.
    fn absent(&mut self, field: FieldId) {
        let _ = field;
    }
}

/// Watches nothing.
impl Observer for () {
    #[inline]
    fn watches(&self) -> bool {
        false
    }
}

/// The observer may stay with its owner.
impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline]
    fn watches(&self) -> bool {
        (**self).watches()
    }

    #[inline]
    fn microstep(&mut self) {
        (**self).microstep();
    }

    #[inline]
    fn transition(&mut self, transition: TransitionId) {
        (**self).transition(transition);
    }

    #[inline]
    fn exited(&mut self, state: StateId) {
        (**self).exited(state);
    }

    #[inline]
    fn action(&mut self, action: ActionId) {
        (**self).action(action);
    }

    #[inline]
    fn entered(&mut self, state: StateId) {
        (**self).entered(state);
    }

    #[inline]
    fn raised(&mut self, event: EventId) {
        (**self).raised(event);
    }

    #[inline]
    fn absent(&mut self, field: FieldId) {
        (**self).absent(field);
    }
}
