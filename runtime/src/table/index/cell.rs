//! One cell of the dense index: what an event does at a leaf, in eight bytes.

use crate::id::{ActionId, GuardId, StateId, TransitionId};

/// *None* among the numbers of a cell; no id of a verified table reaches it.
const NONE: u16 = u16::MAX;

/// *None* in place of an action where there is a guard.
const NO_ACTION: u16 = 0x7FFF;

/// What an event does at a leaf.
///
/// ```text
///  bits      48..64     32..48     16..32        0..16
///  control   NONE       NONE       transition    next leaf    leaves one leaf, enters another
///  short     action?    guard?     transition    next leaf    the same, with a guard or an action
///  list      index of the first contender    1   NONE         see `Contender`
///  nothing   0                               0   NONE         no transition is triggered
///  general   0                               2   NONE         ask the general step
/// ```
///
/// The highest bit is set in a control cell and in no other, so that the commonest step takes one test: other short
/// cells write *none* for an action as `0x7FFF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell(u64);

/// A cell that says all there is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Short {
    pub(crate) next: StateId,
    pub(crate) transition: TransitionId,
    pub(crate) guard: Option<GuardId>,
    pub(crate) action: Option<ActionId>,
}

impl Cell {
    /// No transition is triggered.
    pub(crate) const NOTHING: Self = Self(0xFFFF);
    /// The general step has to look at it.
    pub(crate) const GENERAL: Self = Self(0x2_FFFF);

    /// A cell with all there is to do; `None` if the action's number is too high for one.
    pub(crate) fn short(short: Short) -> Option<Self> {
        let low = u64::from(short.next.raw()) | u64::from(short.transition.raw()) << 16;
        if (short.guard, short.action) == (None, None) {
            return Some(Self(low | 0xFFFF_FFFF << 32));
        }
        let guard = short.guard.map_or(NONE, GuardId::raw);
        let action = short.action.map_or(NO_ACTION, ActionId::raw);
        let fits = action < NO_ACTION || short.action.is_none();
        fits.then_some(Self(low | u64::from(guard) << 32 | u64::from(action) << 48))
    }

    /// A cell with a list of contenders.
    pub(crate) fn contenders(first: u32) -> Self {
        Self(0x1_FFFF | u64::from(first) << 32)
    }

    /// Whether the cell is a step without guard and action.
    #[inline]
    pub(crate) const fn is_control_only(self) -> bool {
        self.0 >> 63 == 1
    }

    /// Whether the cell says all there is to do.
    #[inline]
    pub(crate) fn is_short(self) -> bool {
        self.next() != StateId::new(NONE)
    }

    #[inline]
    pub(crate) fn next(self) -> StateId {
        let [a, b, ..] = self.0.to_le_bytes();
        StateId::new(u16::from_le_bytes([a, b]))
    }

    #[inline]
    pub(crate) fn transition(self) -> TransitionId {
        let [_, _, a, b, ..] = self.0.to_le_bytes();
        TransitionId::new(u16::from_le_bytes([a, b]))
    }

    #[inline]
    pub(crate) fn guard(self) -> Option<GuardId> {
        let [_, _, _, _, a, b, ..] = self.0.to_le_bytes();
        Some(u16::from_le_bytes([a, b]))
            .filter(|&raw| raw != NONE)
            .map(GuardId::new)
    }

    #[inline]
    pub(crate) fn action(self) -> Option<ActionId> {
        let [.., a, b] = self.0.to_le_bytes();
        Some(u16::from_le_bytes([a, b]))
            .filter(|&raw| raw != NONE)
            .map(ActionId::new)
    }

    /// The index of the first contender, for a cell that is neither short nor one of the two constants.
    #[inline]
    pub(crate) fn first(self) -> usize {
        let [.., a, b, c, d] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d]) as usize
    }
}
