//! Questions about the tree of states and about where a transition leads, on bare rows.
//!
//! `verify` asks them before there is a table, the step algorithm afterwards. All are total on any rows; on rows that
//! pass V01 to V18 they are right.

use super::sections::{Sections, StateKind, StateRow, TransitionRow, list};
use crate::chart::{self, Node, Tree};
use crate::id::{ROOT, StateId};
use crate::limits::MAX_DEPTH;

impl Tree for Sections {
    #[inline]
    fn node(&self, state: StateId) -> Option<Node<'_>> {
        let row = self.states.get(state.index())?;
        Some(Node {
            kind: row.kind,
            parent: row.parent,
            end: row.end,
            initial: list(&self.targets, &row.initial),
        })
    }
}

/// Reports whether `state` lies properly within `ancestor`: SCXML's `isDescendant(state1, state2)`.
#[inline]
pub(crate) fn is_descendant(states: &[StateRow], state: StateId, ancestor: StateId) -> bool {
    let end = states.get(ancestor.index()).map_or(0, |row| row.end);
    ancestor < state && state.raw() < end
}

/// Returns the innermost compound state that a transition stays within.
/// This is SCXML's `getTransitionDomain(t)`. What is active below it is exited; a transition without targets exits nothing
/// and has none.
///
/// A history that is a target counts as its place in the tree. Transitions of the root stay inside the root, whether
/// internal or not: the machine itself is never left.
pub(crate) fn domain(sections: &Sections, transition: &TransitionRow) -> Option<StateId> {
    let (target, others) = list(&sections.targets, &transition.targets).split_first()?;
    let source = transition.source;
    let row = |state: StateId| sections.states.get(state.index());
    let is_compound = |state| row(state).is_some_and(|row| row.kind == StateKind::Compound);
    if source == ROOT || (transition.internal && is_compound(source)) {
        return Some(source);
    }
    let parent = |state: StateId| row(state).and_then(|row| row.parent);
    let mut ancestors = core::iter::successors(parent(source), |&state| parent(state));
    let holds = |&target: &StateId, state| is_descendant(&sections.states, target, state);
    ancestors
        .find(|&state| {
            holds(target, state)
                && is_compound(state)
                && others.iter().all(|other| holds(other, state))
        })
        .or(Some(ROOT))
}

/// A part of an entry, in the order in which SCXML's `enterStates` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The state is entered: it becomes active, then its entry actions run.
    State(StateId),
    /// The actions of the state's initial transition run.
    Initial(StateId),
}

/// Visits what entering `target` from within `domain` does, and returns the leaf that it ends in.
/// This is SCXML's `computeEntrySet` for a machine with one leaf.
///
/// States between the two are entered without their initial transitions; from `target` on, entry is by default.
#[inline]
pub(crate) fn entries<T: Tree>(
    tree: &T,
    domain: StateId,
    target: StateId,
    mut visit: impl FnMut(Entry),
) -> StateId {
    let mut inside = domain;
    let mut target = target;
    // INVARIANT: initial targets are proper descendants (V12), so each round goes deeper and the tree is finite; the
    // bound holds on rows that nobody has verified.
    for _ in 0..=MAX_DEPTH {
        path(tree, inside, target, |state| visit(Entry::State(state)));
        let node = tree.node(target);
        let Some(node) = node.filter(|node| node.kind == StateKind::Compound) else {
            break;
        };
        visit(Entry::Initial(target));
        let Some(&next) = node.initial.first() else {
            break;
        };
        inside = target;
        target = next;
    }
    target
}

/// Visits the states from `ancestor`, which isn't visited, down to `state`, which is.
#[inline]
fn path<T: Tree>(tree: &T, ancestor: StateId, state: StateId, mut visit: impl FnMut(StateId)) {
    if chart::parent(tree, state) == Some(ancestor) {
        // Most paths are as short as this, and need no list.
        visit(state);
        return;
    }
    let mut above = [ROOT; MAX_DEPTH];
    let mut count = 0;
    let mut at = Some(state);
    for place in &mut above {
        let Some(next) = at.filter(|&next| next != ancestor) else {
            break;
        };
        *place = next;
        count += 1;
        at = chart::parent(tree, next);
    }
    above
        .iter()
        .take(count)
        .rev()
        .for_each(|&state| visit(state));
}
