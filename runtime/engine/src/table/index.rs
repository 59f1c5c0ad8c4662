//! Indexes that `verify` derives from the rows, so that a step is quick.
//!
//! Three indexes answer *which transition takes this event in this configuration*:
//!
//! - the sorted rows, always there: for each state its triggers by event. The general step asks them, walking from the
//!   leaf to the root;
//! - the reactions, always there: for each event the states that have transitions for it, as a bit set, so that a step of
//!   a machine with regions asks no state that the event has nothing to do with;
//! - the dense one, `event × state`, where it stays small: a cell answers for a leaf and all its ancestors at once, and
//!   in the common cases it says all that the step has to do.
//!
//! INVARIANT: the dense index only says what the general step would do. It holds no answer for a state that has ended
//! or an event that can't be sent, and it marks a transition *plain* only if the step after it is known to be at rest:
//! nothing is raised, nothing ends, no eventless transition waits at the new leaf.

mod cell;
mod dense;

use alloc::vec::Vec;

pub(crate) use self::cell::{Cell, Guarded};
pub(crate) use self::dense::{Check, Contender, Dense, cell};
use super::sections::{ActionKind, EventKind, Sections, StateKind, list};
use super::tree;
use crate::bits;
pub(crate) use crate::chart::EVENTLESS;
use crate::chart::RegionIndex;
use crate::id::{EventId, StateId, TransitionId};

/// Stands for *no domain*: states are fewer (V01).
const NO_DOMAIN: u16 = u16::MAX;

/// The data derived from verified rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The index of each state's first row, and one for the end of the last.
    starts: Vec<u32>,
    /// The triggers of each state's transitions: by event, then in document order; eventless ones last.
    rows: Vec<(EventId, TransitionId)>,
    // The parts of a `RegionIndex`.
    reaction_ends: Vec<u32>,
    reactions: Vec<(u16, u64)>,
    histories: Vec<(u16, u16, bool)>,
    exit: Vec<u64>,
    entry: Vec<u64>,
    leaves: Vec<u64>,
    /// The domain of each transition, or [`NO_DOMAIN`].
    domains: Vec<u16>,
    /// The dense index.
    /// It has no cells where it would be large, or where the machine may have several leaves.
    pub(crate) dense: Dense,
    /// True if the machine has parallel states or history.
    pub(crate) has_regions: bool,
    /// True if an action may change the host's fields or timers.
    /// The host then learns where a macrostep begins and fails.
    pub(crate) changes_host: bool,
    /// True if an action of the host's can fail, so that steps list those before it.
    pub(crate) can_fail: bool,
    /// The event that is raised where an assignment has no value.
    pub(crate) execution: Option<EventId>,
}

impl Index {
    /// Derives the index. The rows have passed every rule.
    pub(crate) fn new(sections: &Sections) -> Self {
        let mut index = Self::default();
        for state in &sections.states {
            index.starts.push(length(&index.rows));
            let from = index.rows.len();
            for raw in state.transitions.clone() {
                let id = TransitionId::new(raw);
                let Some(row) = sections.transitions.get(id.index()) else {
                    continue;
                };
                let triggers = list(&sections.triggers, &row.triggers);
                index.rows.extend(triggers.iter().map(|&event| (event, id)));
                if triggers.is_empty() {
                    index.rows.push((EVENTLESS, id));
                }
            }
            if let Some(rows) = index.rows.get_mut(from..) {
                rows.sort_unstable();
            }
        }
        index.starts.push(length(&index.rows));
        index.index_events(sections.events.len());
        let domains = sections.transitions.iter().map(|row| {
            let domain = tree::domain(sections, row);
            domain.map_or(NO_DOMAIN, StateId::raw)
        });
        index.domains = domains.collect();
        index.histories = histories(sections);
        index.index_acts(sections);
        index.has_regions = sections
            .states
            .iter()
            .any(|row| row.kind == StateKind::Parallel || row.kind.is_history());
        index.changes_host = sections.actions.iter().any(|row| {
            matches!(
                row.kind,
                ActionKind::Assign(_) | ActionKind::Schedule(..) | ActionKind::Cancel(_)
            )
        });
        let mut actions = sections.actions.iter();
        index.can_fail = actions.any(|row| row.kind == ActionKind::Fallible);
        index.execution = execution(sections);
        index.dense = Dense::new(sections, &index);
        index
    }

