//! The dense index: `event × state`, with the actions of each step in a row.
//!
//! An [`Effect`] is found with the same two functions that the general step uses, [`tree::domain`] and [`tree::entries`].

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::cell::{Cell, Guarded};
use super::{EVENTLESS, Index, is_running_leaf};
use crate::id::{ActionId, EventId, GuardId, ROOT, StateId, TransitionId};
use crate::table::sections::{
    ActionKind, EventKind, Instruction, Sections, StateKind, TransitionRow, list,
};
use crate::table::tree::{self, Entry};

/// Most cells, most contenders and most actions in the dense index.
/// Unit: entries of one of the three. Why: 8, 16 and 2 bytes each; a machine beyond that is rare, and its steps stay
/// correct without.
const MAX_ENTRIES: usize = 1 << 20;

/// Most work in making the dense index.
/// Unit: states left, states entered and actions, over all pairs of a leaf and a transition. Why: rows may share lists,
/// so that a small table could ask for hours of it.
const MAX_WORK: usize = 1 << 24;

/// *None* in a contender.
const NONE: u16 = u16::MAX;

/// In the place of a guard: the transition's program has to be asked. No guard has this number (V01).
const PROGRAM: u16 = u16::MAX - 1;

/// The guard of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Not at all.
    Always,
    /// By one question to the host.
    Ask(GuardId),
    /// By its transition's program.
    Program,
}

/// A transition that an event may take at a leaf. Contenders of a cell stand best first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    transition: TransitionId,
    /// The leaf afterwards.
    /// It is none if the actions aren't all there is to do, so that the general step does it.
    next: u16,
    guard: u16,
    /// All actions of the step, in order: exit, transition, entry.
    /// Where they begin, and how many there are.
    actions: (u32, u32),
}

impl Contender {
    #[inline]
    pub(crate) fn transition(&self) -> TransitionId {
        self.transition
    }

    /// Returns the leaf afterwards, if the actions are all there is to do.
    #[inline]
    pub(crate) fn next(&self) -> Option<StateId> {
        Some(self.next).filter(|&raw| raw != NONE).map(StateId::new)
    }

    #[inline]
    pub(crate) fn check(&self) -> Check {
        match self.guard {
            NONE => Check::Always,
            PROGRAM => Check::Program,
            raw => Check::Ask(GuardId::new(raw)),
        }
    }

    /// Returns all actions of the step: where they begin, and how many there are.
    #[inline]
    pub(crate) fn actions(&self) -> (usize, usize) {
        (self.actions.0 as usize, self.actions.1 as usize)
    }
}

/// The dense index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense {
    /// The number of states: the distance between an event's cells and the next event's.
    stride: usize,
    cells: Vec<Cell>,
    contenders: Vec<Contender>,
    actions: Vec<ActionId>,
}

impl Dense {
    /// Returns the index, or one without cells where it would be large.
    pub(super) fn new(sections: &Sections, index: &Index) -> Self {
        let states = sections.states.len();
        let cells = states.saturating_mul(sections.events.len());
        if cells > MAX_ENTRIES || pairs(sections, index) > MAX_ENTRIES {
            return Self::default();
        }
        let dense = Self {
            stride: states,
            cells: vec![Cell::General; cells],
            ..Self::default()
        };
        Builder {
            sections,
            index,
            dense,
            work: 0,
        }
        .build()
        .unwrap_or_default()
    }

    /// Returns the cells, and the distance between an event's and the next event's.
    /// [`cell`] finds one of them.
    #[inline]
    pub(crate) fn cells(&self) -> (&[Cell], usize) {
        (&self.cells, self.stride)
    }

    /// Returns the contenders of a cell.
    #[inline]
    pub(crate) fn contenders(&self, at: usize, count: usize) -> &[Contender] {
        run_of(&self.contenders, at, count)
    }

    /// Returns the actions of a cell or a contender.
    #[inline]
    pub(crate) fn actions(&self, at: usize, count: usize) -> &[ActionId] {
        run_of(&self.actions, at, count)
    }
}

/// Returns `count` rows from an index on.
/// INVARIANT: the dense index names only rows that it has; there are none elsewhere.
#[inline]
fn run_of<T>(rows: &[T], at: usize, count: usize) -> &[T] {
    rows.get(at..at.wrapping_add(count)).unwrap_or_default()
}

/// Returns the cell of a leaf and an event.
#[inline]
pub(crate) fn cell(cells: &[Cell], stride: usize, leaf: StateId, event: EventId) -> Option<&Cell> {
    // An event past the last gives a place past the last cell; a leaf is always one of the table's states.
    let at = event
        .index()
        .wrapping_mul(stride)
        .wrapping_add(leaf.index());
    cells.get(at)
}

