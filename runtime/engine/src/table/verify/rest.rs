//! The rule that a machine comes to rest where nothing could change its mind.

use alloc::vec;
use alloc::vec::Vec;

use super::{Fault, FaultKind, Place};
use crate::id::StateId;
use crate::table::sections::{Sections, StateKind, list};
use crate::table::tree;

/// Checks for cycles of eventless transitions that are first in line and have no guard.
/// A machine in such a cycle would never come to rest.
///
/// First in line: at its leaf no other eventless transition is asked before it. Where a guarded one is, the cycle may
/// be left once an action has changed what the guard sees; the step limit covers those. So it does in machines with
/// parallel states or history, where the leaves after a step don't follow from one leaf before it.
pub(super) fn v29_rest(sections: &Sections) -> Result<(), Fault> {
    let mut kinds = sections.states.iter().map(|row| row.kind);
    if kinds.any(|kind| kind == StateKind::Parallel || kind.is_history()) {
        return Ok(());
    }
    let next = certain_successors(sections);
    // 0 for a leaf not seen yet, else the number of the walk that came by.
    let mut seen = vec![0_usize; next.len()];
    for (from, walk) in (0..next.len()).zip(1..) {
        let mut at = from;
        while let Some(place) = seen.get_mut(at) {
            if *place == walk {
                return Err(Place::state(sections, at).fault(FaultKind::NeverRests));
            }
            if *place != 0 {
                break;
            }
            *place = walk;
            match next.get(at).copied().flatten() {
                Some(leaf) => at = leaf.index(),
                None => break,
            }
        }
    }
    Ok(())
}

/// Returns, for each leaf, where an eventless transition without a guard leads.
fn certain_successors(sections: &Sections) -> Vec<Option<StateId>> {
    // For each state: its own first eventless transition.
    let first: Vec<Option<usize>> = sections
        .states
        .iter()
        .map(|row| {
            let mut own = row.transitions.clone().map(usize::from);
            own.find(|&index| {
                sections
                    .transitions
                    .get(index)
                    .is_some_and(|row| row.triggers.is_empty())
            })
        })
        .collect();
    let parent = |state: StateId| {
        sections
            .states
            .get(state.index())
            .and_then(|row| row.parent)
    };
    (0_u16..)
        .zip(&sections.states)
        .map(|(raw, row)| {
            let leaf = StateId::new(raw);
            let ended = row.kind == StateKind::Final && row.parent == Some(crate::id::ROOT);
            if row.kind == StateKind::Compound || ended {
                return None;
            }
            let mut chain = core::iter::successors(Some(leaf), |&state| parent(state));
            let index = chain.find_map(|state| first.get(state.index()).copied().flatten())?;
            let transition = sections.transitions.get(index)?;
            if !transition.guard.is_empty() {
                return None;
            }
            let target = list(&sections.targets, &transition.targets).first();
            Some(match target.zip(tree::domain(sections, transition)) {
                Some((&target, domain)) => tree::entries(sections, domain, target, |_| {}),
                None => leaf,
            })
        })
        .collect()
}
