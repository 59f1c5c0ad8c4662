//! Errors of a step, and faults: the reasons why a program has no value.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use crate::generated::HasId;
use crate::id::{ActionId, EventId, StateId, TimerId};
use crate::limits::MAX_RAISED;
use crate::table::Table;
use crate::table::sections::ActionKind;

/// A step that was not taken. The configuration is the one before it.
///
/// `A` names actions: the enum `Action` of a generated module, or [`ActionId`] on the table engine, where
/// [`explain`](Self::explain) puts the author's names in place of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepError<A = ActionId> {
    /// The machine had taken this many microsteps without coming to rest.
    StepLimit {
        /// The limit that was reached. Unit: microsteps.
        limit: u32,
    },
    /// The machine had raised more than [`MAX_RAISED`] events without coming to rest.
    RaiseLimit,
    /// The machine has reached a top-level final state; an ended machine refuses every event.
    Ended,
    /// The table has no such event, or it is one that only the machine itself may raise.
    NotAnEvent(EventId),
    /// The event is a label that leads to several places from an active state.
    /// [`Table::meanings`](crate::Table::meanings) has the events that it may mean there.
    Ambiguous {
        /// The first such state, in document order.
        state: StateId,
        /// The label.
        label: EventId,
    },
    /// The table has no such timer.
    NotATimer(TimerId),
    /// The states to be entered can't be active together, or can't be entered at all.
    NotTargets,
    /// An assignment without a value, in a machine without the event `error.execution`.
    /// The action had it.
    NoValue(A),
    /// The host could not carry out the action.
    /// [`Machine::take_failure`](crate::Machine::take_failure) has the cause, and the actions that had run before.
    ActionFailed(A),
}

impl<A> StepError<A> {
    /// Returns the error with its action named in another way.
    #[inline]
    pub fn map_action<B>(self, map: impl FnOnce(A) -> B) -> StepError<B> {
        match self {
            Self::StepLimit { limit } => StepError::StepLimit { limit },
            Self::RaiseLimit => StepError::RaiseLimit,
            Self::Ended => StepError::Ended,
            Self::NotAnEvent(event) => StepError::NotAnEvent(event),
            Self::Ambiguous { state, label } => StepError::Ambiguous { state, label },
            Self::NotATimer(timer) => StepError::NotATimer(timer),
            Self::NotTargets => StepError::NotTargets,
            Self::NoValue(action) => StepError::NoValue(map(action)),
            Self::ActionFailed(action) => StepError::ActionFailed(map(action)),
        }
    }
}

impl<A: HasId> StepError<A> {
    /// Returns the error as the table engine has it, with its action by number.
    #[must_use]
    pub fn numbered(self) -> StepError {
        self.map_action(A::action_id)
    }
}

impl StepError {
    /// Returns the error with the names that the table has for states, events, timers, actions and fields.
    #[cold]
    #[must_use]
    pub fn explain(self, table: &Table) -> NamedError {
        let message = match self {
            Self::Ambiguous { state, label } => format!(
                "`{}` may mean several events in state `{}`: send one of those",
                table.event_name(label),
                table.state_name(state)
            ),
            Self::NotAnEvent(event) if table.event(event).is_some() => format!(
                "`{}` comes from the machine itself and can't be sent",
                table.event_name(event)
            ),
            Self::NoValue(action) => {
                let name = table.action_name(action);
                match assigned(table, action).as_slice() {
                    [] => format!("what action `{name}` would assign has no value"),
                    [field] => {
                        format!("what action `{name}` would assign to `{field}` has no value")
                    }
                    fields => format!(
                        "what action `{name}` would assign to one of `{}` has no value",
                        fields.join("`, `")
                    ),
                }
            }
            other => other
                .map_action(|action| table.action_name(action))
                .to_string(),
        };
        NamedError {
            error: self,
            message,
        }
    }
}

/// Returns the names of the fields that an action assigns, in its order.
fn assigned(table: &Table, action: ActionId) -> Vec<&str> {
    let rows = match table.action(action).map(|row| &row.kind) {
        Some(ActionKind::Assign(rows)) => rows.clone(),
        _ => 0..0,
    };
    let [first, end] = [rows.start, rows.end].map(|at| usize::try_from(at).unwrap_or_default());
    let rows = table.sections.assigns.get(first..end).unwrap_or_default();
    rows.iter().map(|row| table.field_name(row.field)).collect()
}

/// A [`StepError`] of the table engine, shown with the names of the spec.
#[derive(Clone, PartialEq, Eq)]
pub struct NamedError {
    /// The error.
    pub error: StepError,
    message: String,
}

impl fmt::Display for NamedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

/// As its text: a number would say nothing.
impl fmt::Debug for NamedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl core::error::Error for NamedError {}

impl<A: fmt::Display> fmt::Display for StepError<A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StepLimit { limit } => {
                write!(
                    out,
                    "the machine did not come to rest within {limit} microsteps"
                )
            }
            Self::RaiseLimit => {
                write!(
                    out,
                    "the machine raised more than {MAX_RAISED} events without coming to rest"
                )
            }
            Self::Ended => out.write_str("the machine has ended and takes no more events"),
            Self::NotAnEvent(event) => {
                write!(
                    out,
                    "event number {} can't be sent to this machine",
                    event.raw()
                )
            }
            Self::Ambiguous { state, label } => {
                write!(
                    out,
                    "event number {} may mean several events in state number {}: send one of those",
                    label.raw(),
                    state.raw()
                )
            }
            Self::NotATimer(timer) => {
                write!(out, "this machine has no timer number {}", timer.raw())
            }
            Self::NotTargets => out.write_str("these states can't be entered together"),
            Self::NoValue(action) => {
                write!(out, "what action `{action}` would assign has no value")
            }
            Self::ActionFailed(action) => write!(out, "action `{action}` failed"),
        }
    }
}

impl<A: fmt::Debug + fmt::Display> core::error::Error for StepError<A> {}

/// A reason why a program ended without a value.
/// A guard is then false; an assignment doesn't happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The value is that of a field that is absent, or was computed with one.
    Absent,
    /// A number out of range.
    /// It is an integer beyond 64 bits with a sign or beyond the bounds of its field, or lies beyond every finite
    /// float.
    Overflow,
    /// A division by zero, or a remainder of one.
    DivisionByZero,
    /// An operator doesn't take values of this kind.
    WrongKind,
    /// A text, a list or an object is longer or nested deeper than its limit.
    TooLong,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Absent => "a field is absent",
            Self::Overflow => "a number is too large",
            Self::DivisionByZero => "a division by zero",
            Self::WrongKind => "an operator doesn't take a value of this kind",
            Self::TooLong => "a value is too long or nested too deep",
        })
    }
}

impl core::error::Error for Fault {}
