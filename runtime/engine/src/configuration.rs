//! Configurations: the active states, and the states that histories have recorded.
//!
//! A legal configuration has exactly one active child in each active compound state and all regions of each active
//! parallel state, so that its leaves determine it. A machine without parallel states and history has one leaf, and its
//! configuration is just that. The configuration of any other machine has its leaves as a list, its active states as a
//! bit set, and what its histories have recorded.

mod legal;
mod many;

use alloc::boxed::Box;
use core::cmp::Ordering;
use core::fmt;

use self::many::Many;
use crate::bits;
use crate::chart::{self, Chart, RegionIndex};
use crate::id::{ROOT, StateId};
use crate::scratch::{Scratch, Undo};
use crate::table::Table;

/// The active states of a machine and the records of its histories.
/// The leaves among the active states name the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The one leaf; the root where `many` says it all.
    pub(crate) leaf: StateId,
    /// Of a machine with parallel states or history.
    many: Option<Box<Many>>,
}

/// An error: leaves that are no configuration of the machine, or a record that no history makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoreError {
    kind: RestoreErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestoreErrorKind {
    Count { leaves: usize },
    NoState { state: StateId },
    NotALeaf { state: StateId },
    Inactive { state: StateId },
    Together { one: StateId, other: StateId },
    NotAHistory { state: StateId },
    Recorded { history: StateId },
}

impl From<RestoreErrorKind> for RestoreError {
    fn from(kind: RestoreErrorKind) -> Self {
        Self { kind }
    }
}

impl fmt::Display for RestoreError {
    #[rustfmt::skip]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            RestoreErrorKind::Count { leaves } => write!(out, "a configuration of this machine has one leaf, not {leaves}"),
            RestoreErrorKind::NoState { state } => write!(out, "the machine has no state number {}", state.raw()),
            RestoreErrorKind::NotALeaf { state } => write!(out, "state number {} is no leaf: it has children, or is a history", state.raw()),
            RestoreErrorKind::Inactive { state } => write!(out, "a leaf in state number {} is missing", state.raw()),
            RestoreErrorKind::Together { one, other } => write!(out, "states number {} and {} can't be active together", one.raw(), other.raw()),
            RestoreErrorKind::NotAHistory { state } => write!(out, "state number {} is no history", state.raw()),
            RestoreErrorKind::Recorded { history } => write!(out, "history number {} can't have recorded these states", history.raw()),
        }
    }
}

impl core::error::Error for RestoreError {}

impl Configuration {
    /// Makes the configuration with these leaves, in any order.
    /// They are what [`Configuration::leaves`] returned, kept as numbers or found by name. Nothing is recorded:
    /// [`Configuration::record`] adds what [`Configuration::history`] returned.
    ///
    /// # Errors
    ///
    /// They are no legal configuration of the table's machine.
    pub fn from_leaves(table: &Table, leaves: &[StateId]) -> Result<Self, RestoreError> {
        Self::of_leaves(table, table.has_regions(), leaves)
    }

    /// Makes a configuration of any chart; `regions` says whether it has parallel states or history.
    pub(crate) fn of_leaves<C: Chart>(
        chart: &C,
        regions: bool,
        leaves: &[StateId],
    ) -> Result<Self, RestoreError> {
        if !regions {
            let &[leaf] = leaves else {
                let leaves = leaves.len();
                return Err(RestoreErrorKind::Count { leaves }.into());
            };
            legal::leaf(chart, leaf)?;
            return Ok(Self { leaf, many: None });
        }
        let mut leaves = leaves.to_vec();
        leaves.sort_unstable();
        legal::leaves(chart, ROOT, &leaves)?;
        Ok(Self {
            leaf: ROOT,
            many: Some(Box::new(Many::new(chart, leaves))),
        })
    }

    /// Adds what a history has recorded.
    /// Of a shallow history, these are children of its parent; of a deep one, leaves within it.
    ///
    /// # Errors
    ///
    /// The table has no such history, or no configuration has these states in it.
    pub fn record(
        self,
        table: &Table,
        history: StateId,
        states: &[StateId],
    ) -> Result<Self, RestoreError> {
        self.recording(table, history, states)
    }

