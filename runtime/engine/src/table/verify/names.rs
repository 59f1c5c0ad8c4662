//! Rules about texts and names.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use super::{Fault, FaultKind, Place, ensure};
use crate::id::TextId;
use crate::table::sections::{Constant, Sections};

/// Checks that every text that a row names is there.
pub(super) fn v02_texts(sections: &Sections) -> Result<(), Fault> {
    let check = |what, index, name: Option<TextId>| match name {
        Some(text) if text.index() >= sections.texts.len() => {
            Err(Place::row(what, index).fault(FaultKind::NoText { text }))
        }
        _ => Ok(()),
    };
    let machine = |text: TextId| {
        ensure(text.index() < sections.texts.len(), || {
            Place::section("machine").fault(FaultKind::NoText { text })
        })
    };
    machine(sections.name)?;
    sections.metadata.map_or(Ok(()), machine)?;
    for (index, row) in sections.states.iter().enumerate() {
        check("state", index, Some(row.name))?;
        check("state", index, row.metadata)?;
    }
    for (index, row) in sections.events.iter().enumerate() {
        check("event", index, Some(row.name))?;
        check("event", index, row.metadata)?;
    }
    for (index, row) in sections.transitions.iter().enumerate() {
        check("transition", index, row.metadata)?;
    }
    for (index, row) in sections.timers.iter().enumerate() {
        check("timer", index, Some(row.name))?;
    }
    for (index, &name) in sections.guards.iter().enumerate() {
        check("guard", index, Some(name))?;
    }
    for (index, &name) in sections.fields.iter().enumerate() {
        check("field", index, Some(name))?;
    }
    for (index, row) in sections.actions.iter().enumerate() {
        check("action", index, Some(row.name))?;
        check("action", index, row.metadata)?;
    }
    for (index, row) in sections.merges.iter().enumerate() {
        check("merge", index, row.field)?;
    }
    for (index, row) in sections.claims.iter().enumerate() {
        check("claim", index, Some(row.text))?;
    }
    for (index, row) in sections.constants.iter().enumerate() {
        if let Constant::Text(text) = row {
            check("constant", index, Some(*text))?;
        }
    }
    Ok(())
}

/// Checks that names aren't empty, and that those of a kind don't repeat.
/// The kinds are states (the root aside), events, actions, timers, guards and fields.
pub(super) fn v09_names(sections: &Sections) -> Result<(), Fault> {
    let name = |text: TextId| sections.texts.get(text.index()).map_or("", Box::as_ref);
    ensure(!name(sections.name).is_empty(), || {
        Place::section("machine").fault(FaultKind::EmptyName)
    })?;
    let root = sections
        .states
        .first()
        .is_some_and(|root| name(root.name).is_empty());
    ensure(!root, || Place::row("state", 0).fault(FaultKind::EmptyName))?;
    // The root stands for the machine; the machine's name may also be one of its states'.
    let states = sections
        .states
        .iter()
        .map(|row| name(row.name))
        .enumerate()
        .skip(1);
    distinct("state", states)?;
    distinct(
        "event",
        sections.events.iter().map(|row| name(row.name)).enumerate(),
    )?;
    distinct(
        "action",
        sections
            .actions
            .iter()
            .map(|row| name(row.name))
            .enumerate(),
    )?;
    distinct(
        "timer",
        sections.timers.iter().map(|row| name(row.name)).enumerate(),
    )?;
    distinct(
        "guard",
        sections.guards.iter().map(|&text| name(text)).enumerate(),
    )?;
    distinct(
        "field",
        sections.fields.iter().map(|&text| name(text)).enumerate(),
    )
}

fn distinct<'a>(
    what: &'static str,
    names: impl Iterator<Item = (usize, &'a str)>,
) -> Result<(), Fault> {
    let mut seen = BTreeMap::new();
    for (index, name) in names {
        let place = || Place {
            what,
            row: Some(index),
            name: Some(name.into()),
        };
        ensure(!name.is_empty(), || {
            Place::row(what, index).fault(FaultKind::EmptyName)
        })?;
        if let Some(other) = seen.insert(name, index) {
            return Err(place().fault(FaultKind::SameName { other }));
        }
    }
    Ok(())
}
