//! Rules about the tree of states.

use alloc::vec::Vec;

use super::{Fault, FaultKind, Place, ensure};
use crate::id::{ROOT, StateId};
use crate::limits::MAX_DEPTH;
use crate::table::sections::{EventKind, Sections, StateKind, Verdict, list};
use crate::table::tree;

/// Checks that state 0 is the root: compound, without a parent, around all others.
pub(super) fn v05_root(sections: &Sections) -> Result<(), Fault> {
    let states = sections.states.len();
    let Some(root) = sections.states.first() else {
        return Err(Place::section("states").fault(FaultKind::NoRoot));
    };
    let place = || Place::state(sections, 0);
    ensure(root.parent.is_none(), || {
        place().fault(FaultKind::RootParent)
    })?;
    ensure(root.kind == StateKind::Compound, || {
        place().fault(FaultKind::RootKind)
    })?;
    let end = root.end;
    ensure(usize::from(end) == states, || {
        place().fault(FaultKind::RootEnd { end, states })
    })
}

/// Checks that every other state has a parent, which stands before it.
pub(super) fn v06_parents(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate().skip(1) {
        let place = || Place::state(sections, index);
        let Some(parent) = row.parent else {
            return Err(place().fault(FaultKind::NoParent));
        };
        ensure(parent.index() < index, || {
            place().fault(FaultKind::ParentBehind {
                parent: parent.raw(),
            })
        })?;
    }
    Ok(())
}

/// States stand in document order: a subtree is its state and what follows, up to `end`.
pub(super) fn v07_subtrees(sections: &Sections) -> Result<(), Fault> {
    // The states that enclose the current one, outermost first.
    let mut enclosing: Vec<(StateId, u16)> = Vec::new();
    for (raw, row) in (0_u16..).zip(&sections.states) {
        let place = || Place::state(sections, usize::from(raw));
        while enclosing.last().is_some_and(|&(_, end)| end <= raw) {
            enclosing.pop();
        }
        if let Some(&(inner, end)) = enclosing.last() {
            let parent = row.parent.unwrap_or(ROOT);
            ensure(parent == inner, || {
                let kind = FaultKind::WrongParent {
                    parent: parent.raw(),
                    enclosing: inner.raw(),
                };
                place().fault(kind)
            })?;
            ensure(raw < row.end && row.end <= end, || {
                place().fault(FaultKind::BadEnd { end: row.end })
            })?;
        }
        enclosing.push((StateId::new(raw), row.end));
    }
    Ok(())
}

/// Checks that no state is nested deeper than the limit.
pub(super) fn v08_depth(sections: &Sections) -> Result<(), Fault> {
    let mut depths: Vec<usize> = Vec::with_capacity(sections.states.len());
    for (index, row) in sections.states.iter().enumerate() {
        // INVARIANT: parents stand before their children (V06), so their depths are known.
        let above = row.parent.and_then(|parent| depths.get(parent.index()));
        let depth = above.map_or(0, |depth| depth + 1);
        ensure(depth <= MAX_DEPTH, || {
            Place::state(sections, index).fault(FaultKind::TooDeep { limit: MAX_DEPTH })
        })?;
        depths.push(depth);
    }
    Ok(())
}

/// Checks that a state has children if and only if it is compound or parallel.
pub(super) fn v10_kinds(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        let found = usize::from(row.end) > index + 1;
        ensure(row.kind.has_children() == found, || {
            Place::state(sections, index).fault(FaultKind::Children { found })
        })?;
    }
    Ok(())
}

/// Checks that only a final state stands for a failure.
pub(super) fn v11_verdicts(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        ensure(
            row.kind == StateKind::Final || row.verdict == Verdict::Success,
            || Place::state(sections, index).fault(FaultKind::Failure),
        )?;
    }
    Ok(())
}

/// Checks that a compound state has initial targets, proper descendants.
/// No other state has any, but histories (V32).
pub(super) fn v12_initial(sections: &Sections) -> Result<(), Fault> {
    for (raw, row) in (0_u16..).zip(&sections.states) {
        let place = || Place::state(sections, usize::from(raw));
        if row.kind.is_history() {
            continue;
        }
        if row.kind != StateKind::Compound {
            ensure(
                row.initial.is_empty() && row.initial_calls.is_empty(),
                || place().fault(FaultKind::InitialOfLeaf),
            )?;
            continue;
        }
        let targets = list(&sections.targets, &row.initial);
        ensure(!targets.is_empty(), || place().fault(FaultKind::NoInitial))?;
        for &target in targets {
            let inside = tree::is_descendant(&sections.states, target, StateId::new(raw));
            ensure(inside, || {
                let target = target.raw();
                place().fault(FaultKind::InitialOutside { target })
            })?;
        }
    }
    Ok(())
}

/// Checks that the root has no entry and no exit actions: it is neither entered nor left.
pub(super) fn v13_root_calls(sections: &Sections) -> Result<(), Fault> {
    let free = |root: &super::super::StateRow| root.entry.is_empty() && root.exit.is_empty();
    ensure(sections.states.first().is_some_and(free), || {
        Place::state(sections, 0).fault(FaultKind::RootCalls)
    })
}

/// Checks that a final state has no transitions.
pub(super) fn v14_final(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        ensure(
            row.kind != StateKind::Final || row.transitions.is_empty(),
            || Place::state(sections, index).fault(FaultKind::FinalTransitions),
        )?;
    }
    Ok(())
}

/// Checks that a `done` event is internal, and its state is compound or parallel and not the root.
pub(super) fn v26_done(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.states.iter().enumerate() {
        let Some(done) = row.done else { continue };
        let place = || Place::state(sections, index);
        ensure(row.kind.has_children() && index != 0, || {
            place().fault(FaultKind::DoneOfOther)
        })?;
        let kind = sections.events.get(done.index()).map(|row| row.kind);
        ensure(kind == Some(EventKind::Internal), || {
            place().fault(FaultKind::DoneNamed { event: done.raw() })
        })?;
    }
    Ok(())
}