/// Returns an upper bound of the number of contenders: for each leaf the triggers on its chain.
fn pairs(sections: &Sections, index: &Index) -> usize {
    let mut sums: Vec<usize> = Vec::with_capacity(sections.states.len());
    let mut total = 0_usize;
    for (raw, row) in (0_u16..).zip(&sections.states) {
        let above = row
            .parent
            .and_then(|parent| sums.get(parent.index()))
            .copied()
            .unwrap_or(0);
        let sum = above.saturating_add(index.state(StateId::new(raw)).len());
        sums.push(sum);
        if row.kind != StateKind::Compound {
            total = total.saturating_add(sum);
        }
    }
    total
}

struct Builder<'a> {
    sections: &'a Sections,
    index: &'a Index,
    dense: Dense,
    /// See [`MAX_WORK`].
    work: usize,
}

impl Builder<'_> {
    /// Fills the index; `None` if it gets too large.
    fn build(mut self) -> Option<Dense> {
        for (raw, _) in (0_u16..).zip(&self.sections.states) {
            let leaf = StateId::new(raw);
            if is_running_leaf(self.sections, leaf) {
                self.leaf(leaf)?;
            }
        }
        Some(self.dense)
    }

    /// Fills the cells of one leaf.
    fn leaf(&mut self, leaf: StateId) -> Option<()> {
        // Stable sort by event: contenders of one event stay in the order of selection.
        let mut triggers: Vec<(EventId, TransitionId)> = Vec::new();
        for state in chain(self.sections, leaf) {
            triggers.extend(
                self.index
                    .state(state)
                    .iter()
                    .filter(|row| row.0 != EVENTLESS),
            );
        }
        triggers.sort_by_key(|&(event, _)| event);
        let mut rest = triggers.as_slice();
        for (raw, row) in (0_u16..).zip(&self.sections.events) {
            let event = EventId::new(raw);
            let count = rest.iter().take_while(|row| row.0 == event).count();
            let (these, after) = rest.split_at_checked(count)?;
            rest = after;
            if row.kind == EventKind::Named && !self.is_ambiguous(leaf, event) {
                let cell = self.cell(leaf, these)?;
                let at = event.index() * self.dense.stride + leaf.index();
                *self.dense.cells.get_mut(at)? = cell;
            }
        }
        Some(())
    }

    /// Reports whether an event is an ambiguous label in the leaf or in a state around it.
    fn is_ambiguous(&self, leaf: StateId, label: EventId) -> bool {
        let rows = &self.sections.ambiguities;
        let is_row = |state| {
            let found = rows.binary_search_by_key(&(state, label), |row| (row.state, row.label));
            found.is_ok()
        };
        !rows.is_empty() && chain(self.sections, leaf).any(is_row)
    }

    /// Returns the cell of a leaf for an event that triggers these transitions, best first.
    fn cell(&mut self, leaf: StateId, triggered: &[(EventId, TransitionId)]) -> Option<Cell> {
        if let Some(cell) = self.single(leaf, triggered) {
            return Some(cell);
        }
        let from = self.dense.contenders.len();
        for &(_, transition) in triggered {
            let contender = self.contender(leaf, transition)?;
            self.dense.contenders.push(contender);
            if contender.check() == Check::Always {
                break;
            }
        }
        let count = u16::try_from(self.dense.contenders.len() - from).ok()?;
        Some(match count {
            0 => Cell::Nothing,
            _ => Cell::List {
                count,
                at: u32::try_from(from).ok()?,
            },
        })
    }

    /// Returns the cell of a single plain transition.
    /// It is guarded by one question at most, and the cell has room for it.
    fn single(&mut self, leaf: StateId, triggered: &[(EventId, TransitionId)]) -> Option<Cell> {
        let sections = self.sections;
        let &(_, transition) = triggered.first()?;
        let row = sections.transitions.get(transition.index())?;
        let guard = match list(&sections.code, &row.guard) {
            [] => None,
            [Instruction::Ask(guard)] if triggered.len() == 1 => Some(*guard),
            _ => return None,
        };
        let effect = self.effect(leaf, row)?;
        if !effect.is_plain(sections, self.index) {
            return None;
        }
        let moves = effect.exited == [leaf] && effect.entered == [effect.next];
        if guard.is_none() && effect.actions.is_empty() && moves {
            return Some(Cell::Move {
                transition,
                next: effect.next,
            });
        }
        let guard = Guarded::by(guard);
        let next = effect.next;
        Some(match *effect.actions.as_slice() {
            [] => Cell::Ask { guard, next },
            [action] => Cell::Act {
                guard,
                action,
                next,
            },
            [..] => {
                let at = u16::try_from(self.dense.actions.len()).ok()?;
                let count = u8::try_from(effect.actions.len()).ok()?;
                self.dense.actions.extend(&effect.actions);
                Cell::Run {
                    guard,
                    count,
                    at,
                    next,
                }
            }
        })
    }

    /// Returns what the transition does at the leaf; `None` once that was asked too often.
    fn effect(&mut self, leaf: StateId, transition: &TransitionRow) -> Option<Effect> {
        let effect = Effect::new(self.sections, leaf, transition);
        self.work += 1 + effect.exited.len() + effect.actions.len() + effect.entered.len();
        Some(effect).filter(|_| self.work <= MAX_WORK)
    }

    fn contender(&mut self, leaf: StateId, transition: TransitionId) -> Option<Contender> {
        let sections = self.sections;
        let row = sections.transitions.get(transition.index())?;
        let effect = self.effect(leaf, row)?;
        let start = self.dense.actions.len();
        let plain = effect.is_plain(sections, self.index);
        if plain {
            self.dense.actions.extend(&effect.actions);
        }
        let count = self.dense.actions.len() - start;
        let place = |at: usize| u32::try_from(at).ok().filter(|_| at <= MAX_ENTRIES);
        Some(Contender {
            transition,
            next: if plain { effect.next.raw() } else { NONE },
            guard: match list(&sections.code, &row.guard) {
                [] => NONE,
                [Instruction::Ask(guard)] => guard.raw(),
                _ => PROGRAM,
            },
            actions: (place(start)?, place(count)?),
        })
    }
}

