//! Rules about parallel states, history, and transitions with several targets.

use core::ops::Range;

use super::{Fault, FaultKind, Place, ensure};
use crate::id::StateId;
use crate::limits::MAX_ROWS;
use crate::table::sections::{Sections, StateKind, StateRow, list};
use crate::table::tree;

/// Checks that a parallel state has a child that isn't a history, and none that is final.
pub(super) fn v30_parallel(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        if row.kind != StateKind::Parallel {
            continue;
        }
        let place = || Place::state(sections, index);
        let mut regions = 0;
        for child in children(&sections.states, index, row) {
            ensure(child.kind != StateKind::Final, || {
                place().fault(FaultKind::FinalRegion)
            })?;
            regions += usize::from(!child.kind.is_history());
        }
        ensure(regions > 0, || place().fault(FaultKind::NoRegion))?;
    }
    Ok(())
}

/// Returns the rows of a state's children.
/// INVARIANT: a subtree ends after its state (V07), so this goes on.
fn children<'s>(
    states: &'s [StateRow],
    index: usize,
    row: &StateRow,
) -> impl Iterator<Item = &'s StateRow> {
    let end = usize::from(row.end);
    let mut next = index + 1;
    core::iter::from_fn(move || {
        let child = states.get(next).filter(|_| next < end)?;
        next = usize::from(child.end).max(next + 1);
        Some(child)
    })
}

/// Checks that a history has no entry and no exit actions and no transitions: it is never active.
pub(super) fn v31_history(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        let idle = row.entry.is_empty() && row.exit.is_empty() && row.transitions.is_empty();
        ensure(!row.kind.is_history() || idle, || {
            Place::state(sections, index).fault(FaultKind::HistoryActs)
        })?;
    }
    Ok(())
}

/// Checks that the default transition of a history leads somewhere.
/// Its targets are descendants of the history's parent, and none is a history of that parent. A shallow history may
/// lead further in than it records. Source: SCXML 3.10.2.
pub(super) fn v32_default(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        let Some(parent) = row.parent.filter(|_| row.kind.is_history()) else {
            continue;
        };
        let place = || Place::state(sections, index);
        let targets = list(&sections.targets, &row.initial);
        ensure(!targets.is_empty(), || place().fault(FaultKind::NoDefault))?;
        for &target in targets {
            let Some(other) = sections.states.get(target.index()) else {
                continue;
            };
            let own = other.parent == Some(parent);
            let legal = tree::is_descendant(&sections.states, target, parent)
                && !(own && other.kind.is_history());
            ensure(legal, || {
                let target = target.raw();
                place().fault(FaultKind::DefaultOutside { target })
            })?;
        }
    }
    Ok(())
}

/// Checks that each two targets of one transition lie in different regions of a parallel state.
pub(super) fn v33_apart(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        apart(sections, &row.initial, || Place::state(sections, index))?;
    }
    for (index, row) in sections.transitions.iter().enumerate() {
        apart(sections, &row.targets, || Place::row("transition", index))?;
    }
    Ok(())
}

/// Checks that targets lie in different regions, each two of them.
/// In document order it is enough to compare neighbors: what contains two states contains the states between them.
fn apart(sections: &Sections, range: &Range<u32>, place: impl Fn() -> Place) -> Result<(), Fault> {
    if range.len() < 2 {
        return Ok(());
    }
    let mut targets = list(&sections.targets, range).to_vec();
    targets.sort_unstable();
    for pair in targets.windows(2) {
        let &[one, other] = pair else { continue };
        ensure(are_apart(sections, one, other), || {
            let (one, other) = (one.raw(), other.raw());
            place().fault(FaultKind::NotApart { one, other })
        })?;
    }
    Ok(())
}

/// Reports whether the innermost state that contains both is parallel, and both lie in its regions.
fn are_apart(sections: &Sections, one: StateId, other: StateId) -> bool {
    let row = |state: StateId| sections.states.get(state.index());
    let parent = |state: StateId| row(state).and_then(|row| row.parent);
    let mut ancestors = core::iter::successors(parent(one), |&state| parent(state));
    let Some(common) = ancestors.find(|&state| tree::is_descendant(&sections.states, other, state))
    else {
        return false;
    };
    let in_region = |state: StateId| {
        row(state).is_some_and(|row| !(row.kind.is_history() && row.parent == Some(common)))
    };
    // Neither contains the other: what contains `one` within `common` doesn't contain `other`, and ids say the rest.
    one != other
        && !tree::is_descendant(&sections.states, other, one)
        && row(common).is_some_and(|row| row.kind == StateKind::Parallel)
        && in_region(one)
        && in_region(other)
}

/// Checks that the records of all histories are together no longer than the limit.
pub(super) fn v36_recorded(sections: &Sections) -> Result<(), Fault> {
    let mut leaves = 0_usize;
    // For each state: how many leaves stand before it.
    let mut before = alloc::vec::Vec::with_capacity(sections.states.len() + 1);
    for row in &sections.states {
        before.push(leaves);
        leaves += usize::from(row.kind.is_leaf());
    }
    before.push(leaves);
    let mut found = 0_usize;
    for row in sections.states.iter().filter(|row| row.kind.is_history()) {
        let parent_row = row
            .parent
            .and_then(|parent| sections.states.get(parent.index()));
        let Some((parent, parent_row)) = row.parent.zip(parent_row) else {
            continue;
        };
        // A shallow history records no more states than its parent has leaves, or one.
        let count = |at: usize| before.get(at).copied().unwrap_or(leaves);
        let within = count(usize::from(parent_row.end)) - count(parent.index());
        let one = row.kind == StateKind::History && parent_row.kind == StateKind::Compound;
        found = found.saturating_add(if one { 1 } else { within });
    }
    ensure(found <= MAX_ROWS, || {
        Place::section("histories").fault(FaultKind::TogetherTooMany {
            what: "states to record",
            found,
            limit: MAX_ROWS,
        })
    })
}
