//! Rules about transitions.

use super::{Fault, FaultKind, Place, ensure};
use crate::id::ROOT;
use crate::table::sections::{Sections, list};
use crate::table::tree;

/// Checks that the states' transitions follow one another without gaps and cover all transitions.
pub(super) fn v15_cover(sections: &Sections) -> Result<(), Fault> {
    let mut expected = 0;
    for (index, row) in sections.states.iter().enumerate() {
        let start = row.transitions.start;
        ensure(start == expected, || {
            Place::state(sections, index).fault(FaultKind::Gap { start, expected })
        })?;
        expected = row.transitions.end;
    }
    let covered = usize::from(expected);
    ensure(covered == sections.transitions.len(), || {
        Place::section("transitions").fault(FaultKind::Uncovered { covered })
    })
}

/// Checks that a transition's source is the state that lists it.
pub(super) fn v16_sources(sections: &Sections) -> Result<(), Fault> {
    for (state, row) in sections.states.iter().enumerate() {
        for index in row.transitions.clone().map(usize::from) {
            let Some(transition) = sections.transitions.get(index) else {
                continue;
            };
            let source = transition.source;
            ensure(source.index() == state, || {
                let kind = FaultKind::Source {
                    source: source.raw(),
                    state,
                };
                Place::row("transition", index).fault(kind)
            })?;
        }
    }
    Ok(())
}

/// Checks that a transition has targets, or it is internal.
pub(super) fn v17_target(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.transitions.iter().enumerate() {
        ensure(row.internal || !row.targets.is_empty(), || {
            Place::row("transition", index).fault(FaultKind::NoTarget)
        })?;
    }
    Ok(())
}

/// Checks that an internal transition's targets are proper descendants of its source.
pub(super) fn v18_internal(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections
        .transitions
        .iter()
        .enumerate()
        .filter(|(_, row)| row.internal)
    {
        for &target in list(&sections.targets, &row.targets) {
            ensure(
                tree::is_descendant(&sections.states, target, row.source),
                || {
                    let kind = FaultKind::InternalOutside {
                        target: target.raw(),
                    };
                    Place::row("transition", index).fault(kind)
                },
            )?;
        }
    }
    Ok(())
}

/// Checks that a transition doesn't lead to the root.
pub(super) fn v19_target_root(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.transitions.iter().enumerate() {
        ensure(
            !list(&sections.targets, &row.targets).contains(&ROOT),
            || Place::row("transition", index).fault(FaultKind::TargetRoot),
        )?;
    }
    Ok(())
}

/// Checks that a transition names each of its triggers once.
pub(super) fn v20_triggers(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.transitions.iter().enumerate() {
        let mut seen = list(&sections.triggers, &row.triggers).to_vec();
        seen.sort_unstable();
        for pair in seen.windows(2) {
            let [one, other] = pair else { continue };
            ensure(one != other, || {
                Place::row("transition", index).fault(FaultKind::SameTrigger { event: one.raw() })
            })?;
        }
    }
    Ok(())
}
