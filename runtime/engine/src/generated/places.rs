//! Places: the configurations of a generated machine with regions that has few of them.
//!
//! The compiler writes such a machine out by place: a `match` over place and event. A place is a configuration together
//! with what histories have recorded. A machine can be elsewhere, where a snapshot of another engine has put it; then the
//! [`Rows`] step it until it comes to a place.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{NONE, Rows};
use crate::chart::{self, Tree as _};
use crate::configuration::Configuration;
use crate::id::StateId;

/// A place: the active states without active children, and what histories have recorded, both in document order.
pub type PlaceRow = (&'static [StateId], &'static [(StateId, &'static [StateId])]);

/// Where a machine is that is written out by place.
#[derive(Clone, Debug)]
pub struct Position {
    /// The number of the place, or [`NONE`].
    place: u16,
    /// The configuration of a machine that is in no place.
    elsewhere: Option<Configuration>,
}

impl Position {
    /// Finds a configuration among the places, which are sorted.
    #[must_use]
    pub fn new(places: &[PlaceRow], configuration: Configuration) -> Self {
        let found = places.binary_search_by(|place| compare(place, &configuration));
        match found.ok().and_then(|at| u16::try_from(at).ok()) {
            Some(place) => Self {
                place,
                elsewhere: None,
            },
            None => Self {
                place: NONE,
                elsewhere: Some(configuration),
            },
        }
    }

    /// Returns the number of the place, or [`NONE`].
    #[must_use]
    #[inline]
    pub const fn place(&self) -> u16 {
        self.place
    }

    /// Moves to another place, from one.
    #[inline]
    pub const fn move_to(&mut self, place: u16) {
        self.place = place;
    }

    /// Returns the configuration, with what histories have recorded.
    #[must_use]
    pub fn configuration(&self, rows: &Rows<true>, places: &[PlaceRow]) -> Configuration {
        if let Some(configuration) = &self.elsewhere {
            return configuration.clone();
        }
        let (leaves, history) = self.row(places);
        let made = Configuration::of_leaves(rows, true, leaves).and_then(|made| {
            let mut history = history.iter();
            history.try_fold(made, |made, (history, states)| {
                made.recording(rows, *history, states)
            })
        });
        // INVARIANT: places are configurations that the machine has come to.
        made.unwrap_or_else(|_| Configuration::root(rows, true))
    }

    /// Returns the active states without active children, in document order.
    pub fn leaves(&self, places: &[PlaceRow]) -> impl Iterator<Item = StateId> {
        let known = self.row(places).0.iter().copied();
        let elsewhere = self.elsewhere.iter();
        known.chain(elsewhere.flat_map(Configuration::leaves))
    }

    /// Reports whether the state is active.
    #[must_use]
    pub fn is_active(&self, rows: &Rows<true>, places: &[PlaceRow], state: StateId) -> bool {
        let end = rows.node(state).map_or(0, |node| node.end);
        self.leaves(places)
            .any(|leaf| state <= leaf && leaf.raw() < end)
    }

    /// Reports whether the machine has ended.
    #[must_use]
    pub fn is_ended(&self, rows: &Rows<true>, places: &[PlaceRow]) -> bool {
        self.leaves(places).all(|leaf| chart::is_end(rows, leaf))
    }

    /// Returns the row of the place; an empty one elsewhere.
    fn row(&self, places: &[PlaceRow]) -> PlaceRow {
        let row = places.get(usize::from(self.place));
        row.copied().unwrap_or_default()
    }
}

/// Compares a place with a configuration, as places are sorted: by their leaves, then by what is recorded.
fn compare((leaves, history): &PlaceRow, configuration: &Configuration) -> Ordering {
    let by_leaves = leaves.iter().copied().cmp(configuration.leaves());
    by_leaves.then_with(|| {
        let recorded: Vec<(StateId, &[StateId])> = configuration.history().collect();
        history.iter().copied().cmp(recorded)
    })
}
