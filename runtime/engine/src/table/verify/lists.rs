//! Rules about sections, ranges, ids, constants and lists.

use core::cmp::Ordering;
use core::ops::Range;

use super::{Fault, FaultKind, Place, ensure};
use crate::limits::{MAX_EVENTS, MAX_NAMES, MAX_ROWS, MAX_STATES, MAX_TRANSITIONS};
use crate::table::sections::{ActionKind, Constant, Instruction, MergeRow, Sections, list};

/// Checks that no section has more rows than its limit.
pub(super) fn v01_sizes(sections: &Sections) -> Result<(), Fault> {
    let sizes = [
        ("states", sections.states.len(), MAX_STATES),
        ("events", sections.events.len(), MAX_EVENTS),
        ("transitions", sections.transitions.len(), MAX_TRANSITIONS),
        ("guards", sections.guards.len(), MAX_NAMES),
        ("fields", sections.fields.len(), MAX_NAMES),
        ("actions", sections.actions.len(), MAX_NAMES),
        ("timers", sections.timers.len(), MAX_NAMES),
        ("assigns", sections.assigns.len(), MAX_ROWS),
        ("texts", sections.texts.len(), MAX_ROWS),
        ("targets", sections.targets.len(), MAX_ROWS),
        ("triggers", sections.triggers.len(), MAX_ROWS),
        ("calls", sections.calls.len(), MAX_ROWS),
        ("code", sections.code.len(), MAX_ROWS),
        ("constants", sections.constants.len(), MAX_ROWS),
        ("merges", sections.merges.len(), MAX_ROWS),
        ("ambiguities", sections.ambiguities.len(), MAX_ROWS),
        ("claims", sections.claims.len(), MAX_NAMES),
    ];
    for (what, found, limit) in sizes {
        let fault = || Place::section(what).fault(FaultKind::TooMany { found, limit });
        ensure(found <= limit, fault)?;
    }
    Ok(())
}

/// Checks that every range begins before it ends, within its section.
pub(super) fn v03_ranges(sections: &Sections) -> Result<(), Fault> {
    let targets = sections.targets.len();
    let calls = sections.calls.len();
    for (index, row) in sections.states.iter().enumerate() {
        let transitions = u32::from(row.transitions.start)..u32::from(row.transitions.end);
        for (what, range, rows) in [
            ("initial targets", &row.initial, targets),
            ("initial actions", &row.initial_calls, calls),
            ("entry actions", &row.entry, calls),
            ("exit actions", &row.exit, calls),
            ("transitions", &transitions, sections.transitions.len()),
        ] {
            range_within(what, range, rows, || Place::state(sections, index))?;
        }
    }
    for (index, row) in sections.transitions.iter().enumerate() {
        for (what, range, rows) in [
            ("triggers", &row.triggers, sections.triggers.len()),
            ("instructions", &row.guard, sections.code.len()),
            ("actions", &row.calls, calls),
            ("targets", &row.targets, targets),
        ] {
            range_within(what, range, rows, || Place::row("transition", index))?;
        }
    }
    for (index, row) in sections.actions.iter().enumerate() {
        let place = || Place::with_name(sections, "action", index, Some(row.name));
        match &row.kind {
            ActionKind::Assign(range) => {
                range_within("assignments", range, sections.assigns.len(), place)?;
            }
            ActionKind::If {
                guard,
                then,
                otherwise,
            } => {
                range_within("instructions", guard, sections.code.len(), place)?;
                range_within("actions", then, calls, place)?;
                range_within("actions", otherwise, calls, place)?;
            }
            _ => {}
        }
    }
    for (index, row) in sections.assigns.iter().enumerate() {
        range_within("instructions", &row.value, sections.code.len(), || {
            Place::row("assignment", index)
        })?;
    }
    for (index, row) in sections.code.iter().enumerate() {
        if let Instruction::Compare(_, _, range)
        | Instruction::Push(range)
        | Instruction::Among(range) = row
        {
            let place = || Place::row("instruction", index);
            range_within("constants", range, sections.constants.len(), place)?;
        }
    }
    Ok(())
}

fn range_within(
    what: &'static str,
    range: &Range<u32>,
    rows: usize,
    place: impl FnOnce() -> Place,
) -> Result<(), Fault> {
    let &Range { start, end } = range;
    ensure(start <= end && end as usize <= rows, || {
        place().fault(FaultKind::BadRange {
            what,
            start,
            end,
            rows,
        })
    })
}

