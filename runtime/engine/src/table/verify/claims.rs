//! Rules about claims: guards that the sender of an event answers.

use alloc::collections::BTreeSet;
use core::ops::Range;

use super::{Fault, FaultKind, Place, ensure};
use crate::id::{EventId, GuardId};
use crate::table::sections::{ActionKind, EventKind, Instruction, Sections, list};

/// Checks that claims stand in the order of their guards, each once.
pub(super) fn v47_order(sections: &Sections) -> Result<(), Fault> {
    let rows = sections.claims.iter();
    for (index, (one, next)) in rows.clone().zip(rows.skip(1)).enumerate() {
        ensure(one.guard < next.guard, || {
            Place::row("claim", index + 1).fault(FaultKind::ClaimOrder)
        })?;
    }
    Ok(())
}

/// Checks that claims are asked where an event from outside brings them.
/// That is by the guards of transitions that nothing else triggers.
pub(super) fn v48_asked(sections: &Sections) -> Result<(), Fault> {
    if sections.claims.is_empty() {
        return Ok(());
    }
    let asked = |range: &Range<u32>| claim_in(sections, range);
    let timed: BTreeSet<EventId> = sections.timers.iter().map(|row| row.event).collect();
    let fault = |place: Place, guard: GuardId| {
        let guard = guard.raw();
        Err(place.fault(FaultKind::ClaimAsked { guard }))
    };
    let is_sent = |range: &Range<u32>| {
        let triggers = list(&sections.triggers, range);
        let mut sent = triggers.iter().map(|event| {
            let row = sections.events.get(event.index());
            row.is_some_and(|row| row.kind == EventKind::Named) && !timed.contains(event)
        });
        !triggers.is_empty() && sent.all(|sent| sent)
    };
    for (index, row) in sections.transitions.iter().enumerate() {
        match asked(&row.guard) {
            Some(guard) if !is_sent(&row.triggers) => {
                return fault(Place::row("transition", index), guard);
            }
            _ => {}
        }
    }
    for (index, row) in sections.actions.iter().enumerate() {
        let ActionKind::If { guard, .. } = &row.kind else {
            continue;
        };
        if let Some(guard) = asked(guard) {
            let place = Place::with_name(sections, "action", index, Some(row.name));
            return fault(place, guard);
        }
    }
    for (index, row) in sections.assigns.iter().enumerate() {
        if let Some(guard) = asked(&row.value) {
            return fault(Place::row("assignment", index), guard);
        }
    }
    Ok(())
}

/// Returns the first claim that a program asks.
fn claim_in(sections: &Sections, range: &Range<u32>) -> Option<GuardId> {
    let mut code = list(&sections.code, range).iter();
    code.find_map(|instruction| match instruction {
        Instruction::Ask(guard) => {
            let found = sections.claims.binary_search_by_key(guard, |row| row.guard);
            found.is_ok().then_some(*guard)
        }
        _ => None,
    })
}
