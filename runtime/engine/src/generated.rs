//! What generated Rust calls.
//!
//! The code that the compiler writes holds the machine; here is what is the same in all of it. Its shape may change with
//! any version: who writes code by hand uses the crate's root.
//!
//! [`Plan`] walks the const tables of a large machine in the order of [`Machine`](crate::Machine)'s steps, [`Rows`] those of
//! a machine with parallel states, history, timers or conditional actions, by the same code. Deliberately
//! not here: verification. The rows come from the compiler, out of a machine that it has checked; rows that point
//! nowhere are passed over, so that nothing here panics or loops for ever.

mod data;
mod expression;
mod walk;

pub use self::data::{
    Free, Plain, String, Vec, at, datum, fit, length, narrow, object, restore, store, within,
};
pub use self::expression::{among, holds, is_true, load, operand};
pub use self::walk::{Content, Rows, StateRow, TransitionRow, WalkSnapshot};
pub use crate::words::same_words;

use alloc::collections::VecDeque;
use core::fmt;

use crate::error::StepError;
use crate::host::Observer;
use crate::id::{StateId, TransitionId};
use crate::limits::{DEFAULT_STEP_LIMIT, MAX_DEPTH, MAX_RAISED};

/// Stands for *none* in rows: no event, no state.
pub const NONE: u16 = u16::MAX;

/// The events that a machine has raised and not yet taken.
#[derive(Clone, Debug)]
pub struct Queue<E> {
    events: VecDeque<E>,
    /// How many have been added since there was none to take.
    raised: usize,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Queue<E> {
    /// No event.
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

    /// The error, if too many events were raised in this macrostep. To be asked before each search for a transition.
    #[must_use]
    #[inline]
    pub const fn fault(&self) -> Option<StepError> {
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
    /// No microstep yet.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { taken: 0 }
    }

    /// Begins one more with the transition of that number, unless it is one too many: then it must not be taken, and
    /// the answer is true.
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

    /// The error, if there was one too many.
    #[must_use]
    #[inline]
    pub const fn fault(&self) -> Option<StepError> {
        if self.taken > DEFAULT_STEP_LIMIT {
            Some(StepError::StepLimit {
                limit: DEFAULT_STEP_LIMIT,
            })
        } else {
            None
        }
    }
}

/// Where a machine is, to be kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The hash of the machine's table.
    pub table: [u8; 32],
    /// The number of the state.
    pub state: StateId,
}

impl Snapshot {
    /// The state, if the snapshot is of the machine with that table.
    ///
    /// # Errors
    ///
    /// It is of another.
    pub fn checked(&self, table: &[u8; 32]) -> Result<StateId, RestoreError> {
        if self.table == *table {
            Ok(self.state)
        } else {
            Err(RestoreError {
                kind: RestoreErrorKind::OtherTable,
            })
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
    OtherTable,
    NoState { state: StateId },
    Illegal { fault: crate::RestoreError },
}

impl RestoreError {
    /// The snapshot is of a machine with another table.
    const fn other_table() -> Self {
        Self {
            kind: RestoreErrorKind::OtherTable,
        }
    }

    /// The machine can't be where the snapshot says.
    const fn illegal(fault: crate::RestoreError) -> Self {
        Self {
            kind: RestoreErrorKind::Illegal { fault },
        }
    }

    /// The machine can't be in the state of that number.
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
            RestoreErrorKind::OtherTable => out
                .write_str("the snapshot is of another machine, or of another version of this one"),
            RestoreErrorKind::NoState { state } => {
                write!(out, "the machine can't be in state number {}", state.raw())
            }
            RestoreErrorKind::Illegal { fault } => fault.fmt(out),
        }
    }
}

impl core::error::Error for RestoreError {}

/// Answers the guards of a walked machine.
pub trait Ask {
    /// Whether the transition's guard holds; true for one without.
    fn holds<O: Observer>(&self, transition: TransitionId, observer: &mut O) -> bool {
        let _ = (transition, observer);
        true
    }
}

/// No guard.
impl Ask for () {}

/// Carries out the actions of a walked machine, and observes them.
pub trait Act {
    /// The state's exit actions.
    fn exit<O: Observer>(&mut self, state: StateId, observer: &mut O) {
        let _ = (state, observer);
    }

    /// The transition's own actions.
    fn act<O: Observer>(&mut self, transition: TransitionId, observer: &mut O) {
        let _ = (transition, observer);
    }

    /// The state's entry actions, and the event that says that the state around it is done.
    fn enter<O: Observer>(&mut self, state: StateId, observer: &mut O) {
        let _ = (state, observer);
    }