/// Checks that every state, event, guard, field and action that a row names is there.
pub(super) fn v04_ids(sections: &Sections) -> Result<(), Fault> {
    let (states, events) = (sections.states.len(), sections.events.len());
    for (index, row) in sections.states.iter().enumerate() {
        let place = || Place::state(sections, index);
        id_within("state", row.parent.map(|id| id.raw()), states, place)?;
        id_within("event", row.done.map(|id| id.raw()), events, place)?;
    }
    for (index, row) in sections.transitions.iter().enumerate() {
        let place = || Place::row("transition", index);
        id_within("state", Some(row.source.raw()), states, place)?;
    }
    for (index, row) in sections.actions.iter().enumerate() {
        let place = || Place::with_name(sections, "action", index, Some(row.name));
        let timers = sections.timers.len();
        match row.kind {
            ActionKind::Raise(event) => id_within("event", Some(event.raw()), events, place)?,
            ActionKind::Schedule(timer, _) | ActionKind::Cancel(timer) => {
                id_within("timer", Some(timer.raw()), timers, place)?;
            }
            ActionKind::Host
            | ActionKind::Fallible
            | ActionKind::Assign(_)
            | ActionKind::If { .. } => {}
        }
    }
    for (index, row) in sections.timers.iter().enumerate() {
        let place = || Place::with_name(sections, "timer", index, Some(row.name));
        id_within("event", Some(row.event.raw()), events, place)?;
    }
    for (index, row) in sections.assigns.iter().enumerate() {
        let place = || Place::row("assignment", index);
        id_within("field", Some(row.field.raw()), sections.fields.len(), place)?;
    }
    for (index, id) in sections.targets.iter().enumerate() {
        id_within("state", Some(id.raw()), states, || {
            Place::row("target", index)
        })?;
    }
    for (index, id) in sections.triggers.iter().enumerate() {
        id_within("event", Some(id.raw()), events, || {
            Place::row("trigger", index)
        })?;
    }
    for (index, id) in sections.calls.iter().enumerate() {
        let actions = sections.actions.len();
        id_within("action", Some(id.raw()), actions, || {
            Place::row("call", index)
        })?;
    }
    for (index, row) in sections.merges.iter().enumerate() {
        id_within("event", row.event.map(|id| id.raw()), events, || {
            Place::row("merge", index)
        })?;
    }
    for (index, row) in sections.ambiguities.iter().enumerate() {
        let place = || Place::row("ambiguity", index);
        id_within("state", Some(row.state.raw()), states, place)?;
        id_within("event", Some(row.label.raw()), events, place)?;
        id_within("event", Some(row.event.raw()), events, place)?;
    }
    for (index, row) in sections.claims.iter().enumerate() {
        let guards = sections.guards.len();
        id_within("guard", Some(row.guard.raw()), guards, || {
            Place::row("claim", index)
        })?;
    }
    for (index, instruction) in sections.code.iter().enumerate() {
        let (what, id, rows) = match instruction {
            Instruction::Ask(id) => ("guard", id.raw(), sections.guards.len()),
            Instruction::Compare(id, _, _) => ("field", id.raw(), sections.fields.len()),
            Instruction::Load(id) | Instruction::Has(id) => {
                ("field", id.raw(), sections.fields.len())
            }
            Instruction::InState(id) => ("state", id.raw(), states),
            _ => continue,
        };
        id_within(what, Some(id), rows, || Place::row("instruction", index))?;
    }
    Ok(())
}

fn id_within(
    what: &'static str,
    id: Option<u16>,
    rows: usize,
    place: impl FnOnce() -> Place,
) -> Result<(), Fault> {
    match id.filter(|&raw| usize::from(raw) >= rows) {
        None => Ok(()),
        Some(index) => Err(place().fault(FaultKind::Missing { what, index })),
    }
}

/// Checks that an integer is between `i64::MIN` and `u64::MAX`, a float is finite.
pub(super) fn v25_constant_values(sections: &Sections) -> Result<(), Fault> {
    for (index, row) in sections.constants.iter().enumerate() {
        let fault = match *row {
            Constant::Int(int) if i64::try_from(int).is_err() && u64::try_from(int).is_err() => {
                FaultKind::IntRange
            }
            Constant::Float(float) if !float.is_finite() => FaultKind::NotFinite,
            _ => continue,
        };
        return Err(Place::row("constant", index).fault(fault));
    }
    Ok(())
}

/// Checks that all lists of a kind are together no longer than the limit.
/// The kinds are targets, triggers, constants and actions.
pub(super) fn v28_together(sections: &Sections) -> Result<(), Fault> {
    // INVARIANT: V01 and V03 keep both numbers small enough to be added as `usize` on 64 bits; saturation covers 32.
    let triggers = sections.transitions.iter().map(|row| row.triggers.len());
    let constants = sections.code.iter().map(|row| match row {
        Instruction::Compare(_, _, range)
        | Instruction::Push(range)
        | Instruction::Among(range) => list(&sections.constants, range).len(),
        _ => 0,
    });
    let targets = sections.transitions.iter().map(|row| row.targets.len());
    let initial = sections.states.iter().map(|row| row.initial.len());
    let calls = sections.transitions.iter().map(|row| row.calls.len());
    let state_calls = sections.states.iter().flat_map(|row| {
        let lists = [&row.entry, &row.exit, &row.initial_calls];
        lists.map(|calls| calls.len())
    });
    let sums = [
        (
            "states and transitions",
            "targets",
            targets.chain(initial).fold(0, usize::saturating_add),
        ),
        (
            "states and transitions",
            "actions",
            calls.chain(state_calls).fold(0, usize::saturating_add),
        ),
        (
            "transitions",
            "triggers",
            triggers.fold(0, usize::saturating_add),
        ),
        (
            "instructions",
            "constants",
            constants.fold(0, usize::saturating_add),
        ),
    ];
    for (section, what, found) in sums {
        ensure(found <= MAX_ROWS, || {
            let kind = FaultKind::TogetherTooMany {
                what,
                found,
                limit: MAX_ROWS,
            };
            Place::section(section).fault(kind)
        })?;
    }
    Ok(())
}

/// Checks that merge rules stand in the order of their events.
///
/// A rule is of one kind, its fields stand in the order of their names, and a row without a field is all of its rule.
pub(super) fn v46_merges(sections: &Sections) -> Result<(), Fault> {
    let name = |row: &MergeRow| {
        let text = row.field.and_then(|id| sections.texts.get(id.index()));
        text.map(|text| &**text)
    };
    let rows = sections.merges.iter();
    for (index, (one, next)) in rows.clone().zip(rows.skip(1)).enumerate() {
        let is_ordered = match one.event.cmp(&next.event) {
            Ordering::Less => true,
            Ordering::Equal => {
                one.kind == next.kind && name(one).is_some() && name(one) < name(next)
            }
            Ordering::Greater => false,
        };
        ensure(is_ordered, || {
            Place::row("merge", index + 1).fault(FaultKind::MergeOrder)
        })?;
    }
    Ok(())
}
