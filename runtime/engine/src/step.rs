//! Macrosteps of a verified table.
//! A macrostep checks that the event may be sent, chooses the algorithm, and undoes a failed step.
//!
//! [`flat`] has the steps of machines with one leaf, [`regions`] those of all others.

use alloc::vec::Vec;

use crate::configuration::Configuration;
use crate::content::{Content, Work};
use crate::error::StepError;
use crate::expression;
use crate::host::{Host, Observer};
use crate::id::{EventId, StateId, TimerId, TransitionId};
use crate::jump::{JUMP, Jumping};
use crate::quick::{self, Concerned, Quick};
use crate::record::Outcome;
use crate::scratch::{Scratch, Selection};
use crate::table::Table;
use crate::table::index;
use crate::table::sections::EventKind;
use crate::{flat, regions};

/// Enters the initial configuration and comes to rest.
///
/// The root itself is neither observed nor has it entry actions; its initial transition's actions come first.
pub(crate) fn start<H: Host, O: Observer>(
    table: &Table,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Configuration, StepError> {
    let mut configuration = Configuration::root(table, table.has_regions());
    let limit = work.limit;
    let _ = one_change(table, work, host, |content| {
        if table.has_regions() {
            regions::start(table, &mut configuration, limit, content, observer)
        } else {
            flat::start(table, &mut configuration, limit, content, observer)
        }
    })?;
    Ok(configuration)
}

/// Sends an external event to a machine with one leaf: one macrostep.
/// On an error the configuration is as it was.
pub(crate) fn send<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    event: EventId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    accepts(table, configuration, event)?;
    external(table, configuration, event, work, host, observer)
}

/// Sends an external event to a machine with regions, as [`send`] does to others.
pub(crate) fn send_in_regions<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    event: EventId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    accepts(table, configuration, event)?;
    external_in_regions(table, configuration, event, work, host, observer)
}

/// Sends an event that concerns these states alone.
/// The first of them that has an enabled transition for it takes it, and nothing else does. On an error the
/// configuration is as it was.
pub(crate) fn send_to<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    (event, states): (EventId, &[StateId]),
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    accepts(table, configuration, event)?;
    let mut active = states.iter();
    let enabled = loop {
        let Some(&state) = active.next() else {
            return Ok(Outcome::Ignored);
        };
        if !configuration.is_active(table, state) {
            continue;
        }
        let enabled = flat::first_enabled(table, state, event, |transition| {
            expression::guard(table, transition, configuration, host, observer)
        });
        if let Some(enabled) = enabled {
            break enabled;
        }
    };
    if !table.has_regions() {
        return macrostep(table, configuration, enabled, work, host, observer);
    }
    with_scratch(configuration, |configuration, scratch| {
        scratch.selection.only(enabled);
        macrosteps(table, configuration, scratch, work, host, observer)
    })
}

/// Sends a timer's event: one macrostep. On an error the configuration is as it was.
pub(crate) fn elapse<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    timer: TimerId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    if configuration.is_ended(table) {
        return Err(StepError::Ended);
    }
    let Some(row) = table.timer(timer) else {
        return Err(StepError::NotATimer(timer));
    };
    let event = row.event;
    if table.has_regions() {
        return external_in_regions(table, configuration, event, work, host, observer);
    }
    external(table, configuration, event, work, host, observer)
}

/// Enters states from outside, by no transition. On an error the configuration is as it was.
pub(crate) fn jump<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    targets: &[StateId],
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    if configuration.is_ended(table) {
        return Err(StepError::Ended);
    }
    let Some(chart) = Jumping::new(table, configuration, targets) else {
        return Err(StepError::NotTargets);
    };
    let limit = work.limit;
    one_change(table, work, host, |content| {
        if table.has_regions() {
            return regions::jump(&chart, configuration, JUMP, limit, content, observer);
        }
        let (domain, target) = chart.only_target();
        flat::jump(
            table,
            configuration,
            (domain, target),
            limit,
            content,
            observer,
        )
    })
}

/// Takes an event from outside that may be taken, in a machine with one leaf.
fn external<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    event: EventId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let Some(transition) = selected(table, configuration, event, host, observer) else {
        return Ok(Outcome::Ignored);
    };
    macrostep(table, configuration, transition, work, host, observer)
}

/// Takes an event from outside that may be taken, in a machine with regions.
fn external_in_regions<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    event: EventId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let found = match in_one_region(table, configuration, event, host, observer) {
        Quick::Ignored => return Ok(Outcome::Ignored),
        Quick::Moved(_) => return Ok(Outcome::Taken),
        Quick::General(found) => found,
    };
    in_regions(table, configuration, (event, found), work, host, observer)
}

/// Takes the event in a machine with regions, by the transition that is `found` already, if one is.
///
/// It isn't inlined, so that the steps before it, which need no memory, stay short.
#[inline(never)]
fn in_regions<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    (event, found): (EventId, Option<TransitionId>),
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    with_scratch(configuration, |configuration, scratch| {
        let selection = &mut scratch.selection;
        match found {
            Some(found) => selection.only(found),
            None => select(table, configuration, event, selection, host, observer),
        }
        macrosteps(table, configuration, scratch, work, host, observer)
    })
}

