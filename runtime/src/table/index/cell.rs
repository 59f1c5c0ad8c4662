//! One cell of the dense index: what an event does at a leaf, in eight bytes.

use crate::id::{GuardId, StateId, TransitionId};

/// *None* in place of a guard; no id of a verified table reaches it.
const NONE: u16 = u16::MAX;

/// The bit of each kind of cell. The commonest one is the sign, so that it takes one test.
const CONTROL: u64 = 1 << 63;
const RUN: u64 = 1 << 62;
const LIST: u64 = 1 << 61;

/// What an event does at a leaf.
///
/// ```text
///  bits      60..64   44..60    36..44    16..36       0..16
///  control   1000               transition, 16..32     next leaf   leaves one leaf, enters another, does nothing
///  run       0100     guard?    count     actions at   next leaf   does these actions, if the guard holds
///  list      0010                         contenders at            see `Contender`
///  general   0001                                                  ask the general step
///  nothing   0000                                                  no transition is triggered
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell(u64);

/// What a run cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) next: StateId,
    pub(crate) guard: Option<GuardId>,
    /// Where its actions begin.
    pub(crate) at: u32,
    /// How many there are.
    pub(crate) count: u8,
}

impl Cell {
    /// No transition is triggered.
    pub(crate) const NOTHING: Self = Self(0);
    /// The general step has to look at it.
    pub(crate) const GENERAL: Self = Self(1 << 60);

    /// A cell that only changes the leaf.
    pub(crate) fn control(transition: TransitionId, next: StateId) -> Self {
        Self(CONTROL | u64::from(transition.raw()) << 16 | u64::from(next.raw()))
    }

    /// A cell that runs actions; `None` if they stand too far behind.
    pub(crate) fn run(run: Run) -> Option<Self> {
        let guard = u64::from(run.guard.map_or(NONE, GuardId::raw));
        let place = u64::from(run.count) << 36 | u64::from(run.at) << 16;
        let cell = Self(RUN | guard << 44 | place | u64::from(run.next.raw()));
        Some(cell).filter(|_| run.at < 1 << 20)
    }

    /// A cell with a list of contenders.
    pub(crate) fn list(first: u32) -> Self {
        Self(LIST | u64::from(first))
    }

    #[inline]
    pub(crate) fn is_control(self) -> bool {
        self.0 & CONTROL != 0
    }

    #[inline]
    pub(crate) fn is_run(self) -> bool {
        self.0 & RUN != 0
    }

    #[inline]
    pub(crate) fn is_list(self) -> bool {
        self.0 & LIST != 0
    }

    /// The leaf afterwards, of a control or a run cell.
    #[inline]
    pub(crate) fn next(self) -> StateId {
        StateId::new(self.half_word(0))
    }

    /// The transition of a control cell.
    #[inline]
    pub(crate) fn transition(self) -> TransitionId {
        TransitionId::new(self.half_word(16))
    }

    /// The guard of a run cell.
    #[inline]
    pub(crate) fn guard(self) -> Option<GuardId> {
        Some(self.half_word(44))
            .filter(|&raw| raw != NONE)
            .map(GuardId::new)
    }

    /// Where the actions of a run cell stand, and how many there are.
    #[inline]
    pub(crate) fn actions(self) -> (usize, usize) {
        let [count, ..] = (self.0 >> 36).to_le_bytes();
        let [a, b, c, _] = self.word(16).to_le_bytes();
        let at = u32::from_le_bytes([a, b, c & 0xF, 0]);
        (at as usize, usize::from(count))
    }

    /// The first contender of a list cell.
    #[inline]
    pub(crate) fn first(self) -> usize {
        self.word(0) as usize
    }

    #[inline]
    fn half_word(self, from: u32) -> u16 {
        let [a, b, ..] = (self.0 >> from).to_le_bytes();
        u16::from_le_bytes([a, b])
    }

    #[inline]
    fn word(self, from: u32) -> u32 {
        let [a, b, c, d, ..] = (self.0 >> from).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Run};
    use crate::id::{GuardId, StateId, TransitionId};

    #[test]
    fn a_cell_gives_back_what_went_in() {
        let control = Cell::control(TransitionId::new(65_533), StateId::new(65_532));
        assert!(control.is_control());
        assert_eq!(
            (control.transition().raw(), control.next().raw()),
            (65_533, 65_532)
        );
        for guard in [None, Some(GuardId::new(0)), Some(GuardId::new(65_533))] {
            let run = Run {
                next: StateId::new(65_533),
                guard,
                at: (1 << 20) - 1,
                count: 255,
            };
            let cell = Cell::run(run).unwrap();
            assert!(cell.is_run() && !cell.is_control() && !cell.is_list());
            assert_eq!((cell.next(), cell.guard()), (run.next, guard));
            assert_eq!(cell.actions(), ((1 << 20) - 1, 255));
        }
        let list = Cell::list(1 << 20);
        assert!(list.is_list() && !list.is_run() && !list.is_control());
        assert_eq!(list.first(), 1 << 20);
        for other in [Cell::NOTHING, Cell::GENERAL] {
            assert!(!other.is_control() && !other.is_run() && !other.is_list());
        }
    }
}
