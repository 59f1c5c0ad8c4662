//! Errors of a step, and faults: the reasons why a program has no value.

use core::fmt;

use crate::id::{ActionId, EventId, StateId, TimerId};
use crate::limits::MAX_RAISED;

/// A step that was not taken. The configuration is the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepError {
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
    NoValue(ActionId),
    /// The host could not carry out the action.
    /// [`Machine::take_failure`](crate::Machine::take_failure) has the cause, and the actions that had run before.
    ActionFailed(ActionId),
}

impl fmt::Display for StepError {
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
                write!(
                    out,
                    "what action number {} would assign has no value",
                    action.raw()
                )
            }
            Self::ActionFailed(action) => write!(out, "action number {} failed", action.raw()),
        }
    }
}

impl core::error::Error for StepError {}

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
