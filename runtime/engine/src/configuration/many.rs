//! The configuration of a machine with parallel states or history.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::{Hash, Hasher};

use super::range;
use crate::bits;
use crate::chart::{self, Chart, RegionIndex};
use crate::id::{ROOT, StateId};
use crate::scratch::{Scratch, Undo};

/// The active states and what histories have recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Many {
    /// The leaves, in document order.
    /// While a step is under way these are the innermost active states, leaves or not.
    pub(super) leaves: Vec<StateId>,
    /// The active states. INVARIANT: they are the leaves and their ancestors.
    pub(super) active: Vec<u64>,
    /// The states that each history has recorded, by the history's number.
    /// The states are in document order.
    pub(super) history: Vec<(StateId, Vec<StateId>)>,
    pub(super) scratch: Spare,
}

/// Memory that steps reuse, so that a step allocates nothing.
/// It is no part of the configuration's value.
#[derive(Debug, Default)]
pub(super) struct Spare(pub(super) Option<Box<Scratch>>);

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Spare {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Spare {}

impl Hash for Spare {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Many {
    /// Creates the configuration with these leaves, in document order; histories have recorded nothing.
    pub(super) fn new<C: Chart>(chart: &C, leaves: Vec<StateId>) -> Self {
        let states = chart.node(ROOT).map_or(0, |root| usize::from(root.end));
        let mut active = vec![0; bits::words(states)];
        for &leaf in &leaves {
            for state in chart::chain(chart, leaf) {
                bits::insert(&mut active, state.index());
            }
        }
        Self {
            leaves,
            active,
            ..Self::default()
        }
    }

    /// Becomes the other one, in the memory that this one has already.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.leaves.clone_from(&other.leaves);
        self.active.clone_from(&other.active);
        self.history.truncate(other.history.len());
        let known = self.history.len();
        for (own, (history, states)) in self.history.iter_mut().zip(&other.history) {
            own.0 = *history;
            own.1.clone_from(states);
        }
        let more = other.history.get(known..).unwrap_or_default();
        self.history.extend_from_slice(more);
    }

    /// Compares two configurations of one machine: the active states, then what histories have recorded.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let active = self.active.cmp(&other.active);
        active.then_with(|| self.history.cmp(&other.history))
    }

    /// Returns about how much memory a copy takes. Unit: bytes.
    pub(super) fn size(&self) -> usize {
        let records = self.history.iter().map(|row| size_of_val(row.1.as_slice()));
        size_of::<Self>()
            + size_of_val(self.leaves.as_slice())
            + size_of_val(self.active.as_slice())
            + size_of_val(self.history.as_slice())
            + records.sum::<usize>()
    }

    /// Saves the configuration. Lists that an earlier save no longer needs are used again.
    #[inline]
    pub(super) fn save(&self, undo: &mut Undo) {
        undo.leaves.clear();
        undo.leaves.extend_from_slice(&self.leaves);
        undo.active.clear();
        undo.active.extend_from_slice(&self.active);
        let lists = undo.recorded.drain(..).map(|(_, states)| states);
        undo.spare.extend(lists);
        undo.added.clear();
    }

    /// Restores the configuration that was saved.
    pub(super) fn restore(&mut self, undo: &mut Undo) {
        self.leaves.clone_from(&undo.leaves);
        self.active.clone_from(&undo.active);
        // In reverse: a history may have recorded several times.
        for (history, states) in undo.recorded.drain(..).rev() {
            self.record(history, states);
        }
        let added = core::mem::take(&mut undo.added);
        self.history.retain(|(history, _)| !added.contains(history));
    }

    pub(super) fn recorded(&self, history: StateId) -> Option<&[StateId]> {
        let at = self.position(history).ok()?;
        self.history.get(at).map(|(_, states)| states.as_slice())
    }

    fn position(&self, history: StateId) -> Result<usize, usize> {
        self.history.binary_search_by_key(&history, |row| row.0)
    }

    /// Records these states for the history.
    pub(super) fn record(&mut self, history: StateId, states: Vec<StateId>) {
        match self.position(history) {
            Ok(at) => {
                if let Some(row) = self.history.get_mut(at) {
                    row.1 = states;
                }
            }
            Err(at) => self.history.insert(at, (history, states)),
        }
    }

    /// Records the active states within the parent of the history, if the parent is active.
    /// A deep history records leaves, any other one children.
    pub(super) fn remember<C: Chart>(
        &mut self,
        chart: &C,
        (parent, history, is_deep): (StateId, StateId, bool),
        undo: &mut Undo,
    ) {
        if !bits::contains(&self.active, parent.index()) {
            return;
        }
        let mut states = undo.spare.pop().unwrap_or_default();
        states.clear();
        if is_deep {
            let end = chart.node(parent).map_or(0, |node| node.end);
            states.extend_from_slice(range(&self.leaves, parent.raw(), end));
        } else {
            let children = chart::regions(chart, parent);
            states.extend(children.filter(|child| bits::contains(&self.active, child.index())));
        }
        let at = match self.position(history) {
            Ok(at) => at,
            Err(at) => {
                self.history.insert(at, (history, states));
                return undo.added.push(history);
            }
        };
        if let Some(row) = self.history.get_mut(at) {
            let before = core::mem::replace(&mut row.1, states);
            undo.recorded.push((history, before));
        }
    }

    /// Makes everything below the domain inactive, unless a state of `busy` would be.
    #[inline]
    pub(super) fn leave_quietly(&mut self, (domain, end): (StateId, u16), busy: &[u64]) -> bool {
        let below = domain.index() + 1..usize::from(end);
        if bits::intersect(&self.active, busy, below.clone()) {
            return false;
        }
        bits::remove_range(&mut self.active, below);
        let first = self.leaves.partition_point(|&leaf| leaf <= domain);
        let rest = self.leaves.get(first..).unwrap_or_default();
        let count = rest.partition_point(|leaf| leaf.raw() < end);
        if let Some(leaf) = self.leaves.get_mut(first).filter(|_| count > 0) {
            *leaf = domain;
            self.leaves.drain(first + 1..first + count);
        }
        true
    }

    /// Makes the states of a set active, unless one of them acts.
    /// They take the place of the innermost active state that contains them.
    #[inline]
    pub(super) fn enter_quietly(
        &mut self,
        (from, set, to): (usize, &[u64], usize),
        index: RegionIndex<'_>,
    ) -> bool {
        let word = |set: &[u64], at: usize| set.get(at).copied().unwrap_or_default();
        if (from..to).any(|at| word(set, at) & word(index.entry, at) != 0) {
            return false;
        }
        let mut place = None;
        for at in from..to {
            let states = word(set, at);
            if let Some(active) = self.active.get_mut(at) {
                *active |= states;
            }
            for leaf in bits::states(at, states & word(index.leaves, at)) {
                // The innermost state around the set is the last leaf before it.
                let next = place.unwrap_or_else(|| self.leaves.partition_point(|&it| it < leaf));
                match next.checked_sub(1).and_then(|it| self.leaves.get_mut(it)) {
                    Some(innermost) if place.is_none() => {
                        *innermost = leaf;
                        place = Some(next);
                    }
                    _ => {
                        self.leaves.insert(next, leaf);
                        place = Some(next + 1);
                    }
                }
            }
        }
        true
    }

    /// Makes a state inactive: the parent becomes innermost if the state was its last active descendant.
    #[inline]
    pub(super) fn leave<C: Chart>(&mut self, chart: &C, state: StateId, parent: StateId) {
        bits::remove(&mut self.active, state.index());
        let Ok(at) = self.leaves.binary_search(&state) else {
            return;
        };
        let end = chart.node(parent).map_or(0, |node| node.end);
        let before = at.checked_sub(1).and_then(|at| self.leaves.get(at));
        let after = self.leaves.get(at + 1);
        // Leaves are in document order, so that only neighbors can be the parent's.
        if before.is_some_and(|&leaf| leaf > parent) || after.is_some_and(|leaf| leaf.raw() < end) {
            self.leaves.remove(at);
        } else if let Some(leaf) = self.leaves.get_mut(at) {
            *leaf = parent;
        }
    }

    /// Exits one leaf and enters another. No other leaf is within the innermost state around both.
    #[inline]
    pub(super) fn move_leaf<C: Chart>(&mut self, chart: &C, leaf: StateId, next: StateId) {
        if leaf == next {
            return;
        }
        if chart::parent(chart, leaf) == chart::parent(chart, next) {
            bits::remove(&mut self.active, leaf.index());
            bits::insert(&mut self.active, next.index());
            return self.replace(leaf, next);
        }
        let mut common = leaf;
        while !chart::is_descendant(chart, next, common) {
            bits::remove(&mut self.active, common.index());
            let Some(parent) = chart::parent(chart, common) else {
                break;
            };
            common = parent;
        }
        for state in chart::chain(chart, next).take_while(|&state| state != common) {
            bits::insert(&mut self.active, state.index());
        }
        self.replace(leaf, next);
    }

    #[inline]
    fn replace(&mut self, leaf: StateId, next: StateId) {
        if let Ok(at) = self.leaves.binary_search(&leaf)
            && let Some(leaf) = self.leaves.get_mut(at)
        {
            *leaf = next;
        }
    }

    /// Makes a state active: it takes its parent's place if that was innermost.
    #[inline]
    pub(super) fn enter<C: Chart>(&mut self, chart: &C, state: StateId) {
        bits::insert(&mut self.active, state.index());
        let at = self.leaves.partition_point(|&leaf| leaf < state);
        let before = at.checked_sub(1).and_then(|at| self.leaves.get_mut(at));
        match before {
            Some(before) if Some(*before) == chart::parent(chart, state) => *before = state,
            _ => self.leaves.insert(at, state),
        }
    }
}
