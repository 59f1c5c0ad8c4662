//! Places: the configurations of a generated machine with regions that has few of them.
//!
//! The compiler writes such a machine out by place: a `match` over place and event. What histories have recorded are
//! values beside it. A machine can be elsewhere, where a snapshot of another engine has put it; then the [`Rows`] step it
//! until it comes to a place.

use super::{NONE, Rows};
use crate::chart::{self, Tree as _};
use crate::configuration::Configuration;
use crate::host::Observer;
use crate::id::{ActionId, EventId, StateId, TransitionId};

/// Something that an observer sees, with the number of the state, transition, event or action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A microstep begins.
    Microstep,
    /// A transition is taken.
    Transition(u16),
    /// A state was exited.
    Exited(u16),
    /// A state was entered.
    Entered(u16),
    /// An action is carried out.
    Action(u16),
    /// An event was raised.
    Raised(u16),
}

/// Notifies an observer of what a step does, if it watches.
#[inline]
pub fn notify<O: Observer>(observer: &mut O, notices: &[Notice]) {
    if !observer.watches() {
        return;
    }
    for notice in notices {
        match *notice {
            Notice::Microstep => observer.microstep(),
            Notice::Transition(id) => observer.transition(TransitionId::new(id)),
            Notice::Exited(id) => observer.exited(StateId::new(id)),
            Notice::Entered(id) => observer.entered(StateId::new(id)),
            Notice::Action(id) => observer.action(ActionId::new(id)),
            Notice::Raised(id) => observer.raised(EventId::new(id)),
        }
    }
}

/// The places of a machine with `H` histories.
/// Lists of states are in document order, and lists of those are sorted.
#[derive(Clone, Copy, Debug)]
pub struct Places<const H: usize> {
    /// The active states without active children in each place.
    pub leaves: &'static [&'static [StateId]],
    /// The histories in document order, each with the sets of states that it can record.
    pub histories: [(StateId, &'static [&'static [StateId]]); H],
}

/// The position of a machine that is written out by place.
#[derive(Clone, Debug)]
pub struct Position<const H: usize> {
    /// The number of the place, or [`NONE`].
    place: u16,
    /// The record of each history: zero for nothing, else one more than the number of the set.
    pub recorded: [u16; H],
    /// The configuration of a machine that is in no place.
    elsewhere: Option<Configuration>,
}

impl<const H: usize> Position<H> {
    /// Finds a configuration among the places.
    #[must_use]
    pub fn new(places: &Places<H>, configuration: Configuration) -> Self {
        match Self::find(places, &configuration) {
            Some((place, recorded)) => Self {
                place,
                recorded,
                elsewhere: None,
            },
            None => Self {
                place: NONE,
                recorded: [0; H],
                elsewhere: Some(configuration),
            },
        }
    }

    fn find(places: &Places<H>, configuration: &Configuration) -> Option<(u16, [u16; H])> {
        let place = places
            .leaves
            .binary_search_by(|leaves| leaves.iter().copied().cmp(configuration.leaves()));
        let mut recorded = [0; H];
        for (history, states) in configuration.history() {
            let mut histories = places.histories.iter().zip(&mut recorded);
            let ((_, sets), value) = histories.find(|((id, _), _)| *id == history)?;
            let at = sets.binary_search_by(|set| (*set).cmp(states)).ok()?;
            *value = u16::try_from(at + 1).ok()?;
        }
        Some((u16::try_from(place.ok()?).ok()?, recorded))
    }

    /// Returns the number of the place, or [`NONE`].
    #[must_use]
    #[inline]
    pub const fn place_number(&self) -> u16 {
        self.place
    }

    /// Moves to another place, from one.
    #[inline]
    pub const fn move_to(&mut self, place: u16) {
        self.place = place;
    }

    /// Returns the configuration, with what histories have recorded.
    #[must_use]
    pub fn configuration(&self, rows: &Rows<true>, places: &Places<H>) -> Configuration {
        if let Some(configuration) = &self.elsewhere {
            return configuration.clone();
        }
        let leaves = self.known_leaves(places);
        let made = Configuration::of_leaves(rows, true, leaves).and_then(|made| {
            let mut recorded = places.histories.iter().zip(self.recorded);
            recorded.try_fold(made, |made, ((history, sets), value)| {
                let at = usize::from(value).checked_sub(1);
                match at.and_then(|at| sets.get(at)) {
                    Some(states) => made.recording(rows, *history, states),
                    None => Ok(made),
                }
            })
        });
        // INVARIANT: places are configurations that the machine has come to.
        made.unwrap_or_else(|_| Configuration::root(rows, true))
    }

    /// Returns the active states without active children, in document order.
    pub fn leaves(&self, places: &Places<H>) -> impl Iterator<Item = StateId> {
        let known = self.known_leaves(places).iter().copied();
        let elsewhere = self.elsewhere.iter();
        known.chain(elsewhere.flat_map(Configuration::leaves))
    }

    /// Reports whether the state is active.
    #[must_use]
    pub fn is_active(&self, rows: &Rows<true>, places: &Places<H>, state: StateId) -> bool {
        let end = rows.node(state).map_or(0, |node| node.end);
        self.leaves(places)
            .any(|leaf| state <= leaf && leaf.raw() < end)
    }

    /// Reports whether the machine has ended.
    #[must_use]
    pub fn is_ended(&self, rows: &Rows<true>, places: &Places<H>) -> bool {
        self.leaves(places).all(|leaf| chart::is_end(rows, leaf))
    }

    /// Returns the leaves of the place; none elsewhere.
    fn known_leaves(&self, places: &Places<H>) -> &'static [StateId] {
        let leaves = places.leaves.get(usize::from(self.place));
        leaves.copied().unwrap_or_default()
    }
}
