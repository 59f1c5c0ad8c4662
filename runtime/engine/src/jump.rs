//! Jumps: a machine is moved from outside, by no transition of its own.
//! People set a state by hand so, and detours enter and return.
//!
//! It is what a transition would do that leads to the targets from the innermost active compound state around all of
//! them: what is active in there is left, the targets are entered, with everything around and in them that a transition
//! would enter, and the machine comes to rest. Regions in which nothing is targeted stay as they are, unless the state
//! around them is left.

use alloc::vec::Vec;

use crate::chart::{self, Arrow, Chart, Node, RegionIndex, Tree};
use crate::configuration::Configuration;
use crate::id::{EventId, ROOT, StateId, TransitionId};
use crate::table::Table;
use crate::table::sections::StateKind;

/// The transition that the table doesn't have: transitions are fewer (V01).
pub(crate) const JUMP: TransitionId = TransitionId::new(u16::MAX);

/// A table with one transition more, which leads to the targets.
pub(crate) struct Jumping<'t> {
    table: &'t Table,
    domain: StateId,
    targets: Vec<StateId>,
}

impl<'t> Jumping<'t> {
    /// Makes a jump to targets.
    /// Returns nothing if they can't be active together, or if no transition could lead to them.
    pub(crate) fn new(
        table: &'t Table,
        configuration: &Configuration,
        targets: &[StateId],
    ) -> Option<Self> {
        let (&first, rest) = targets.split_first()?;
        let is_known = |&target: &StateId| target != ROOT && table.state(target).is_some();
        if !targets.iter().all(is_known) {
            return None;
        }
        let apart = |one: usize, two: StateId| {
            let others = targets.iter().skip(one + 1);
            others.copied().all(|other| is_apart(table, two, other))
        };
        if !targets.iter().enumerate().all(|(at, &it)| apart(at, it)) {
            return None;
        }
        let mut ancestors = chart::chain(table, first).skip(1);
        let domain = ancestors.find(|&state| {
            chart::kind(table, state) == Some(StateKind::Compound)
                && configuration.is_active(table, state)
                && rest
                    .iter()
                    .all(|&it| chart::is_descendant(table, it, state))
        });
        Some(Self {
            table,
            domain: domain.unwrap_or(ROOT),
            targets: targets.to_vec(),
        })
    }

    /// Returns the domain and the target in a machine with one leaf.
    /// There is one target: no two states of such a machine can be active together.
    pub(crate) fn only_target(&self) -> (StateId, StateId) {
        (self.domain, self.targets.first().copied().unwrap_or(ROOT))
    }
}

/// Reports whether two states stand in different regions of a parallel state.
fn is_apart(table: &Table, one: StateId, other: StateId) -> bool {
    let mut ancestors = chart::chain(table, one).skip(1);
    let common = ancestors.find(|&state| chart::is_descendant(table, other, state));
    one != other
        && !chart::is_descendant(table, one, other)
        && !chart::is_descendant(table, other, one)
        && common.is_some_and(|state| chart::kind(table, state) == Some(StateKind::Parallel))
}

impl Tree for Jumping<'_> {
    fn node(&self, state: StateId) -> Option<Node<'_>> {
        self.table.node(state)
    }
}

impl Chart for Jumping<'_> {
    fn arrow(&self, transition: TransitionId) -> Option<Arrow<'_>> {
        if transition != JUMP {
            return self.table.arrow(transition);
        }
        Some(Arrow {
            source: self.domain,
            domain: Some(self.domain),
            targets: &self.targets,
        })
    }

    fn has_eventless(&self) -> bool {
        self.table.has_eventless()
    }

    fn index(&self) -> RegionIndex<'_> {
        self.table.index()
    }

    fn triggered(&self, state: StateId, event: EventId) -> impl Iterator<Item = TransitionId> {
        self.table.triggered(state, event)
    }
}
