//! The steps of a generated machine that isn't written out as `match`: one with parallel states, history, timers or
//! conditional actions.
//!
//! Its states and transitions are const [`Rows`], what it does is a [`Content`]; the algorithm is the table engine's own.

use alloc::vec::Vec;

use super::RestoreError;
use crate::chart::{Arrow, Chart, Node};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{EventId, StateId, TransitionId};
use crate::limits::DEFAULT_STEP_LIMIT;
use crate::record::Outcome;
use crate::regions;
pub use crate::regions::Content;
use crate::table::sections::StateKind;

/// A state: what it is, the state around it ([`NONE`](super::NONE) around the root), one past its last descendant, where
/// its initial or default transition leads, and where its part of [`Rows::triggers`] begins and ends.
pub type StateRow = (StateKind, u16, u16, &'static [StateId], u32, u32);

/// A transition: its source, its domain ([`NONE`](super::NONE) if it leaves nothing), and its targets.
pub type TransitionRow = (u16, u16, &'static [StateId]);

/// The states and transitions of a machine, by number.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Whether the machine has parallel states or history.
    pub has_regions: bool,
    /// The states in document order, the root first.
    pub states: &'static [StateRow],
    /// For each state, for each of its transitions in document order, for each of its events: the event, or
    /// [`NONE`](super::NONE), and the transition.
    pub triggers: &'static [(u16, u16)],
    /// The transitions.
    pub transitions: &'static [TransitionRow],
}

impl Chart for Rows {
    fn node(&self, state: StateId) -> Option<Node<'_>> {
        let &(kind, parent, end, initial, ..) = self.states.get(state.index())?;
        Some(Node {
            kind,
            parent: Some(StateId::new(parent)).filter(|_| parent != super::NONE),
            end,
            initial,
        })
    }

    fn arrow(&self, transition: TransitionId) -> Option<Arrow<'_>> {
        let &(source, domain, targets) = self.transitions.get(transition.index())?;
        Some(Arrow {
            source: StateId::new(source),
            domain: Some(StateId::new(domain)).filter(|_| domain != super::NONE),
            targets,
        })
    }

    fn triggered(&self, state: StateId, event: EventId) -> impl Iterator<Item = TransitionId> {
        let row = self.states.get(state.index());
        let range = row.map_or(0..0, |row| row.4 as usize..row.5 as usize);
        let own = self.triggers.get(range).unwrap_or_default();
        let these = own.iter().filter(move |row| row.0 == event.raw());
        these.map(|row| TransitionId::new(row.1))
    }
}

impl Rows {
    /// Enters the initial configuration by default and comes to rest.
    ///
    /// # Errors
    ///
    /// The machine doesn't come to rest.
    pub fn start<K: Content, O: Observer>(
        &self,
        content: &mut K,
        observer: &mut O,
    ) -> Result<Configuration, StepError> {
        let mut configuration = Configuration::root(self.has_regions);
        let limit = DEFAULT_STEP_LIMIT;
        regions::start(self, &mut configuration, limit, content, observer)?;
        Ok(configuration)
    }

    /// Takes an event from outside: one macrostep. The queue of `content` is empty.
    ///
    /// # Errors
    ///
    /// The machine has ended, or doesn't come to rest. The configuration is then as it was.
    pub fn send<K: Content, O: Observer>(
        &self,
        configuration: &mut Configuration,
        event: EventId,
        content: &mut K,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        if configuration.is_ended_in(self) {
            return Err(StepError::Ended);
        }
        let enabled = regions::triggered(self, configuration, event, content, observer);
        if enabled.is_empty() {
            return Ok(Outcome::Ignored);
        }
        let limit = DEFAULT_STEP_LIMIT;
        regions::macrostep(self, configuration, &enabled, limit, content, observer)
    }

    /// Whether the event would be taken now. Guards are asked, nothing is done.
    pub fn can(
        &self,
        configuration: &Configuration,
        event: EventId,
        mut holds: impl FnMut(TransitionId) -> bool,
    ) -> bool {
        !configuration.is_ended_in(self)
            && !regions::select(self, configuration, event, &mut holds).is_empty()
    }

    /// Whether the state is active.
    #[must_use]
    pub fn is_active(&self, configuration: &Configuration, state: StateId) -> bool {
        configuration.is_active_in(self, state)
    }

    /// Whether the machine has ended.
    #[must_use]
    pub fn is_ended(&self, configuration: &Configuration) -> bool {
        configuration.is_ended_in(self)
    }

    /// The configuration that a snapshot is of.
    ///
    /// # Errors
    ///
    /// It is of another table, or no configuration of this machine.
    pub fn restore(
        &self,
        table: &[u8; 32],
        snapshot: &WalkSnapshot,
    ) -> Result<Configuration, RestoreError> {
        if snapshot.table != *table {
            return Err(RestoreError::other_table());
        }
        let leaves = &snapshot.leaves;
        let restored = Configuration::of_leaves(self, self.has_regions, leaves);
        let history = snapshot.history.iter();
        history
            .fold(restored, |restored, (history, states)| {
                restored.and_then(|restored| restored.recording(self, *history, states))
            })
            .map_err(RestoreError::illegal)
    }
}

/// Where a machine is that may have several leaves, to be kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WalkSnapshot {
    /// The hash of the machine's table.
    pub table: [u8; 32],
    /// The numbers of the active states without active children.
    pub leaves: Vec<StateId>,
    /// What histories have recorded.
    pub history: Vec<(StateId, Vec<StateId>)>,
}

impl WalkSnapshot {
    /// Where a machine is.
    #[must_use]
    pub fn of(table: [u8; 32], configuration: &Configuration) -> Self {
        let history = configuration.history();
        Self {
            table,
            leaves: configuration.leaves().collect(),
            history: history
                .map(|(history, states)| (history, states.to_vec()))
                .collect(),
        }
    }
}
