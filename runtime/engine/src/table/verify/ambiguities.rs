//! Rules about labels that lead to several places.

use alloc::collections::BTreeMap;

use super::{Fault, FaultKind, Place, ensure};
use crate::id::{EventId, StateId};
use crate::table::sections::{EventKind, Sections, list};

/// Checks that ambiguities stand in the order of their states, labels and events.
///
/// A label has several events in its state.
pub(super) fn v50_order(sections: &Sections) -> Result<(), Fault> {
    let rows = &sections.ambiguities;
    for (index, (one, next)) in rows.iter().zip(rows.iter().skip(1)).enumerate() {
        ensure(one < next, || {
            Place::row("ambiguity", index + 1).fault(FaultKind::AmbiguityOrder)
        })?;
    }
    let mut index = 0;
    for label in rows.chunk_by(|one, other| (one.state, one.label) == (other.state, other.label)) {
        ensure(label.len() > 1, || {
            Place::row("ambiguity", index).fault(FaultKind::OneMeaning)
        })?;
        index += label.len();
    }
    Ok(())
}

/// Checks that an ambiguous label and its events can be sent.
///
/// Each event triggers a transition of the state, the label triggers none.
pub(super) fn v51_meanings(sections: &Sections) -> Result<(), Fault> {
    if sections.ambiguities.is_empty() {
        return Ok(());
    }
    let mut triggered: BTreeMap<(StateId, EventId), u16> = BTreeMap::new();
    for (number, row) in (0_u16..).zip(&sections.transitions) {
        for &event in list(&sections.triggers, &row.triggers) {
            triggered.entry((row.source, event)).or_insert(number);
        }
    }
    for (index, row) in sections.ambiguities.iter().enumerate() {
        let fault = |kind| Place::row("ambiguity", index).fault(kind);
        for event in [row.label, row.event] {
            let found = sections.events.get(event.index());
            let is_named = found.is_some_and(|found| found.kind == EventKind::Named);
            let event = event.raw();
            ensure(is_named, || fault(FaultKind::Unsendable { event }))?;
        }
        if let Some(&transition) = triggered.get(&(row.state, row.label)) {
            return Err(fault(FaultKind::LabelTriggers { transition }));
        }
        let event = row.event.raw();
        let is_taken = triggered.contains_key(&(row.state, row.event));
        ensure(is_taken, || fault(FaultKind::NoMeaning { event }))?;
    }
    Ok(())
}
