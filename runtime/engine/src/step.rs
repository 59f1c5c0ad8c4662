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
use crate::record::Outcome;
use crate::table::Table;
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
    let mut configuration = Configuration::root(table.has_regions());
    let limit = work.limit;
    one_change(table, work, host, |content| {
        if table.has_regions() {
            regions::start(table, &mut configuration, limit, content, observer)
        } else {
            flat::start(table, &mut configuration, limit, content, observer)
        }
    })?;
    Ok(configuration)
}

/// Sends an external event: one macrostep. On an error the configuration is as it was.
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
    if table.has_regions() {
        return macrosteps(table, configuration, &[enabled], work, host, observer);
    }
    macrostep(table, configuration, enabled, work, host, observer)
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
    external(table, configuration, row.event, work, host, observer)
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
        regions::jump(&chart, configuration, JUMP, limit, content, observer)
    })
}

/// Returns an event from outside that may be taken.
fn external<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    event: EventId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    if table.has_regions() {
        let enabled = enabled(table, configuration, event, host, observer);
        return macrosteps(table, configuration, &enabled, work, host, observer);
    }
    let Some(transition) = selected(table, configuration, event, host, observer) else {
        return Ok(Outcome::Ignored);
    };
    macrostep(table, configuration, transition, work, host, observer)
}

/// Reports whether the event may be sent at all.
pub(crate) fn accepts(
    table: &Table,
    configuration: &Configuration,
    event: EventId,
) -> Result<(), StepError> {
    if configuration.is_ended(table) {
        return Err(StepError::Ended);
    }
    match table.event(event).map(|row| row.kind) {
        Some(EventKind::Named) => Ok(()),
        Some(EventKind::Internal) | None => Err(StepError::NotAnEvent(event)),
    }
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

/// Returns the transitions that the event takes in a machine with regions.
pub(crate) fn enabled<H: Host, O: Observer>(
    table: &Table,
    configuration: &Configuration,
    event: EventId,
    host: &mut H,
    observer: &mut O,
) -> Vec<TransitionId> {
    let mut holds =
        |transition| expression::guard(table, transition, configuration, host, observer);
    regions::select(table, configuration, event, &mut holds)
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

/// Takes the transitions of a machine with regions and comes to rest.
fn macrosteps<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    enabled: &[TransitionId],
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    if enabled.is_empty() {
        return Ok(Outcome::Ignored);
    }
    let limit = work.limit;
    one_change(table, work, host, |content| {
        regions::macrostep(table, configuration, enabled, limit, content, observer)
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
    let outcome = steps(&mut Content { table, work, host });
    if changes && outcome.is_err() {
        host.rollback();
    }
    outcome
}
