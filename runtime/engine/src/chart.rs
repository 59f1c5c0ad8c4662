//! The chart: the questions that the step algorithm asks about a machine, whoever keeps its rows.
//!
//! A verified [`Table`](crate::Table) is a chart, and so are the const rows of generated Rust. [`regions`](crate::regions) steps both.
//! Deliberately not here: what a machine *does*. That is [`Content`](crate::regions::Content).

use crate::bits;
use crate::id::{EventId, ROOT, StateId, TransitionId};
use crate::limits::MAX_DEPTH;
use crate::table::sections::StateKind;

/// Stands for *no event* where eventless transitions are asked for. Events are fewer (V01).
pub(crate) const EVENTLESS: EventId = EventId::new(u16::MAX);

/// A state, as the algorithm sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node<'c> {
    /// The kind of the state.
    pub(crate) kind: StateKind,
    /// The state around it; only the root has none.
    pub(crate) parent: Option<StateId>,
    /// One past its last descendant.
    pub(crate) end: u16,
    /// The targets of its initial transition; of a history, those of its default transition.
    pub(crate) initial: &'c [StateId],
}

/// A transition, as the algorithm sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrow<'c> {
    /// The state that it leaves from.
    pub(crate) source: StateId,
    /// The innermost state that it stays inside of; none if it has no targets, so that it leaves nothing.
    pub(crate) domain: Option<StateId>,
    /// The target states.
    pub(crate) targets: &'c [StateId],
}

/// The states of one machine. An id that it doesn't have has no node.
pub(crate) trait Tree {
    /// Returns the state.
    fn node(&self, state: StateId) -> Option<Node<'_>>;
}

/// The states and transitions of one machine. An id that it doesn't have has no node and no arrow.
///
/// It is right if it passes the rules of [`verify`](crate::verify) or comes from the compiler; on anything else the
/// algorithm neither panics nor loops without end.
pub(crate) trait Chart: Tree {
    /// Returns the transition.
    fn arrow(&self, transition: TransitionId) -> Option<Arrow<'_>>;

    /// Reports whether any transition may be eventless.
    fn has_eventless(&self) -> bool {
        true
    }

    /// Returns what steps of machines with parallel states or history look up.
    fn index(&self) -> RegionIndex<'_>;

    /// Returns the state's own transitions that the event, or [`EVENTLESS`], triggers, in document order.
    fn triggered(&self, state: StateId, event: EventId) -> impl Iterator<Item = TransitionId>;
}

/// The answers that steps of machines with parallel states or history look up, derived from the rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegionIndex<'c> {
    /// One past the last row of each event in `reactions`; eventless transitions come after the last event.
    pub reaction_ends: &'c [u32],
    /// The states that have transitions for an event.
    /// A row is the index of a word of 64 states, and those states as its bits.
    pub reactions: &'c [(u16, u64)],
    /// The histories by their parents: parent, history, and true if it is deep.
    pub histories: &'c [(u16, u16, bool)],
    /// The states that act when they are exited, as bits.
    /// Others are exited many at once, since nobody can see the order.
    pub exit: &'c [u64],
    /// The states that act when they are entered, by default or not, or that complete others.
    pub entry: &'c [u64],
    /// The states without children.
    pub leaves: &'c [u64],
}

impl<'c> RegionIndex<'c> {
    /// Returns the states that have transitions for the event, or for [`EVENTLESS`], in document order.
    #[inline]
    pub(crate) fn reactions(&self, event: EventId) -> &'c [(u16, u64)] {
        let eventless = self.reaction_ends.len().saturating_sub(1);
        let at = match event.index() {
            at if at < eventless => at,
            _ if event == EVENTLESS => eventless,
            _ => return &[],
        };
        let end_of = |at: usize| self.reaction_ends.get(at).map_or(0, |&end| end as usize);
        let rows = at.checked_sub(1).map_or(0, end_of)..end_of(at);
        self.reactions.get(rows).unwrap_or_default()
    }

    /// Visits the states of a set that have transitions for the event, in document order.
    #[inline]
    pub(crate) fn sources(&self, active: &[u64], event: EventId, mut visit: impl FnMut(StateId)) {
        for &(word, states) in self.reactions(event) {
            let word = usize::from(word);
            let active = active.get(word).copied().unwrap_or_default();
            bits::states(word, active & states).for_each(&mut visit);
        }
    }

    /// Visits the histories whose parents are below a domain, given with one past its last descendant.
    /// Those of the domain itself aren't among them: it stays active.
    /// `visit` gets each one's parent, the history, and true if it is deep.
    #[inline]
    pub(crate) fn histories(
        &self,
        (domain, end): (StateId, u16),
        mut visit: impl FnMut(StateId, StateId, bool),
    ) {
        let all = self.histories;
        let first = all.partition_point(|&(parent, ..)| parent <= domain.raw());
        let below = all.iter().skip(first);
        for &(parent, history, is_deep) in below.take_while(|row| row.0 < end) {
            visit(StateId::new(parent), StateId::new(history), is_deep);
        }
    }
}

/// Returns the kind of the state.
pub(crate) fn kind<T: Tree + ?Sized>(tree: &T, state: StateId) -> Option<StateKind> {
    tree.node(state).map(|node| node.kind)
}

/// Returns the parent of the state.
pub(crate) fn parent<T: Tree + ?Sized>(tree: &T, state: StateId) -> Option<StateId> {
    tree.node(state).and_then(|node| node.parent)
}

/// Reports whether `state` lies properly within `ancestor`: SCXML's `isDescendant`.
pub(crate) fn is_descendant<T: Tree + ?Sized>(tree: &T, state: StateId, ancestor: StateId) -> bool {
    ancestor < state && state.raw() < tree.node(ancestor).map_or(0, |node| node.end)
}

/// Returns the state, then what is around it, the root last.
/// INVARIANT: ends on any rows, since no machine is nested deeper.
pub(crate) fn chain<T: Tree + ?Sized>(tree: &T, state: StateId) -> impl Iterator<Item = StateId> {
    core::iter::successors(Some(state), |&state| parent(tree, state)).take(MAX_DEPTH + 1)
}

/// Returns the children of the state, its histories included, in document order.
pub(crate) fn children<T: Tree + ?Sized>(
    tree: &T,
    state: StateId,
) -> impl Iterator<Item = (StateId, Node<'_>)> {
    let end = tree.node(state).map_or(0, |node| node.end);
    let mut next = state.raw().saturating_add(1);
    core::iter::from_fn(move || {
        let id = StateId::new(next);
        let node = tree.node(id).filter(|_| next < end)?;
        // A subtree holds its state at least; on other rows it still ends.
        next = node.end.max(next.saturating_add(1));
        Some((id, node))
    })
}

/// Returns the children that can be active: SCXML's `getChildStates`.
/// Of a parallel state, its regions.
pub(crate) fn regions<T: Tree + ?Sized>(tree: &T, state: StateId) -> impl Iterator<Item = StateId> {
    children(tree, state)
        .filter(|(_, node)| !node.kind.is_history())
        .map(|(id, _)| id)
}

/// Reports whether a machine is over in this state: it is a final child of the root.
pub(crate) fn is_end<T: Tree + ?Sized>(tree: &T, state: StateId) -> bool {
    tree.node(state)
        .is_some_and(|node| node.kind == StateKind::Final && node.parent == Some(ROOT))
}
