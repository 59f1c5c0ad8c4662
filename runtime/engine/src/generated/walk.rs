//! Steps of generated machines that aren't written out as `match`.
//! They are large, or have parallel states, history, timers or conditional actions.
//!
//! The states and transitions are const [`Rows`], the guards and actions are a [`Content`]; the algorithms are the table
//! engine's own.

use alloc::vec::Vec;

use super::RestoreError;
use crate::chart::{Arrow, Chart, Node, RegionIndex, Tree};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{EventId, StateId, TransitionId};
use crate::limits::DEFAULT_STEP_LIMIT;
use crate::record::Outcome;
pub use crate::regions::Content;
use crate::saved::{LoadError, Saved, load_configuration};
use crate::scratch::Selection;
use crate::table::sections::StateKind;
use crate::{flat, regions};

/// A state, in numbers.
/// They are its kind, its parent ([`NONE`](super::NONE) for the root), one past its last descendant, the start and end
/// of the targets of its initial or default transition in `Rows::targets`, and those of its part of `Rows::triggers`.
pub type StateRow = (StateKind, u16, u16, u32, u32, u32, u32);

/// A transition, in numbers.
/// They are its source, its domain ([`NONE`](super::NONE) if it exits nothing), and the start and end of its targets in
/// `Rows::targets`.
pub type TransitionRow = (u16, u16, u32, u32);

/// Returns the states with these numbers.
#[must_use]
#[expect(
    clippy::indexing_slicing,
    reason = "iterators aren't const, and both arrays are as long"
)]
pub const fn states<const N: usize>(numbers: [u16; N]) -> [StateId; N] {
    let mut states = [StateId::new(0); N];
    let mut at = 0;
    while at < N {
        states[at] = StateId::new(numbers[at]);
        at += 1;
    }
    states
}

/// The states and transitions of a machine, by number.
/// `REGIONS` says whether it has parallel states or history.
#[derive(Clone, Copy, Debug)]
pub struct Rows<const REGIONS: bool> {
    /// The states in document order, the root first.
    pub states: &'static [StateRow],
    /// Pairs of an event, or [`NONE`](super::NONE), and a transition that it triggers.
    /// They are sorted by state, then by transition in document order, then by event.
    pub triggers: &'static [(u16, u16)],
    /// The transitions.
    pub transitions: &'static [TransitionRow],
    /// The targets of all transitions, initial and default ones included.
    pub targets: &'static [StateId],
    /// True if any of them is eventless.
    pub has_eventless: bool,
    /// The index of a machine with parallel states or history; of another it is empty.
    pub index: RegionIndex<'static>,
}

impl<const REGIONS: bool> Tree for Rows<REGIONS> {
    #[inline]
    fn node(&self, state: StateId) -> Option<Node<'_>> {
        let &(kind, parent, end, first, last, ..) = self.states.get(state.index())?;
        Some(Node {
            kind,
            parent: Some(StateId::new(parent)).filter(|_| parent != super::NONE),
            end,
            initial: self.targets(first, last),
        })
    }
}

impl<const REGIONS: bool> Chart for Rows<REGIONS> {
    #[inline]
    fn arrow(&self, transition: TransitionId) -> Option<Arrow<'_>> {
        let &(source, domain, first, last) = self.transitions.get(transition.index())?;
        Some(Arrow {
            source: StateId::new(source),
            domain: Some(StateId::new(domain)).filter(|_| domain != super::NONE),
            targets: self.targets(first, last),
        })
    }

    #[inline]
    fn has_eventless(&self) -> bool {
        self.has_eventless
    }

    #[inline]
    fn index(&self) -> RegionIndex<'_> {
        self.index
    }

    #[inline]
    fn triggered(&self, state: StateId, event: EventId) -> impl Iterator<Item = TransitionId> {
        let own = self.triggers_of(state.raw()).iter();
        let triggered = own.filter(move |row| row.0 == event.raw());
        triggered.map(|row| TransitionId::new(row.1))
    }
}

