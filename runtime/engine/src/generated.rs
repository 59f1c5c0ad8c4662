//! Support for generated Rust.
//!
//! The code that the compiler writes holds the machine; here is what is the same in all of it. Its shape may change with
//! any version: who writes code by hand uses the crate's root.
//!
//! [`Rows`] steps the machines that aren't written out as `match`, by the code that steps tables. Deliberately
//! not here: verification. The rows come from the compiler, out of a machine that it has checked; rows that point
//! nowhere are passed over, so that nothing here panics or loops for ever.

mod data;
mod places;
mod stored;
mod walk;

pub use self::data::{
    Free, Plain, String, Vec, among, at, datum, fit, holds, is_true, length, load, narrow, object,
    operand, restore, store, within,
};
pub use self::places::{Notice, Places, Position, notify};
pub use self::stored::{Stored, load_plain, store_plain};
pub use self::walk::{Content, Rows, StateRow, TransitionRow, WalkSnapshot, states};
pub use crate::chart::RegionIndex;
pub use crate::failure::Done;
pub use crate::saved::{Fields, IntoFieldError, load_state};
pub use crate::words::same_words;
#[cfg(feature = "serde")]
pub use serde_core as serde;

use alloc::collections::VecDeque;
use core::fmt;

use crate::chart::Chart as _;
use crate::error::StepError;
use crate::failure::{ActionError, StepFailure};
use crate::host::Observer;
use crate::id::{ActionId, StateId, TransitionId};
use crate::limits::{DEFAULT_STEP_LIMIT, MAX_RAISED};
use crate::table::Table;

/// Returns the result of a step, with the action that failed if one did. `name` names actions.
///
/// # Errors
///
/// Those of the step.
#[inline]
pub fn explain<T, A, E>(
    outcome: Result<T, StepError>,
    failed: Option<ActionError<A, E>>,
    name: impl FnOnce(ActionId) -> A,
) -> Result<T, StepFailure<A, E>> {
    outcome.map_err(|error| match failed {
        Some(failed) => StepFailure::Action(failed),
        None => StepFailure::Machine(error.map_action(name)),
    })
}

/// An action that has a number in a table: an [`ActionId`], or a variant of a generated `Action`.
pub trait HasId {
    /// Returns its id.
    fn action_id(self) -> ActionId;
}

impl HasId for ActionId {
    fn action_id(self) -> ActionId {
        self
    }
}

/// Stands for *none* in rows: no event, no state.
pub const NONE: u16 = u16::MAX;

/// Returns what steps of a machine with parallel states or history look up, for its rows.
#[must_use]
pub fn index(table: &Table) -> RegionIndex<'_> {
    table.index()
}

/// The events that a machine has raised and not yet taken.
#[derive(Clone, Debug)]
pub struct Queue<E> {
    events: VecDeque<E>,
    /// Number of events added since the queue was last empty.
    raised: usize,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Queue<E> {
    /// Returns an empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            events: VecDeque::new(),
            raised: 0,
        }
    }

    /// Adds an event behind the others.
    #[inline]
    pub fn push(&mut self, event: E) {
        self.events.push_back(event);
        self.raised = self.raised.saturating_add(1);
    }

    /// Takes the first event. Where there is none the macrostep is over.
    #[inline]
    pub fn pop(&mut self) -> Option<E> {
        let event = self.events.pop_front();
        if event.is_none() {
            self.raised = 0;
        }
        event
    }

    /// Returns the error, if too many events were raised in this macrostep.
    /// To be asked before each search for a transition.
    #[must_use]
    #[inline]
    pub const fn fault<A>(&self) -> Option<StepError<A>> {
        if self.raised > MAX_RAISED {
            Some(StepError::RaiseLimit)
        } else {
            None
        }
    }

    /// Drops all events.
    #[inline]
    pub fn clear(&mut self) {
        self.events.clear();
        self.raised = 0;
    }
}

/// Counts the microsteps of one macrostep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    taken: u32,
}

impl Steps {
    /// Returns a count without microsteps.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { taken: 0 }
    }

    /// Begins a microstep with the transition of that number, unless it is one too many.
    /// Then the answer is true, and the transition must not be taken.
    #[inline]
    #[must_use]
    pub fn begin<O: Observer>(&mut self, transition: u16, observer: &mut O) -> bool {
        self.taken = self.taken.saturating_add(1);
        if self.taken > DEFAULT_STEP_LIMIT {
            return true;
        }
        observer.microstep();
        observer.transition(TransitionId::new(transition));
        false
    }

    /// Returns the error, if there was one too many.
    #[must_use]
    #[inline]
    pub const fn fault<A>(&self) -> Option<StepError<A>> {
        if self.taken > DEFAULT_STEP_LIMIT {
            Some(StepError::StepLimit {
                limit: DEFAULT_STEP_LIMIT,
            })
        } else {
            None
        }
    }
}

/// A saved machine of one leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The hash of the machine's behavior.
    pub behavior: [u8; 32],
    /// The number of the state.
    pub state: StateId,
}

impl Snapshot {
    /// Returns the state, if the snapshot is of a machine with that behavior.
    ///
    /// # Errors
    ///
    /// It is of another.
    pub fn checked(&self, behavior: &[u8; 32]) -> Result<StateId, RestoreError> {
        if self.behavior == *behavior {
            Ok(self.state)
        } else {
            Err(RestoreError::other_behavior())
        }
    }
}

/// A snapshot that isn't of the machine which shall go on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoreError {
    kind: RestoreErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestoreErrorKind {
    OtherBehavior,
    NoState { state: StateId },
    Illegal { fault: crate::RestoreError },
}

impl RestoreError {
    /// Returns the error for a snapshot of a machine with another behavior.
    const fn other_behavior() -> Self {
        Self {
            kind: RestoreErrorKind::OtherBehavior,
        }
    }

    /// Returns the error for a configuration that the machine can't have.
    const fn illegal(fault: crate::RestoreError) -> Self {
        Self {
            kind: RestoreErrorKind::Illegal { fault },
        }
    }

    /// Returns the error for a state that the machine can't be in.
    #[must_use]
    pub const fn no_state(state: StateId) -> Self {
        Self {
            kind: RestoreErrorKind::NoState { state },
        }
    }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            RestoreErrorKind::OtherBehavior => out.write_str(
                "the snapshot is of a machine that behaves otherwise, or was taken when snapshots had the hash of the whole table",
            ),
            RestoreErrorKind::NoState { state } => {
                write!(out, "the machine can't be in state number {}", state.raw())
            }
            RestoreErrorKind::Illegal { fault } => fault.fmt(out),
        }
    }
}

impl core::error::Error for RestoreError {}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_queue_counts_what_was_raised_in_the_macrostep() {
        let mut queue = Queue::new();
        for _ in 0..MAX_RAISED {
            queue.push(());
            assert_eq!(queue.pop(), Some(()));
        }
        assert_eq!(queue.fault::<ActionId>(), None);
        queue.push(());
        assert_eq!(queue.fault::<ActionId>(), Some(StepError::RaiseLimit));
        assert_eq!((queue.pop(), queue.pop()), (Some(()), None));
        assert_eq!(queue.fault::<ActionId>(), None);
    }

    #[test]
    fn a_snapshot_knows_its_behavior() {
        let snapshot = Snapshot {
            behavior: [1; 32],
            state: StateId::new(4),
        };
        assert_eq!(snapshot.checked(&[1; 32]), Ok(StateId::new(4)));
        assert!(snapshot.checked(&[2; 32]).is_err());
    }
}
