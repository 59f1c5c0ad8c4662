//! What surrounds a machine: the [`Host`], which answers and acts, and the [`Observer`], which watches.
//!
//! The step algorithm calls both at the moments that SCXML's appendix D names, in its order. Both are static: a host
//! without guards or an observer that watches nothing costs no instruction.

use crate::id::{ActionId, EventId, FieldId, GuardId, StateId, TransitionId};
use crate::value::Value;

/// Answers the questions that a machine asks, and does what it says.
///
/// Every method has a default, so that a machine without guards and actions runs on `()`.
pub trait Host {
    /// Whether the named guard holds now. The default fails closed.
    fn guard(&mut self, guard: GuardId) -> bool {
        let _ = guard;
        false
    }

    /// Carries out the action. Actions of one step come in order: exit, transition, entry.
    fn action(&mut self, action: ActionId) {
        let _ = action;
    }

    /// The value of a field of the context.
    fn field(&self, field: FieldId) -> Value<'_> {
        let _ = field;
        Value::Absent
    }
}

impl Host for () {}

/// Watches a step. Methods are called in the order in which things happen.
pub trait Observer {
    /// A microstep begins: this transition is taken.
    fn transition(&mut self, transition: TransitionId) {
        let _ = transition;
    }

    /// A state was left.
    fn exited(&mut self, state: StateId) {
        let _ = state;
    }

    /// An action was carried out.
    fn action(&mut self, action: ActionId) {
        let _ = action;
    }

    /// A state was entered.
    fn entered(&mut self, state: StateId) {
        let _ = state;
    }

    /// An event was raised from inside: by an action, or because a compound state is done.
    fn raised(&mut self, event: EventId) {
        let _ = event;
    }

    /// A guard read a field that is absent, so that it is undecided, which counts as false.
    fn absent(&mut self, field: FieldId) {
        let _ = field;
    }
}

/// Watches nothing.
impl Observer for () {}