/// The effect of a transition at a leaf, in order.
struct Effect {
    exited: Vec<StateId>,
    actions: Vec<ActionId>,
    entered: Vec<StateId>,
    /// The leaf afterwards.
    next: StateId,
}

impl Effect {
    fn new(sections: &Sections, leaf: StateId, transition: &TransitionRow) -> Self {
        let state = |state: StateId| sections.states.get(state.index());
        let calls = |range: &Range<u32>| list(&sections.calls, range);
        let mut effect = Self {
            exited: Vec::new(),
            actions: Vec::new(),
            entered: Vec::new(),
            next: leaf,
        };
        let domain = tree::domain(sections, transition);
        if let Some(domain) = domain {
            effect.exited = chain(sections, leaf)
                .take_while(|&state| state != domain)
                .collect();
            let exits = effect.exited.iter().filter_map(|&exited| state(exited));
            effect
                .actions
                .extend(exits.flat_map(|row| calls(&row.exit)));
        }
        effect.actions.extend(calls(&transition.calls));
        let target = list(&sections.targets, &transition.targets).first();
        if let Some((domain, &target)) = domain.zip(target) {
            effect.next = tree::entries(sections, domain, target, |part| match part {
                Entry::State(entered) => {
                    effect.entered.push(entered);
                    effect
                        .actions
                        .extend(state(entered).into_iter().flat_map(|row| calls(&row.entry)));
                }
                Entry::Initial(around) => {
                    let row = state(around).into_iter();
                    effect
                        .actions
                        .extend(row.flat_map(|row| calls(&row.initial_calls)));
                }
            });
        }
        effect
    }

    /// Reports whether the actions are all there is to the macrostep.
    /// Then nothing is raised, nothing ends, and the machine is at rest afterwards.
    fn is_plain(&self, sections: &Sections, index: &Index) -> bool {
        if index.has_regions && !self.is_within_a_region(sections, index) {
            return false;
        }
        let state = |state: StateId| sections.states.get(state.index());
        let raises = self.actions.iter().any(|action| {
            sections
                .actions
                .get(action.index())
                .is_some_and(|row| row.kind != ActionKind::Host)
        });
        let completes = self
            .entered
            .iter()
            .filter_map(|&entered| state(entered))
            .any(|row| {
                let done = row
                    .parent
                    .and_then(state)
                    .is_some_and(|parent| parent.done.is_some());
                row.kind == StateKind::Final && (row.parent == Some(ROOT) || done)
            });
        let restless = chain(sections, self.next).any(|state| index.is_restless(state));
        !raises && !completes && !restless
    }

    /// Reports whether one leaf is exited and one entered, and no other region can react to that.
    fn is_within_a_region(&self, sections: &Sections, index: &Index) -> bool {
        let kind = |state: &StateId| sections.states.get(state.index()).map(|row| row.kind);
        let has_history = |state: &StateId| {
            let mut histories = index.of_regions().histories.iter();
            histories.any(|&(parent, ..)| parent == state.raw())
        };
        let mut exited = self.exited.iter();
        let mut entered = self.entered.iter();
        let exits_one = exited.all(|it| kind(it) != Some(StateKind::Parallel) && !has_history(it));
        let enters_one =
            entered.all(|it| matches!(kind(it), Some(StateKind::Atomic | StateKind::Compound)));
        exits_one && enters_one && index.of_regions().reactions(EVENTLESS).is_empty()
    }
}

/// Returns the state and its ancestors, innermost first.
fn chain(sections: &Sections, state: StateId) -> impl Iterator<Item = StateId> {
    core::iter::successors(Some(state), |state| {
        sections
            .states
            .get(state.index())
            .and_then(|row| row.parent)
    })
}
