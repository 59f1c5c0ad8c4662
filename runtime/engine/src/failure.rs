//! Failed actions: the errors of steps in which the host could not carry out an action.
//!
//! What the machine owns (configuration, histories, data, timers, raised events) is as it was before such a step. What
//! the host had done in it isn't: the error lists it, and undoing it is the host's.

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::StepError;
use crate::id::ActionId;
use crate::limits::MAX_DONE;
use crate::table::Table;

/// An action that the host could not carry out, and with it the step.
///
/// `A` names actions: the enum `Action` of a generated module, or [`ActionId`] on the table engine. `E` is the host's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionError<A, E> {
    /// The action that failed.
    pub action: A,
    /// The host's reason.
    pub cause: E,
    /// The host's actions that the step had carried out before, in order.
    /// Of more than [`MAX_DONE`](crate::MAX_DONE) the rest is missing.
    pub done: Vec<A>,
}

impl<E> ActionError<ActionId, E> {
    /// Returns the error with the names that the table has for actions.
    #[must_use]
    pub fn explain(self, table: &Table) -> ActionError<String, E> {
        let name = |action| table.action_name(action).to_owned();
        ActionError {
            action: name(self.action),
            cause: self.cause,
            done: self.done.into_iter().map(name).collect(),
        }
    }
}

impl<A: fmt::Display, E: fmt::Display> fmt::Display for ActionError<A, E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "action `{}` failed: {}", self.action, self.cause)?;
        let Some((first, rest)) = self.done.split_first() else {
            return Ok(());
        };
        write!(out, " (done before and not undone: `{first}`")?;
        for action in rest {
            write!(out, ", `{action}`")?;
        }
        out.write_str(")")
    }
}

/// The cause is part of the text, so there is no `source`: a cause may be any type that can be shown.
impl<A, E> core::error::Error for ActionError<A, E>
where
    A: fmt::Debug + fmt::Display,
    E: fmt::Debug + fmt::Display,
{
}

/// A step that was not taken, of a machine whose actions can fail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepFailure<A, E> {
    /// The machine itself refused the event, or did not come to rest.
    Machine(StepError<A>),
    /// An action failed.
    Action(ActionError<A, E>),
}

impl<A, E> From<StepError<A>> for StepFailure<A, E> {
    fn from(error: StepError<A>) -> Self {
        Self::Machine(error)
    }
}

impl<A: fmt::Display, E: fmt::Display> fmt::Display for StepFailure<A, E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(error) => error.fmt(out),
            Self::Action(error) => error.fmt(out),
        }
    }
}

impl<A, E> core::error::Error for StepFailure<A, E>
where
    A: fmt::Debug + fmt::Display,
    E: fmt::Debug + fmt::Display,
{
}

/// The reason why a host of the table engine could not carry out an action.
pub type Cause = Box<dyn core::error::Error + Send + Sync>;

/// A start that failed, with the host, which may have acted already.
#[derive(Debug)]
pub struct FailedStart<H> {
    /// The error.
    pub error: StepError,
    /// The action that failed, if one did.
    pub failure: Option<ActionError<ActionId, Cause>>,
    /// The host.
    pub host: H,
}

/// The host's actions that a step has carried out so far, in order.
#[derive(Clone, Debug)]
pub struct Done<A> {
    actions: Vec<A>,
}

impl<A> Default for Done<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> Done<A> {
    /// Returns an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            actions: Vec::new(),
        }
    }

    /// Empties the list, for the next step.
    #[inline]
    pub fn clear(&mut self) {
        self.actions.clear();
    }

    /// Appends an action that was carried out.
    #[inline]
    pub fn push(&mut self, action: A) {
        if self.actions.len() < MAX_DONE {
            self.actions.push(action);
        }
    }

    /// Returns the error of an action that failed after those of the list, which is empty then.
    #[cold]
    pub fn fail<E>(&mut self, action: A, cause: E) -> ActionError<A, E> {
        ActionError {
            action,
            cause,
            done: core::mem::take(&mut self.actions),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;
    use alloc::vec;

    use super::*;

    #[test]
    fn an_error_says_what_was_done() {
        let mut done = Done::new();
        let alone = done.fail("charge", "no money");
        assert_eq!(alone.to_string(), "action `charge` failed: no money");
        done.push("reserve");
        done.push("greet");
        let failure: StepFailure<_, _> = StepFailure::Action(done.fail("charge", "no money"));
        assert_eq!(
            failure.to_string(),
            "action `charge` failed: no money (done before and not undone: `reserve`, `greet`)"
        );
        assert_eq!(
            done.fail("charge", ()).done,
            vec![""; 0],
            "the list is empty again"
        );
    }

    #[test]
    fn a_list_has_a_limit() {
        let mut done = Done::new();
        (0..=MAX_DONE).for_each(|number| done.push(number));
        assert_eq!(done.fail(0, ()).done.len(), MAX_DONE);
    }
}
