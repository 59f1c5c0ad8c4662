//! The chart: the questions that the step algorithm asks about a machine, whoever keeps its rows.
//!
//! A verified [`Table`](crate::Table) is a chart, and so are the const rows of generated Rust. [`regions`](crate::regions) steps both.
//! Deliberately not here: what a machine *does*. That is [`Content`](crate::regions::Content).

use alloc::vec::Vec;

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

    /// Visits the histories of states below the domain, whose descendants end before `end`.
    /// Those of the domain itself aren't among them: it stays active.
    /// `visit` gets each one's parent, the history, and true if it is deep.
    fn histories(
        &self,
        (domain, end): (StateId, u16),
        mut visit: impl FnMut(StateId, StateId, bool),
    ) {
        for raw in domain.raw().saturating_add(1)..end {
            let state = StateId::new(raw);
            if let Some(node) = self.node(state)
                && node.kind.is_history()
                && let Some(parent) = node.parent
                && parent > domain
            {
                visit(parent, state, node.kind == StateKind::DeepHistory);
            }
        }
    }

    /// Returns the sets by which a step enters and exits many states at once, if the chart has them.
    fn quiet(&self) -> Option<&Quiet> {
        None
    }

    /// Returns the state's own transitions that the event, or [`EVENTLESS`], triggers, in document order.
    fn triggered(&self, state: StateId, event: EventId) -> impl Iterator<Item = TransitionId>;

    /// Visits the states of a set that have transitions for the event, in document order.
    /// The machine has parallel states or history.
    fn sources(&self, active: &[u64], event: EventId, mut visit: impl FnMut(StateId)) {
        for (word, &active) in active.iter().enumerate() {
            bits::states(word, active)
                .filter(|&state| self.triggered(state, event).next().is_some())
                .for_each(&mut visit);
        }
    }
}

/// Sets of states that let a step enter and exit many at once, where nobody can see the order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quiet {
    /// The states that act when they are exited.
    pub(crate) exit: Vec<u64>,
    /// The states that act when they are entered, by default or not, or that complete others.
    pub(crate) entry: Vec<u64>,
    /// The states without children.
    pub(crate) leaves: Vec<u64>,
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