    /// Adds what a history has recorded, on any chart.
    pub(crate) fn recording<C: Chart>(
        mut self,
        chart: &C,
        history: StateId,
        states: &[StateId],
    ) -> Result<Self, RestoreError> {
        let mut states = states.to_vec();
        states.sort_unstable();
        legal::recorded(chart, history, &states)?;
        match &mut self.many {
            Some(many) => many.record(history, states),
            None => return Err(RestoreErrorKind::NotAHistory { state: history }.into()),
        }
        Ok(self)
    }

    /// Checks that this is a legal configuration of the table's machine.
    ///
    /// # Errors
    ///
    /// It isn't.
    pub fn check(&self, table: &Table) -> Result<(), RestoreError> {
        match &self.many {
            None if table.has_regions() => Err(RestoreErrorKind::Inactive { state: ROOT }.into()),
            Some(many) if !table.has_regions() => {
                let leaves = many.leaves.len();
                Err(RestoreErrorKind::Count { leaves }.into())
            }
            _ => self.check_chart(table),
        }
    }

    /// Checks that this is a legal configuration of the chart's machine.
    pub(crate) fn check_chart<C: Chart>(&self, chart: &C) -> Result<(), RestoreError> {
        let Some(many) = &self.many else {
            return legal::leaf(chart, self.leaf);
        };
        legal::leaves(chart, ROOT, &many.leaves)?;
        let mut history = many.history.iter();
        history.try_for_each(|(history, states)| legal::recorded(chart, *history, states))
    }