    /// The actions of the state's initial transition.
    fn begin<O: Observer>(&mut self, state: StateId, observer: &mut O) {
        let _ = (state, observer);
    }
}

/// No action.
impl Act for () {}

/// The row of a state: its parent, the target of its initial transition, and where its part of [`Plan::rows`] begins.
pub type StatePlan = (u16, u16, u32);

/// The rows of a large machine, by number.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The states in document order, the root first.
    pub states: &'static [StatePlan],
    /// For each state, for each of its transitions in document order, for each of its events: the event, or [`NONE`],
    /// and the transition.
    pub rows: &'static [(u16, u16)],
    /// For each transition the innermost state that it stays inside of, and its target; [`NONE`] twice for one that
    /// only acts.
    pub transitions: &'static [(u16, u16)],
}

impl Plan {
    /// The state's own part of the rows.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "`get` is not const, and the lengths are compared"
    )]
    pub const fn rows_of(&self, state: u16) -> &'static [(u16, u16)] {
        let state = state as usize;
        if state >= self.states.len() {
            return &[];
        }
        let first = self.states[state].2 as usize;
        let last = state + 1 == self.states.len();
        let end = if last {
            self.rows.len()
        } else {
            self.states[state + 1].2 as usize
        };
        match self.rows.split_at_checked(end) {
            Some((until_end, _)) => match until_end.split_at_checked(first) {
                Some((_, own)) => own,
                None => &[],
            },
            None => &[],
        }
    }

    /// The transition that the event (or [`NONE`], for eventless ones) takes in a leaf: its own first, then those of the
    /// states around it.
    pub fn select<A: Ask, O: Observer>(
        &self,
        leaf: StateId,
        event: u16,
        ask: &A,
        observer: &mut O,
    ) -> Option<TransitionId> {
        let mut at = leaf.raw();
        for _ in 0..=MAX_DEPTH {
            let &(parent, ..) = self.states.get(usize::from(at))?;
            let mut triggered = self.rows_of(at).iter().filter(|row| row.0 == event);
            let enabled = triggered.find(|row| ask.holds(TransitionId::new(row.1), observer));
            if let Some(&(_, transition)) = enabled {
                return Some(TransitionId::new(transition));
            }
            at = parent;
        }
        None
    }

    /// Does what a transition does in a leaf, once it is observed, and gives the leaf that the machine is in then: SCXML's `microstep`.
    pub fn take<A: Act, O: Observer>(
        &self,
        leaf: StateId,
        transition: TransitionId,
        act: &mut A,
        observer: &mut O,
    ) -> StateId {
        let (domain, target) = self
            .transitions
            .get(transition.index())
            .copied()
            .unwrap_or((NONE, NONE));
        if target == NONE {
            act.act(transition, observer);
            return leaf;
        }
        let mut at = leaf.raw();
        while at != domain
            && let Some(&(parent, ..)) = self.states.get(usize::from(at))
        {
            act.exit(StateId::new(at), observer);
            observer.exited(StateId::new(at));
            at = parent;
        }
        act.act(transition, observer);
        self.enter(domain, target, act, observer)
    }

    /// Enters what lies between `domain` and `target`, then goes on by default.
    fn enter<A: Act, O: Observer>(
        &self,
        domain: u16,
        target: u16,
        act: &mut A,
        observer: &mut O,
    ) -> StateId {
        let (mut inside, mut target) = (domain, target);
        for _ in 0..=MAX_DEPTH {
            let mut path = [NONE; MAX_DEPTH];
            let mut at = target;
            let mut count = 0;
            for place in &mut path {
                if at == inside {
                    break;
                }
                *place = at;
                count += 1;
                at = self.states.get(usize::from(at)).map_or(inside, |row| row.0);
            }
            for &state in path.iter().take(count).rev() {
                observer.entered(StateId::new(state));
                act.enter(StateId::new(state), observer);
            }
            let initial = self
                .states
                .get(usize::from(target))
                .map_or(NONE, |row| row.1);
            if initial == NONE {
                break;
            }
            act.begin(StateId::new(target), observer);
            (inside, target) = (target, initial);
        }
        StateId::new(target)
    }
}

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
        assert_eq!(queue.fault(), None);
        queue.push(());
        assert_eq!(queue.fault(), Some(StepError::RaiseLimit));
        assert_eq!((queue.pop(), queue.pop()), (Some(()), None));
        assert_eq!(queue.fault(), None);
    }

    #[test]
    fn a_snapshot_knows_its_table() {
        let snapshot = Snapshot {
            table: [1; 32],
            state: StateId::new(4),
        };
        assert_eq!(snapshot.checked(&[1; 32]), Ok(StateId::new(4)));
        assert!(snapshot.checked(&[2; 32]).is_err());
    }
}
