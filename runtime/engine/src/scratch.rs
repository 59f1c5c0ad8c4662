//! Memory that steps of machines with regions reuse, so that they allocate nothing.
//!
//! A [`Configuration`](crate::Configuration) keeps it from one step to the next. What is in it between two steps means
//! nothing.

use alloc::vec::Vec;

use crate::bits;
use crate::id::{StateId, TransitionId};

/// The memory of a step.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The transitions to take.
    pub(crate) selection: Selection,
    /// The states to enter.
    pub(crate) entries: EntrySet,
    /// The way back, if the step fails.
    pub(crate) undo: Undo,
}

/// The transitions that an event takes, with the memory that finding them needs.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// The transitions, in the order of the leaves that they were selected for.
    /// INVARIANT: their domains are disjoint subtrees in document order.
    pub(crate) enabled: Vec<TransitionId>,
    /// The active states with transitions for the event, in document order, and what asking them has given.
    pub(crate) sources: Vec<(StateId, Answer)>,
}

impl Selection {
    /// Selects that transition alone.
    pub(crate) fn only(&mut self, transition: TransitionId) {
        self.enabled.clear();
        self.enabled.push(transition);
    }
}

/// The result of asking a state for an enabled transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    NotAsked,
    Nothing,
    Selected,
}

/// The states to enter.
#[derive(Debug, Default)]
pub(crate) struct EntrySet {
    /// SCXML's `statesToEnter`.
    pub(crate) states: Vec<u64>,
    /// The states that are entered by default: SCXML's `statesForDefaultEntry`.
    /// The actions of their initial transitions run.
    pub(crate) by_default: Vec<u64>,
    /// The words that have been written: from the first, up to but without the second.
    pub(crate) written: (usize, usize),
    /// The transitions that lead to the states.
    pub(crate) transitions: usize,
    /// Histories that have recorded nothing, with their parents: SCXML's `defaultHistoryContent`.
    /// The actions of the history's default transition run if the parent is entered.
    pub(crate) defaults: Vec<(StateId, StateId)>,
}

impl EntrySet {
    /// Empties the set, for a machine with that many states.
    #[inline]
    pub(crate) fn reset(&mut self, states: usize) {
        let words = bits::words(states);
        if self.states.len() == words {
            let (from, to) = self.written;
            for set in [&mut self.states, &mut self.by_default] {
                set.get_mut(from..to).unwrap_or_default().fill(0);
            }
        } else {
            for set in [&mut self.states, &mut self.by_default] {
                set.clear();
                set.resize(words, 0);
            }
        }
        self.written = (words, 0);
        self.transitions = 0;
        self.defaults.clear();
    }

    #[inline]
    pub(crate) fn insert(&mut self, state: StateId, by_default: bool) {
        let (word, mask) = bits::position(state.index());
        if let Some(states) = self.states.get_mut(word) {
            *states |= mask;
            let (from, to) = self.written;
            self.written = (from.min(word), to.max(word + 1));
        }
        if by_default && let Some(states) = self.by_default.get_mut(word) {
            *states |= mask;
        }
    }

    #[inline]
    pub(crate) fn contains(&self, state: StateId) -> bool {
        bits::contains(&self.states, state.index())
    }
}

/// The configuration before a macrostep, so that a macrostep that fails changes nothing.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    pub(crate) leaves: Vec<StateId>,
    pub(crate) active: Vec<u64>,
    /// The earlier records of histories that have recorded something else since, in that order.
    pub(crate) recorded: Vec<(StateId, Vec<StateId>)>,
    /// The histories that had recorded nothing before.
    pub(crate) added: Vec<StateId>,
    /// Lists to be used again.
    pub(crate) spare: Vec<Vec<StateId>>,
}
