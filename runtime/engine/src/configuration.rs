//! Configurations: the active states, and the states that histories have recorded.
//!
//! A legal configuration has exactly one active child in each active compound state and all regions of each active
//! parallel state, so that its leaves say it all. A machine without parallel states and history has one leaf, and a
//! configuration of it is just that; others keep a list of leaves and what their histories have recorded.

mod legal;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

use crate::chart::{self, Chart};
use crate::id::StateId;
use crate::table::{ROOT, Table};

/// The active states of a machine and the records of its histories.
/// The leaves among the active states name the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    /// The one leaf; the root where `many` says it all.
    pub(crate) leaf: StateId,
    /// Of a machine with parallel states or history.
    many: Option<Box<Many>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Many {
    /// In document order. While a step is under way these are the innermost active states, leaves or not.
    leaves: Vec<StateId>,
    /// For each history that has recorded something: the states that were active, in document order.
    history: BTreeMap<StateId, Vec<StateId>>,
}

/// An illegal configuration.
/// The leaves can't be active together in the table's machine, or no history of it can have made the record.
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
        let history = BTreeMap::new();
        Ok(Self {
            leaf: ROOT,
            many: Some(Box::new(Many { leaves, history })),
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
            Some(many) => many.history.insert(history, states),
            None => return Err(RestoreErrorKind::NotAHistory { state: history }.into()),
        };
        Ok(self)
    }

    /// Reports whether this is a legal configuration of the table's machine.
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

    /// Reports whether this is a legal configuration of the chart's machine.
    pub(crate) fn check_chart<C: Chart>(&self, chart: &C) -> Result<(), RestoreError> {
        let Some(many) = &self.many else {
            return legal::leaf(chart, self.leaf);
        };
        legal::leaves(chart, ROOT, &many.leaves)?;
        let mut history = many.history.iter();
        history.try_for_each(|(&history, states)| legal::recorded(chart, history, states))
    }

    /// Returns the active states without active children, in document order.
    pub fn leaves(&self) -> impl ExactSizeIterator<Item = StateId> + '_ {
        self.all_leaves().iter().copied()
    }

    /// Returns what each history has recorded, in document order.
    /// Of a shallow history, these are the children of its parent that were active when the parent was last exited; of
    /// a deep one, the leaves within it. A history whose parent was never exited has no record.
    pub fn history(&self) -> impl Iterator<Item = (StateId, &[StateId])> {
        let many = self.many.iter();
        many.flat_map(|many| &many.history)
            .map(|(&history, states)| (history, states.as_slice()))
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
            Some(_) => !self.within(chart, state).is_empty(),
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
    pub(crate) fn root(regions: bool) -> Self {
        let many = || {
            Box::new(Many {
                leaves: [ROOT].to_vec(),
                history: BTreeMap::new(),
            })
        };
        Self {
            leaf: ROOT,
            many: regions.then(many),
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

    /// Returns what the history has recorded.
    pub(crate) fn recorded(&self, history: StateId) -> Option<&[StateId]> {
        let many = self.many.as_ref()?;
        many.history.get(&history).map(Vec::as_slice)
    }

    /// Records what was active.
    pub(crate) fn remember(&mut self, history: StateId, states: Vec<StateId>) {
        if let Some(many) = &mut self.many {
            many.history.insert(history, states);
        }
    }

    /// Removes the state; nothing within it is active any more.
    pub(crate) fn leave<C: Chart>(&mut self, chart: &C, state: StateId) {
        let Some(parent) = chart::parent(chart, state) else {
            return;
        };
        let Some(many) = &mut self.many else {
            self.leaf = parent;
            return;
        };
        if let Ok(at) = many.leaves.binary_search(&state) {
            many.leaves.remove(at);
            // What stands there in document order are the parent's other descendants, if any is active.
            let end = chart.node(parent).map_or(0, |node| node.end);
            if range(&many.leaves, parent.raw(), end).is_empty() {
                many.leaves.insert(at, parent);
            }
        }
    }

    /// Adds the state, whose parent is active.
    pub(crate) fn enter<C: Chart>(&mut self, chart: &C, state: StateId) {
        let Some(many) = &mut self.many else {
            self.leaf = state;
            return;
        };
        let at = many.leaves.partition_point(|&leaf| leaf < state);
        let before = at.checked_sub(1).and_then(|at| many.leaves.get_mut(at));
        match before {
            Some(before) if Some(*before) == chart::parent(chart, state) => *before = state,
            _ => many.leaves.insert(at, state),
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