impl<const REGIONS: bool> Rows<REGIONS> {
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
        let mut configuration = Configuration::root(self, REGIONS);
        let limit = DEFAULT_STEP_LIMIT;
        let _ = if REGIONS {
            regions::start(self, &mut configuration, limit, content, observer)?
        } else {
            flat::start(self, &mut configuration, limit, content, observer)?
        };
        Ok(configuration)
    }

    /// Takes an event from outside: one macrostep. The queue of `content` is empty.
    ///
    /// # Errors
    ///
    /// The machine has ended, or doesn't come to rest. The configuration is then as it was.
    #[inline]
    pub fn send<K: Content, O: Observer>(
        &self,
        configuration: &mut Configuration,
        event: EventId,
        content: &mut K,
        observer: &mut O,
    ) -> Result<Outcome, StepError> {
        if self.is_ended(configuration) {
            return Err(StepError::Ended);
        }
        let limit = DEFAULT_STEP_LIMIT;
        if REGIONS {
            return regions::send(self, configuration, event, limit, content, observer);
        }
        match flat::triggered(self, configuration, event, content, observer) {
            Some(it) => flat::macrostep(self, configuration, it, limit, content, observer),
            None => Ok(Outcome::Ignored),
        }
    }

    /// Returns whether the event would be taken now. Guards are asked, nothing is done.
    pub fn can(
        &self,
        configuration: &Configuration,
        event: EventId,
        holds: impl FnMut(TransitionId) -> bool,
    ) -> bool {
        if self.is_ended(configuration) {
            return false;
        }
        if REGIONS {
            let mut selection = Selection::default();
            regions::select(self, configuration, event, &mut selection, holds);
            !selection.enabled.is_empty()
        } else {
            flat::select(self, configuration.leaf, event, holds).is_some()
        }
    }
}

impl Rows<false> {
    /// Returns the configuration with that leaf, which is one of the machine's.
    #[must_use]
    pub const fn at(&self, leaf: StateId) -> Configuration {
        Configuration::with_leaf(leaf)
    }
}

impl<const REGIONS: bool> Rows<REGIONS> {
    /// Returns the state's own part of `Rows::triggers`.
    #[must_use]
    #[expect(
        clippy::indexing_slicing,
        reason = "`get` isn't const, and the index is compared with the length"
    )]
    pub const fn triggers_of(&self, state: u16) -> &'static [(u16, u16)] {
        let state = state as usize;
        if state >= self.states.len() {
            return &[];
        }
        let (.., first, end) = self.states[state];
        match self.triggers.split_at_checked(end as usize) {
            Some((before_end, _)) => match before_end.split_at_checked(first as usize) {
                Some((_, own)) => own,
                None => &[],
            },
            None => &[],
        }
    }

    #[inline]
    fn targets(&self, first: u32, end: u32) -> &'static [StateId] {
        let targets = self.targets.get(first as usize..end as usize);
        targets.unwrap_or_default()
    }

    /// Returns whether the state is active.
    #[must_use]
    pub fn is_active(&self, configuration: &Configuration, state: StateId) -> bool {
        configuration.is_active_in(self, state)
    }

    /// Returns whether the machine has ended.
    #[must_use]
    #[inline]
    pub fn is_ended(&self, configuration: &Configuration) -> bool {
        configuration.is_ended_in(self)
    }

    /// Returns the configuration of a saved machine; `names` are those of the states, by id.
    ///
    /// # Errors
    ///
    /// The machine has no state of that name, or can't be in these states.
    pub fn load(&self, names: &[&str], saved: &Saved) -> Result<Configuration, LoadError> {
        load_configuration(self, REGIONS, saved, |name| {
            let at = names.iter().position(|other| *other == name);
            at.and_then(StateId::from_index)
        })
    }

    /// Returns the configuration in a snapshot.
    ///
    /// # Errors
    ///
    /// The snapshot is of another behavior, or of no configuration of this machine.
    pub fn restore(
        &self,
        behavior: &[u8; 32],
        snapshot: &WalkSnapshot,
    ) -> Result<Configuration, RestoreError> {
        if snapshot.behavior != *behavior {
            return Err(RestoreError::other_behavior());
        }
        let leaves = &snapshot.leaves;
        let restored = Configuration::of_leaves(self, REGIONS, leaves);
        let history = snapshot.history.iter();
        history
            .fold(restored, |restored, (history, states)| {
                restored.and_then(|restored| restored.recording(self, *history, states))
            })
            .map_err(RestoreError::illegal)
    }
}

/// A saved machine that may have several leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WalkSnapshot {
    /// The hash of the machine's behavior.
    pub behavior: [u8; 32],
    /// The numbers of the active states without active children.
    pub leaves: Vec<StateId>,
    /// The records of histories.
    pub history: Vec<(StateId, Vec<StateId>)>,
}

impl WalkSnapshot {
    /// Saves the configuration of a machine with that behavior.
    #[must_use]
    pub fn new(behavior: [u8; 32], configuration: &Configuration) -> Self {
        let history = configuration.history();
        Self {
            behavior,
            leaves: configuration.leaves().collect(),
            history: history
                .map(|(history, states)| (history, states.to_vec()))
                .collect(),
        }
    }
}
