//! Legal configurations: leaves that can be active together, and records that a history can hold.

use super::{RestoreError, RestoreErrorKind, range};
use crate::chart::{self, Chart};
use crate::id::StateId;
use crate::limits::MAX_DEPTH;
use crate::table::sections::StateKind;

/// Checks a configuration of one leaf alone.
pub(super) fn leaf<C: Chart>(chart: &C, state: StateId) -> Result<(), RestoreError> {
    match chart::kind(chart, state) {
        None => Err(RestoreErrorKind::NoState { state }.into()),
        Some(kind) if !kind.is_leaf() => Err(RestoreErrorKind::NotALeaf { state }.into()),
        Some(_) => Ok(()),
    }
}

/// Checks that leaves, in document order, are those of an active state.
pub(super) fn leaves<C: Chart>(
    chart: &C,
    parent: StateId,
    leaves: &[StateId],
) -> Result<(), RestoreError> {
    leaves.iter().try_for_each(|&state| leaf(chart, state))?;
    within(chart, parent, leaves, MAX_DEPTH)
}

/// Checks that leaves can be active together in an active state.
/// `depth` bounds the recursion on rows that nobody has verified.
fn within<C: Chart>(
    chart: &C,
    parent: StateId,
    leaves: &[StateId],
    depth: usize,
) -> Result<(), RestoreError> {
    let (Some(&first), Some(&last)) = (leaves.first(), leaves.last()) else {
        return Err(RestoreErrorKind::Inactive { state: parent }.into());
    };
    let together = |one, other| Err(RestoreErrorKind::Together { one, other }.into());
    let kind = chart::kind(chart, parent);
    let Some(depth) = depth
        .checked_sub(1)
        .or((kind.is_some_and(StateKind::is_leaf)).then_some(0))
    else {
        return together(parent, first);
    };
    match kind {
        Some(StateKind::Compound) => {
            let mut ancestors = chart::chain(chart, first);
            let child = ancestors.find(|&state| chart::parent(chart, state) == Some(parent));
            match child {
                Some(child) if last != child && !chart::is_descendant(chart, last, child) => {
                    together(first, last)
                }
                Some(child) => within(chart, child, leaves, depth),
                None => together(parent, first),
            }
        }
        Some(StateKind::Parallel) => {
            let mut found = 0;
            for region in chart::regions(chart, parent) {
                let end = chart.node(region).map_or(0, |node| node.end);
                let inside = range(leaves, region.raw(), end);
                found += inside.len();
                within(chart, region, inside, depth)?;
            }
            // INVARIANT: leaves lie within the state, and regions and histories hold all of it; a history is no leaf.
            debug_assert!(found <= leaves.len(), "regions don't overlap");
            Ok(())
        }
        _ if first == parent && last == parent && leaves.len() == 1 => Ok(()),
        _ => together(first, last),
    }
}

/// Checks that a history can have recorded the states, which are in document order.
pub(super) fn recorded<C: Chart>(
    chart: &C,
    history: StateId,
    states: &[StateId],
) -> Result<(), RestoreError> {
    let node = chart.node(history).filter(|node| node.kind.is_history());
    let Some((kind, parent)) = node.and_then(|node| node.parent.map(|parent| (node.kind, parent)))
    else {
        return Err(RestoreErrorKind::NotAHistory { state: history }.into());
    };
    let legal = if kind == StateKind::DeepHistory {
        let end = chart.node(parent).map_or(0, |node| node.end);
        range(states, parent.raw(), end).len() == states.len()
            && leaves(chart, parent, states).is_ok()
    } else if chart::kind(chart, parent) == Some(StateKind::Parallel) {
        chart::regions(chart, parent).eq(states.iter().copied())
    } else {
        matches!(states, [state] if chart.node(*state).is_some_and(|node| {
            node.parent == Some(parent) && !node.kind.is_history()
        }))
    };
    if legal {
        Ok(())
    } else {
        Err(RestoreErrorKind::Recorded { history }.into())
    }
}
