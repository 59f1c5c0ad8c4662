//! The step: SCXML's *Algorithm for SCXML Interpretation* (appendix D) on verified tables.
//!
//! [`macrostep`] is its main event loop for one external event, [`microstep`] its procedure of that name. What each
//! procedure is for one leaf is spelled out: the exit set is the part of the leaf's chain below the transition's domain,
//! the entry set is the path from the domain to the target and on by default.
//!
//! INVARIANT: nothing here loops but over finite lists of the table, at most `limit` microsteps a macrostep, and at most
//! [`MAX_RAISED`] events that those raise.

use alloc::vec::Vec;

use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::{Host, Observer};
use crate::id::{ActionId, EventId, StateId, TransitionId};
use crate::limits::MAX_RAISED;
use crate::record::Outcome;
use crate::select::select;
use crate::table::index::EVENTLESS;
use crate::table::sections::{ActionKind, EventKind, StateKind};
use crate::table::tree::{self, Entry};
use crate::table::{ROOT, Table, list};

/// What the step needs besides table and configuration, kept from step to step: SCXML's internal queue and the limit.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    /// Events raised in this macrostep, in order; those before `next` are done with.
    raised: Vec<EventId>,
    next: usize,
    /// Most microsteps in a macrostep.
    pub(crate) limit: u32,
}

impl Work {
    pub(crate) const fn new(limit: u32) -> Self {
        Self {
            raised: Vec::new(),
            next: 0,
            limit,
        }
    }

    fn clear(&mut self) {
        self.raised.clear();
        self.next = 0;
    }

    fn dequeue(&mut self) -> Option<EventId> {
        let event = self.raised.get(self.next).copied();
        match event {
            Some(_) => self.next += 1,
            None => self.clear(),
        }
        event
    }
}

/// Enters the initial configuration by default and comes to rest: SCXML's `interpret`.
///
/// The root itself is neither observed nor has it entry actions; its initial transition's actions come first.
pub(crate) fn start<H: Host, O: Observer>(
    table: &Table,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Configuration, StepError> {
    work.clear();
    let mut configuration = Configuration { leaf: ROOT };
    let root = table.state(ROOT);
    if let Some(row) = root {
        calls(table, &row.initial_calls, work, host, observer);
    }
    if let Some(&target) = root.and_then(|row| list(&table.sections.targets, &row.initial).first())
    {
        enter_states(
            table,
            &mut configuration,
            ROOT,
            target,
            work,
            host,
            observer,
        );
    }
    settle(table, &mut configuration, 0, work, host, observer)?;
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
    let Some(transition) = select(table, configuration, event, host, observer) else {
        return Ok(Outcome::Ignored);
    };
    macrostep(table, configuration, transition, work, host, observer)
}

/// Whether the event may be sent at all.
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

/// Takes the transition and comes to rest. On an error the configuration is as it was.
pub(crate) fn macrostep<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    transition: TransitionId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    work.clear();
    let before = configuration.clone();
    microstep(table, configuration, transition, work, host, observer);
    match settle(table, configuration, 1, work, host, observer) {
        Ok(outcome) => Ok(outcome),
        Err(fault) => {
            *configuration = before;
            Err(fault)
        }
    }
}

/// Takes eventless transitions, and where there are none the raised events in order, until nothing is left: the inner
/// loop of SCXML's `mainEventLoop`. A raised event that triggers nothing is dropped.
fn settle<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    taken: u32,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let mut taken = taken;
    while !configuration.is_ended(table) {
        if work.raised.len() > MAX_RAISED {
            return Err(StepError::RaiseLimit);
        }
        let mut enabled = select(table, configuration, EVENTLESS, host, observer);
        if enabled.is_none() {
            let Some(event) = work.dequeue() else {
                return Ok(Outcome::Taken);
            };
            enabled = select(table, configuration, event, host, observer);
        }
        let Some(transition) = enabled else { continue };
        if taken >= work.limit {
            return Err(StepError::StepLimit { limit: work.limit });
        }
        taken += 1;
        microstep(table, configuration, transition, work, host, observer);
    }
    Ok(Outcome::Ended)
}

/// SCXML's `microstep`: `exitStates`, `executeTransitionContent`, `enterStates`.
fn microstep<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    transition: TransitionId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) {
    observer.transition(transition);
    let Some(row) = table.transition(transition) else {
        return;
    };
    let domain = tree::domain(&table.sections, row);
    if let Some(domain) = domain {
        exit_states(table, configuration, domain, work, host, observer);
    }
    calls(table, &row.calls, work, host, observer);
    let target = list(&table.sections.targets, &row.targets).first();
    if let Some((domain, &target)) = domain.zip(target) {
        enter_states(table, configuration, domain, target, work, host, observer);
    }
    debug_assert!(
        configuration.check(table).is_ok(),
        "a step leads to a legal configuration"
    );
}

/// SCXML's `exitStates`: what is active below the domain is left, in reverse document order. A state's exit actions run
/// while it is still active.
fn exit_states<H: Host, O: Observer>(
    table: &Table,
    configuration: &Configuration,
    domain: StateId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) {
    for state in table
        .chain(configuration.leaf)
        .take_while(|&state| state != domain)
    {
        if let Some(row) = table.state(state) {
            calls(table, &row.exit, work, host, observer);
        }
        observer.exited(state);
    }
}

/// SCXML's `enterStates`: in document order, each state's entry actions after it is entered, and the actions of its
/// initial transition after those. A final state that is entered completes the state around it.
fn enter_states<H: Host, O: Observer>(
    table: &Table,
    configuration: &mut Configuration,
    domain: StateId,
    target: StateId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) {
    configuration.leaf = tree::entries(&table.sections, domain, target, |part| match part {
        Entry::State(state) => {
            observer.entered(state);
            let Some(row) = table.state(state) else {
                return;
            };
            calls(table, &row.entry, work, host, observer);
            let around = row.parent.filter(|_| row.kind == StateKind::Final);
            if let Some(done) = around
                .and_then(|id| table.state(id))
                .and_then(|row| row.done)
            {
                work.raised.push(done);
                observer.raised(done);
            }
        }
        Entry::Initial(state) => {
            if let Some(row) = table.state(state) {
                calls(table, &row.initial_calls, work, host, observer);
            }
        }
    });
}

/// SCXML's `executeContent`: the actions of a list, in order. One that raises an event isn't the host's.
fn calls<H: Host, O: Observer>(
    table: &Table,
    range: &core::ops::Range<u32>,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) {
    for &action in list(&table.sections.calls, range) {
        call(table, action, work, host, observer);
    }
}

fn call<H: Host, O: Observer>(
    table: &Table,
    action: ActionId,
    work: &mut Work,
    host: &mut H,
    observer: &mut O,
) {
    match table.action(action).map(|row| &row.kind) {
        Some(&ActionKind::Raise(event)) => {
            observer.action(action);
            work.raised.push(event);
            observer.raised(event);
        }
        _ => {
            host.action(action);
            observer.action(action);
        }
    }
}
