//! Steps of machines with one leaf: SCXML's *Algorithm for SCXML Interpretation* (appendix D) without parallel states and
//! history.
//!
//! What each procedure is for one leaf is spelled out: the exit set is the part of the leaf's chain below the transition's
//! domain, the entry set is the path from the domain to the target and on by default. All other machines step in
//! [`regions`](crate::regions), and the tests hold the two to the same records.
//!
//! INVARIANT: nothing here loops but over finite lists of the table, at most `limit` microsteps a macrostep, and at most
//! [`MAX_RAISED`](crate::MAX_RAISED) events that those raise.

use crate::chart::EVENTLESS;
use crate::configuration::Configuration;
use crate::content::Content;
use crate::error::StepError;
use crate::host::{Host, Observer};
use crate::id::{StateId, TransitionId};
use crate::record::Outcome;
use crate::regions::Content as _;
use crate::select::select;
use crate::table::sections::StateKind;
use crate::table::tree::{self, Entry};
use crate::table::{ROOT, list};

/// Enters the initial configuration by default and comes to rest: SCXML's `interpret`. `configuration` is the root alone.
pub(crate) fn start<H: Host, O: Observer>(
    configuration: &mut Configuration,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let table = content.table;
    if let Some(root) = table.state(ROOT) {
        content.run(&root.initial_calls, configuration, observer)?;
        if let Some(&target) = list(&table.sections.targets, &root.initial).first() {
            enter_states(configuration, ROOT, target, content, observer)?;
        }
    }
    settle(configuration, 0, content, observer)
}

/// Takes the transition and comes to rest. On an error the configuration is as it was.
pub(crate) fn macrostep<H: Host, O: Observer>(
    configuration: &mut Configuration,
    transition: TransitionId,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let before = configuration.leaf;
    let outcome = match microstep(configuration, transition, content, observer) {
        Ok(()) => settle(configuration, 1, content, observer),
        Err(fault) => Err(fault),
    };
    if outcome.is_err() {
        configuration.leaf = before;
    }
    outcome
}

/// Takes eventless transitions, and where there are none the raised events in order, until nothing is left: the inner
/// loop of SCXML's `mainEventLoop`. A raised event that triggers nothing is dropped.
fn settle<H: Host, O: Observer>(
    configuration: &mut Configuration,
    taken: u32,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let table = content.table;
    let mut taken = taken;
    while !table.is_end(configuration.leaf) {
        if let Some(fault) = content.fault() {
            return Err(fault);
        }
        let mut enabled = select(table, configuration, EVENTLESS, content.host, observer);
        if enabled.is_none() {
            let Some(event) = content.next() else {
                return Ok(Outcome::Taken);
            };
            enabled = select(table, configuration, event, content.host, observer);
        }
        let Some(transition) = enabled else { continue };
        let limit = content.work.limit;
        if taken >= limit {
            return Err(StepError::StepLimit { limit });
        }
        taken += 1;
        microstep(configuration, transition, content, observer)?;
    }
    Ok(Outcome::Ended)
}

/// SCXML's `microstep`: `exitStates`, `executeTransitionContent`, `enterStates`.
fn microstep<H: Host, O: Observer>(
    configuration: &mut Configuration,
    transition: TransitionId,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<(), StepError> {
    observer.microstep();
    observer.transition(transition);
    let table = content.table;
    let Some(row) = table.transition(transition) else {
        return Ok(());
    };
    let domain = tree::domain(&table.sections, row);
    if let Some(domain) = domain {
        exit_states(configuration, domain, content, observer)?;
    }
    content.run(&row.calls, configuration, observer)?;
    let target = list(&table.sections.targets, &row.targets).first();
    if let Some((domain, &target)) = domain.zip(target) {
        enter_states(configuration, domain, target, content, observer)?;
    }
    debug_assert!(
        configuration.check(table).is_ok(),
        "a step leads to a legal configuration"
    );
    Ok(())
}

/// SCXML's `exitStates`: what is active below the domain is left, in reverse document order. A state's exit actions run
/// while it is still active.
fn exit_states<H: Host, O: Observer>(
    configuration: &mut Configuration,
    domain: StateId,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<(), StepError> {
    let table = content.table;
    let chain = table.chain(configuration.leaf);
    for state in chain.take_while(|&state| state != domain) {
        if let Some(row) = table.state(state) {
            content.run(&row.exit, configuration, observer)?;
            configuration.leaf = row.parent.unwrap_or(ROOT);
        }
        observer.exited(state);
    }
    Ok(())
}

/// SCXML's `enterStates`: in document order, each state's entry actions after it is entered, and the actions of its
/// initial transition after those. A final state that is entered completes the state around it.
fn enter_states<H: Host, O: Observer>(
    configuration: &mut Configuration,
    domain: StateId,
    target: StateId,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<(), StepError> {
    let table = content.table;
    let mut result = Ok(());
    tree::entries(&table.sections, domain, target, |part| {
        if result.is_ok() {
            result = enter(configuration, part, content, observer);
        }
    });
    result
}

fn enter<H: Host, O: Observer>(
    configuration: &mut Configuration,
    part: Entry,
    content: &mut Content<'_, H>,
    observer: &mut O,
) -> Result<(), StepError> {
    let table = content.table;
    match part {
        Entry::State(state) => {
            configuration.leaf = state;
            observer.entered(state);
            let Some(row) = table.state(state) else {
                return Ok(());
            };
            content.run(&row.entry, configuration, observer)?;
            if let Some(parent) = row.parent.filter(|_| row.kind == StateKind::Final) {
                content.done(parent, observer);
            }
            Ok(())
        }
        Entry::Initial(state) => match table.state(state) {
            Some(row) => content.run(&row.initial_calls, configuration, observer),
            None => Ok(()),
        },
    }
}
