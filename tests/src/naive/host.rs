//! What the interpreter asks of its surroundings: by handles of the IR, with values of its own.

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Action, Field, HostGuard, Timer};

use super::Datum;

/// Answers what the machine asks and does what it says.
pub(crate) trait Host {
    /// Whether a named guard holds now.
    fn guard(&mut self, guard: Handle<HostGuard>) -> bool;
    /// Carries out an action.
    fn action(&mut self, action: Handle<Action>);
    /// Carries out an action that can fail; false if it did.
    fn try_action(&mut self, action: Handle<Action>) -> bool {
        self.action(action);
        true
    }
    /// The value of a field now.
    fn field(&self, field: Handle<Field>) -> Datum;
    /// Changes a field.
    fn assign(&mut self, field: Handle<Field>, value: Datum);
    /// Has a timer's event come after so many milliseconds.
    fn schedule(&mut self, timer: Handle<Timer>, delay: u64);
    /// Forgets what a timer still has to send.
    fn cancel(&mut self, timer: Handle<Timer>);
    /// A macrostep begins.
    fn begin(&mut self);
    /// The macrostep failed: all is to be as it was when it began.
    fn rollback(&mut self);
}
