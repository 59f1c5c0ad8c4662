//! Indexes that `verify` derives from the rows, so that a step is quick.
//!
//! Two indexes answer *which transition takes this event in this configuration*:
//!
//! - the sorted rows, always there: for each state its triggers by event. The general step asks them, walking from the
//!   leaf to the root;
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
use super::list;
use super::sections::{ActionKind, EventKind, Sections, StateKind};
pub(crate) use crate::chart::EVENTLESS;
use crate::id::{EventId, StateId, TransitionId};

/// The data derived from verified rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The index of each state's first row, and one for the end of the last.
    starts: Vec<u32>,
    /// The triggers of each state's transitions: by event, then in document order; eventless ones last.
    rows: Vec<(EventId, TransitionId)>,
    /// The dense index.
    /// It has no cells where it would be large, or where the machine may have several leaves.
    pub(crate) dense: Dense,
    /// True if the machine has parallel states or history.
    pub(crate) has_regions: bool,
    /// True if an action may change the host's fields or timers.
    /// The host then learns where a macrostep begins and fails.
    pub(crate) changes_host: bool,
    /// The event that is raised where an assignment has no value.
    pub(crate) execution: Option<EventId>,
}

impl Index {
    /// Derives the index. The rows have passed every rule.
    pub(crate) fn new(sections: &Sections) -> Self {
        let mut index = Self::default();
        for state in &sections.states {
            index
                .starts
                .push(u32::try_from(index.rows.len()).unwrap_or(u32::MAX));
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
        index
            .starts
            .push(u32::try_from(index.rows.len()).unwrap_or(u32::MAX));
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
        index.execution = execution(sections);
        if !index.has_regions {
            index.dense = Dense::new(sections, &index);
        }
        index
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
            StateKind::Final => row.parent != Some(super::ROOT),
        })
}