    /// Collects for each event the states that have transitions for it.
    fn index_events(&mut self, events: usize) {
        let mut pairs: Vec<(EventId, StateId)> = Vec::with_capacity(self.rows.len());
        for raw in 0..u16::try_from(self.starts.len()).unwrap_or(u16::MAX) {
            let state = StateId::new(raw);
            let own = self.state(state).iter().map(|&(event, _)| (event, state));
            pairs.extend(own);
        }
        pairs.sort_unstable();
        let mut rest = pairs.as_slice();
        let named = (0..events).filter_map(EventId::from_index);
        for event in named.chain([EVENTLESS]) {
            let start = self.reactions.len();
            let count = rest.iter().take_while(|pair| pair.0 == event).count();
            let (own, after) = rest.split_at_checked(count).unwrap_or_default();
            rest = after;
            for &(_, state) in own {
                let (word, mask) = bits::position(state.index());
                let word = u16::try_from(word).unwrap_or(u16::MAX);
                let own = self.reactions.get_mut(start..);
                match own.and_then(<[_]>::last_mut) {
                    Some((last, states)) if *last == word => *states |= mask,
                    _ => self.reactions.push((word, mask)),
                }
            }
            self.reaction_ends.push(length(&self.reactions));
        }
    }

    /// Collects the states that act when they are exited or entered, and the leaves.
    /// The actions of a history's default transition count as an entry of its parent.
    fn index_acts(&mut self, sections: &Sections) {
        let sets = [&mut self.exit, &mut self.entry, &mut self.leaves];
        let [exit, entry, leaves] = sets.map(|set| {
            set.resize(bits::words(sections.states.len()), 0);
            set
        });
        for (index, row) in sections.states.iter().enumerate() {
            if !row.exit.is_empty() {
                bits::insert(exit, index);
            }
            let begins = !row.initial_calls.is_empty();
            if !row.entry.is_empty() || begins || row.kind == StateKind::Final {
                bits::insert(entry, index);
            }
            if begins && let Some(parent) = row.parent.filter(|_| row.kind.is_history()) {
                bits::insert(entry, parent.index());
            }
            if row.kind.is_leaf() {
                bits::insert(leaves, index);
            }
        }
    }

    /// Returns what steps of machines with parallel states or history look up.
    #[inline]
    pub(crate) fn of_regions(&self) -> RegionIndex<'_> {
        RegionIndex {
            reaction_ends: &self.reaction_ends,
            reactions: &self.reactions,
            histories: &self.histories,
            exit: &self.exit,
            entry: &self.entry,
            leaves: &self.leaves,
        }
    }

    /// Returns the domain of the transition; none for one that exits nothing.
    #[inline]
    pub(crate) fn domain(&self, transition: TransitionId) -> Option<StateId> {
        let raw = self.domains.get(transition.index()).copied()?;
        (raw != NO_DOMAIN).then_some(StateId::new(raw))
    }

    /// Returns the state's triggers, by event, then in document order.
    #[inline]
    pub(crate) fn state(&self, state: StateId) -> &[(EventId, TransitionId)] {
        let start = self.starts.get(state.index()).copied().unwrap_or_default();
        let end = self
            .starts
            .get(state.index() + 1)
            .copied()
            .unwrap_or_default();
        list(&self.rows, &(start..end))
    }

    /// Returns the state's transitions that the event triggers, in document order.
    #[inline]
    pub(crate) fn matches(&self, state: StateId, event: EventId) -> &[(EventId, TransitionId)] {
        let rows = self.state(state);
        let from = rows.partition_point(|&(other, _)| other < event);
        let rows = rows.get(from..).unwrap_or_default();
        let count = rows.partition_point(|&(other, _)| other == event);
        rows.get(..count).unwrap_or_default()
    }

    /// Reports whether the state has eventless transitions of its own.
    fn is_restless(&self, state: StateId) -> bool {
        self.state(state)
            .last()
            .is_some_and(|&(event, _)| event == EVENTLESS)
    }
}

/// Lists the histories by their parents.
fn histories(sections: &Sections) -> Vec<(u16, u16, bool)> {
    let histories = (0_u16..)
        .zip(&sections.states)
        .filter_map(|(history, row)| {
            let parent = row.parent.filter(|_| row.kind.is_history())?;
            Some((parent.raw(), history, row.kind == StateKind::DeepHistory))
        });
    let mut histories: Vec<_> = histories.collect();
    histories.sort_unstable();
    histories
}

/// Returns the number of rows of a list whose ranges are kept as `u32`.
fn length<T>(rows: &[T]) -> u32 {
    u32::try_from(rows.len()).unwrap_or(u32::MAX)
}

/// Returns the internal event of that name.
fn execution(sections: &Sections) -> Option<EventId> {
    let mut events = sections.events.iter();
    let at = events.position(|row| {
        let name = sections.texts.get(row.name.index());
        row.kind == EventKind::Internal && name.is_some_and(|name| **name == *EXECUTION)
    })?;
    EventId::from_index(at)
}

/// SCXML's event for what fails in executable content.
const EXECUTION: &str = "error.execution";

/// Reports whether a running machine can rest in the state.
/// It is neither compound nor a final child of the root.
fn is_running_leaf(sections: &Sections, state: StateId) -> bool {
    sections
        .states
        .get(state.index())
        .is_some_and(|row| match row.kind {
            StateKind::Atomic => true,
            StateKind::Compound
            | StateKind::Parallel
            | StateKind::History
            | StateKind::DeepHistory => false,
            StateKind::Final => row.parent != Some(crate::id::ROOT),
        })
}
