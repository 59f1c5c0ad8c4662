//! One cell of the dense index: what an event does at a leaf, in eight bytes.

use crate::id::{ActionId, GuardId, StateId, TransitionId};

/// The effect of an event at a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// No transition is triggered.
    Nothing,
    /// Leaves one leaf, enters another, and does nothing.
    Move {
        transition: TransitionId,
        next: StateId,
    },
    /// Changes the leaf if the guard holds, and does nothing.
    Ask { guard: Guarded, next: StateId },
    /// Does one action if the guard holds.
    Act {
        guard: Guarded,
        action: ActionId,
        next: StateId,
    },
    /// Does any number of actions if the guard holds.
    Run {
        guard: Guarded,
        /// Number of them.
        count: u8,
        /// The index of the first.
        at: u16,
        next: StateId,
    },
    /// Takes the first contender that may be taken.
    List {
        /// Number of them.
        count: u16,
        /// The index of the first.
        at: u32,
    },
    /// The general step has to look at it.
    General,
}

const _: () = assert!(size_of::<Cell>() == 8, "a cell is found by a shift");

/// The guard of a cell, if it has one. An `Option` of it would be twice as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guarded(u16);

impl Guarded {
    /// No guard; no id of a verified table reaches it.
    const BY_NONE: u16 = u16::MAX;

    pub(crate) fn by(guard: Option<GuardId>) -> Self {
        Self(guard.map_or(Self::BY_NONE, GuardId::raw))
    }

    #[inline]
    pub(crate) fn guard(self) -> Option<GuardId> {
        (self.0 != Self::BY_NONE).then_some(GuardId::new(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::Guarded;
    use crate::id::GuardId;

    #[test]
    fn a_guard_or_none_comes_back() {
        for guard in [None, Some(GuardId::new(0)), Some(GuardId::new(65_533))] {
            assert_eq!(Guarded::by(guard).guard(), guard);
        }
    }
}
