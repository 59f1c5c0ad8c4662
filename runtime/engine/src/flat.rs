//! Steps of machines with one leaf.
//! They follow SCXML's *Algorithm for SCXML Interpretation* (appendix D) without parallel states and history.
//!
//! With one leaf the exit set is the leaf's chain below the transition's domain, and the entry set is the path from the
//! domain to the target and on by default, so that a step needs no memory of its own. All other machines step in
//! [`regions`](crate::regions). Verified tables and the rows of generated Rust share both, and the tests hold the two
//! algorithms to the same records.
//!
//! INVARIANT: nothing here loops but over finite lists of the chart, at most `limit` microsteps a macrostep, and at most
//! [`MAX_RAISED`](crate::MAX_RAISED) events that those raise.

use crate::chart::{self, Chart, EVENTLESS};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{EventId, ROOT, StateId, TransitionId};
use crate::limits::MAX_DEPTH;
use crate::record::Outcome;
use crate::regions::Content;
use crate::table::sections::StateKind;
use crate::table::tree::{self, Entry};

/// Enters the initial configuration by default and comes to rest: SCXML's `interpret`.
/// `configuration` is the root alone.
pub(crate) fn start<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    content.begin(ROOT, configuration, observer)?;
    let initial = chart.node(ROOT).and_then(|root| root.initial.first());
    if let Some(&target) = initial {
        enter_states(chart, configuration, ROOT, target, content, observer)?;
    }
    run_to_rest(chart, configuration, 0, limit, content, observer)
}

/// Takes the transition and comes to rest. On an error the configuration is as it was.
pub(crate) fn macrostep<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    transition: TransitionId,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let before = configuration.leaf;
    let outcome = match microstep(chart, configuration, transition, content, observer) {
        Ok(()) => run_to_rest(chart, configuration, 1, limit, content, observer),
        Err(fault) => Err(fault),
    };
    if outcome.is_err() {
        configuration.leaf = before;
    }
    outcome
}

/// Enters the target from within the domain, by no transition, and comes to rest.
/// On an error the configuration is as it was.
pub(crate) fn jump<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    (domain, target): (StateId, StateId),
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let before = configuration.leaf;
    observer.microstep();
    let outcome = exit_states(chart, configuration, domain, content, observer)
        .and_then(|()| enter_states(chart, configuration, domain, target, content, observer))
        .and_then(|()| run_to_rest(chart, configuration, 1, limit, content, observer));
    if outcome.is_err() {
        configuration.leaf = before;
    }
    outcome
}

/// Takes eventless transitions, else raised events in order, until nothing is left.
/// This is the inner loop of SCXML's `mainEventLoop`. A raised event that triggers nothing is dropped.
fn run_to_rest<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    taken: u32,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let mut taken = taken;
    while !chart::is_end(chart, configuration.leaf) {
        if let Some(fault) = content.fault() {
            return Err(fault);
        }
        let mut enabled = None;
        if chart.has_eventless() {
            enabled = triggered(chart, configuration, EVENTLESS, content, observer);
        }
        if enabled.is_none() {
            let Some(event) = content.next() else {
                return Ok(Outcome::Taken);
            };
            enabled = triggered(chart, configuration, event, content, observer);
        }
        let Some(transition) = enabled else { continue };
        if taken >= limit {
            return Err(StepError::StepLimit { limit });
        }
        taken += 1;
        microstep(chart, configuration, transition, content, observer)?;
    }
    Ok(Outcome::Ended)
}

/// Returns the transition that the event, or [`EVENTLESS`], takes in the leaf.
/// This is SCXML's `selectTransitions` and `selectEventlessTransitions`.
///
/// The leaf is asked first, then its ancestors; within a state document order counts; the first transition whose guard
/// holds is taken, and no guard after it is asked.
#[inline]
pub(crate) fn select<C: Chart>(
    chart: &C,
    leaf: StateId,
    event: EventId,
    mut holds: impl FnMut(TransitionId) -> bool,
) -> Option<TransitionId> {
    let mut next = Some(leaf);
    // INVARIANT: no machine is nested deeper.
    for _ in 0..=MAX_DEPTH {
        let state = next?;
        let enabled = first_enabled(chart, state, event, &mut holds);
        if enabled.is_some() {
            return enabled;
        }
        next = chart::parent(chart, state);
    }
    None
}

/// Returns the state's own first transition that the event triggers and whose guard holds.
#[inline]
pub(crate) fn first_enabled<C: Chart>(
    chart: &C,
    state: StateId,
    event: EventId,
    mut holds: impl FnMut(TransitionId) -> bool,
) -> Option<TransitionId> {
    let mut triggered = chart.triggered(state, event);
    triggered.find(|&transition| holds(transition))
}

/// Returns the transition that the event, or [`EVENTLESS`], takes in the configuration.
#[inline]
pub(crate) fn triggered<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &Configuration,
    event: EventId,
    content: &mut K,
    observer: &mut O,
) -> Option<TransitionId> {
    select(chart, configuration.leaf, event, |transition| {
        content.holds(transition, configuration, observer)
    })
}

/// Takes one transition: SCXML's `microstep`, with `exitStates` and `enterStates`.
fn microstep<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    transition: TransitionId,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    observer.microstep();
    observer.transition(transition);
    let Some(arrow) = chart.arrow(transition) else {
        return Ok(());
    };
    if let Some(domain) = arrow.domain {
        exit_states(chart, configuration, domain, content, observer)?;
    }
    content.act(transition, configuration, observer)?;
    if let Some((domain, &target)) = arrow.domain.zip(arrow.targets.first()) {
        enter_states(chart, configuration, domain, target, content, observer)?;
    }
    debug_assert!(
        configuration.check_chart(chart).is_ok(),
        "a step leads to a legal configuration"
    );
    Ok(())
}

/// Exits what is active below the domain, in reverse document order: SCXML's `exitStates`.
/// A state's exit actions run while it is still active.
fn exit_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    domain: StateId,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    // INVARIANT: the domain is on the leaf's chain, which is no longer than that.
    for _ in 0..=MAX_DEPTH {
        let state = configuration.leaf;
        if state == domain {
            break;
        }
        content.exit(state, configuration, observer)?;
        configuration.leaf = chart::parent(chart, state).unwrap_or(domain);
        observer.exited(state);
    }
    Ok(())
}

/// Enters states in document order: SCXML's `enterStates`.
/// Each state's entry actions run after it is entered, and the actions of its initial transition after those. A final
/// state that is entered completes its parent.
fn enter_states<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    domain: StateId,
    target: StateId,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let mut result = Ok(());
    tree::entries(chart, domain, target, |part| {
        if result.is_ok() {
            result = enter(chart, configuration, part, content, observer);
        }
    });
    result
}

fn enter<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    part: Entry,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    match part {
        Entry::State(state) => {
            configuration.leaf = state;
            observer.entered(state);
            content.enter(state, configuration, observer)?;
            let node = chart
                .node(state)
                .filter(|node| node.kind == StateKind::Final);
            if let Some(parent) = node.and_then(|node| node.parent) {
                content.done(parent, observer);
            }
            Ok(())
        }
        Entry::Initial(state) => content.begin(state, configuration, observer),
    }
}