/// Takes the event in a machine with regions if the dense index knows the whole effect.
/// The event concerns one leaf alone then.
#[inline]
fn in_one_region<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    event: EventId,
    host: &mut H,
    observer: &mut O,
) -> Quick {
    let leaf = match quick::concerned(table, configuration, event) {
        Concerned::Nobody => return Quick::Ignored,
        Concerned::Several => return Quick::General(None),
        Concerned::One(leaf) => leaf,
    };
    let (cells, stride) = table.index.dense.cells();
    let cell = index::cell(cells, stride, leaf, event);
    let taken = quick::take(table, configuration, (leaf, cell), host, observer);
    if let Quick::Moved(next) = taken {
        configuration.move_leaf(table, leaf, next);
    }
    taken
}

/// Checks that the event may be sent at all.
pub(crate) fn accepts(
    table: &Table,
    configuration: &Configuration,
    event: EventId,
) -> Result<(), StepError> {
    if configuration.is_ended(table) {
        return Err(StepError::Ended);
    }
    match table.event(event).map(|row| row.kind) {
        Some(EventKind::Named) => {}
        Some(EventKind::Internal) | None => return Err(StepError::NotAnEvent(event)),
    }
    let label = event;
    match ambiguous_state(table, configuration, label) {
        Some(state) => Err(StepError::Ambiguous { state, label }),
        None => Ok(()),
    }
}

/// Returns the first active state in which a label is ambiguous.
fn ambiguous_state(
    table: &Table,
    configuration: &Configuration,
    label: EventId,
) -> Option<StateId> {
    // Few tables have any, and every event of the others would pay for looking.
    if table.sections.ambiguities.is_empty() {
        return None;
    }
    let mut states = table.ambiguous_states(label);
    states.find(|state| configuration.is_active(table, *state))
}

/// Returns the labels that are ambiguous in active states, sorted.
pub(crate) fn ambiguous_labels(table: &Table, configuration: &Configuration) -> Vec<EventId> {
    let rows = table.sections.ambiguities.iter();
    let active = rows.filter(|row| configuration.is_active(table, row.state));
    let mut labels: Vec<EventId> = active.map(|row| row.label).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// Returns the transition that the event takes in a machine with one leaf.
pub(crate) fn selected<H: Host, O: Observer>(
    table: &Table,
    configuration: &Configuration,
    event: EventId,
    host: &mut H,
    observer: &mut O,
) -> Option<TransitionId> {
    flat::select(table, configuration.leaf, event, |transition| {
        expression::guard(table, transition, configuration, host, observer)
    })
}

/// Selects the transitions that the event takes in a machine with regions.
#[inline]
pub(crate) fn select<H: Host, O: Observer>(
    table: &Table,
    configuration: &Configuration,
    event: EventId,
    selection: &mut Selection,
    host: &mut H,
    observer: &mut O,
) {
    regions::select(table, configuration, event, selection, |transition| {
        expression::guard(table, transition, configuration, host, observer)
    });
}

/// Steps with the memory that the configuration keeps for that.
#[inline]
fn with_scratch<T>(
    configuration: &mut Configuration,
    step: impl FnOnce(&mut Configuration, &mut Scratch) -> T,
) -> T {
    let mut scratch = configuration.take_scratch();
    let result = step(configuration, &mut scratch);
    configuration.return_scratch(scratch);
    result
}

/// Takes the transition of a machine with one leaf and comes to rest.
/// On an error the configuration is as it was.
pub(crate) fn macrostep<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    transition: TransitionId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let limit = work.limit;
    one_change(table, work, host, |content| {
        flat::macrostep(table, configuration, transition, limit, content, observer)
    })
}

/// Takes the selected transitions of a machine with regions and comes to rest.
fn macrosteps<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    scratch: &mut Scratch,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    if scratch.selection.enabled.is_empty() {
        return Ok(Outcome::Ignored);
    }
    let limit = work.limit;
    one_change(table, work, host, |content| {
        regions::macrostep(table, configuration, scratch, limit, content, observer)
    })
}

/// Does something as one change of the host's, which is undone if it fails.
/// Only tables that assign or have timers tell the host.
#[inline]
fn one_change<H: Host>(
    table: &Table,
    work: &mut Work,
    host: &mut H,
    steps: impl FnOnce(&mut Content<'_, H>) -> Result<Outcome, StepError>,
) -> Result<Outcome, StepError> {
    work.clear();
    let changes = table.index.changes_host;
    if changes {
        host.begin();
    }
    if table.index.can_fail {
        work.done.clear();
    }
    let outcome = steps(&mut Content { table, work, host });
    if changes && outcome.is_err() {
        host.rollback();
    }
    outcome
}