    /// Returns the active states without active children, in document order.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = StateId> + '_ {
        self.all_leaves().iter().copied()
    }

    /// Returns the record of each history, in document order.
    /// Of a shallow history, these are the children of its parent that were active when the parent was last exited; of
    /// a deep one, the leaves within it. A history whose parent was never exited has no record.
    pub fn history(&self) -> impl Iterator<Item = (StateId, &[StateId])> {
        let many = self.many.iter();
        many.flat_map(|many| &many.history)
            .map(|(history, states)| (*history, states.as_slice()))
    }

    /// Reports whether the state is active: a leaf, or around one.
    #[must_use]
    pub fn is_active(&self, table: &Table, state: StateId) -> bool {
        self.is_active_in(table, state)
    }

    /// Reports whether the state is active, on any chart.
    #[inline]
    pub(crate) fn is_active_in<C: Chart>(&self, chart: &C, state: StateId) -> bool {
        match &self.many {
            None => self.leaf == state || chart::is_descendant(chart, self.leaf, state),
            Some(many) => bits::contains(&many.active, state.index()),
        }
    }

    /// Reports whether the machine has ended: it is in a final child of its root.
    #[must_use]
    pub fn is_ended(&self, table: &Table) -> bool {
        self.is_ended_in(table)
    }

    /// Reports whether the machine has ended, on any chart.
    #[inline]
    pub(crate) fn is_ended_in<C: Chart>(&self, chart: &C) -> bool {
        match *self.all_leaves() {
            [leaf] => chart::is_end(chart, leaf),
            _ => false,
        }
    }

    /// Returns the configuration that has this leaf, of a machine without parallel states and history.
    pub(crate) const fn with_leaf(leaf: StateId) -> Self {
        Self { leaf, many: None }
    }

    /// Returns the configuration in which a machine begins: only the root is active.
    pub(crate) fn root<C: Chart>(chart: &C, regions: bool) -> Self {
        Self {
            leaf: ROOT,
            many: regions.then(|| Box::new(Many::new(chart, [ROOT].to_vec()))),
        }
    }

    #[inline]
    fn all_leaves(&self) -> &[StateId] {
        match &self.many {
            None => core::slice::from_ref(&self.leaf),
            Some(many) => &many.leaves,
        }
    }

    /// Returns the innermost active states that are the state or lie within it.
    pub(crate) fn within<C: Chart>(&self, chart: &C, state: StateId) -> &[StateId] {
        let end = chart.node(state).map_or(0, |node| node.end);
        range(self.all_leaves(), state.raw(), end)
    }

    /// Returns the active states as a bit set; empty for a machine with one leaf.
    #[inline]
    pub(crate) fn active(&self) -> &[u64] {
        self.many.as_ref().map_or(&[], |many| &many.active)
    }

    /// Returns the last active descendant of the state, in document order, among those before `end`.
    #[inline]
    pub(crate) fn last_active(&self, state: StateId, end: u16) -> Option<StateId> {
        let from = usize::from(state.raw()) + 1;
        bits::last(self.active(), from..usize::from(end)).and_then(StateId::from_index)
    }

    /// Returns the states that the history has recorded.
    pub(crate) fn recorded(&self, history: StateId) -> Option<&[StateId]> {
        self.many.as_ref()?.recorded(history)
    }

    /// Takes the memory that steps reuse. [`Configuration::return_scratch`] gives it back.
    #[inline]
    pub(crate) fn take_scratch(&mut self) -> Box<Scratch> {
        let scratch = self.many.as_mut().and_then(|many| many.scratch.0.take());
        scratch.unwrap_or_default()
    }

    /// Keeps the memory for the next step.
    #[inline]
    pub(crate) fn return_scratch(&mut self, scratch: Box<Scratch>) {
        if let Some(many) = &mut self.many {
            many.scratch.0 = Some(scratch);
        }
    }

    /// Becomes the other configuration of the same machine, in the memory that this one has already.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.leaf = other.leaf;
        match (&mut self.many, &other.many) {
            (Some(many), Some(other)) => many.copy_from(other),
            (many, other) => many.clone_from(other),
        }
    }

    /// Compares two configurations of the same machine, in any total order.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (&self.many, &other.many) {
            (Some(many), Some(other)) => many.compare(other),
            _ => self.leaf.cmp(&other.leaf),
        }
    }

    /// Returns about how much memory a copy takes. Unit: bytes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>() + self.many.as_ref().map_or(0, |many| many.size())
    }

    /// Saves where the machine is, so that [`Configuration::roll_back`] can restore it.
    #[inline]
    pub(crate) fn save(&self, undo: &mut Undo) {
        if let Some(many) = &self.many {
            many.save(undo);
        }
    }

    /// Restores what was saved.
    pub(crate) fn roll_back(&mut self, undo: &mut Undo) {
        if let Some(many) = &mut self.many {
            many.restore(undo);
        }
    }

    /// Records which states are active within the parent of the history, for the history.
    pub(crate) fn remember<C: Chart>(
        &mut self,
        chart: &C,
        (parent, history, is_deep): (StateId, StateId, bool),
        undo: &mut Undo,
    ) {
        if let Some(many) = &mut self.many {
            many.remember(chart, (parent, history, is_deep), undo);
        }
    }

    /// Makes everything below the domain inactive, unless a state of `busy` would be.
    /// Returns true if it did.
    #[inline]
    pub(crate) fn leave_quietly(&mut self, below: (StateId, u16), busy: &[u64]) -> bool {
        let many = self.many.as_mut();
        many.is_some_and(|many| many.leave_quietly(below, busy))
    }

    /// Makes the states of a set active, unless one of them acts. Returns true if it did.
    ///
    /// The set lies in the words from the first number up to but without the last, and below one innermost active state.
    #[inline]
    pub(crate) fn enter_quietly(
        &mut self,
        set: (usize, &[u64], usize),
        index: RegionIndex<'_>,
    ) -> bool {
        let many = self.many.as_mut();
        many.is_some_and(|many| many.enter_quietly(set, index))
    }

    /// Makes a state inactive. No descendant of it is active.
    #[inline]
    pub(crate) fn leave<C: Chart>(&mut self, chart: &C, state: StateId) {
        let Some(parent) = chart::parent(chart, state) else {
            return;
        };
        match &mut self.many {
            None => self.leaf = parent,
            Some(many) => many.leave(chart, state, parent),
        }
    }

    /// Exits one leaf and enters another, with the states that are around only one of them.
    #[inline]
    pub(crate) fn move_leaf<C: Chart>(&mut self, chart: &C, leaf: StateId, next: StateId) {
        match &mut self.many {
            None => self.leaf = next,
            Some(many) => many.move_leaf(chart, leaf, next),
        }
    }

    /// Makes a state active. Its parent is.
    #[inline]
    pub(crate) fn enter<C: Chart>(&mut self, chart: &C, state: StateId) {
        match &mut self.many {
            None => self.leaf = state,
            Some(many) => many.enter(chart, state),
        }
    }
}

/// Returns the part of the leaves from one number up to, but without, another.
fn range(leaves: &[StateId], from: u16, end: u16) -> &[StateId] {
    let from = leaves.partition_point(|leaf| leaf.raw() < from);
    let rest = leaves.get(from..).unwrap_or_default();
    let count = rest.partition_point(|leaf| leaf.raw() < end);
    rest.get(..count).unwrap_or_default()
}
