//! Steps of machines with parallel states or history.
//! They follow SCXML's *Algorithm for SCXML Interpretation* (appendix D), whole.
//!
//! The one implementation for verified tables and for generated Rust: a [`Chart`] says what the machine is, a [`Content`]
//! what it does. [`macrostep`] is the algorithm's main event loop for one external event; [`select`], [`exit`] and
//! [`enter`] are its procedures.
//!
//! Where the recommendation leaves a choice, or says what can't be meant:
//!
//! - A guard is asked once in a selection, for the first leaf that it stands around.
//! - A history that is targeted counts as its place in the tree when the domain of a transition is found, not as the
//!   states that it has recorded: what is active inside its parent is left before it is entered again.
//! - A parallel state inside of a region that is done may complete the parallel state around it in turn.
//!
//! Machines with one leaf have steps of their own, in `flat.rs`.
//!
//! A step costs what it changes. A chart names the active states that react to an event, so that other regions aren't
//! looked at; sets of states are bit sets; and [`Scratch`] is reused, so that a step allocates nothing once the machine
//! has taken a few.
//!
//! INVARIANT: nothing here loops but over finite lists of the chart, at most `limit` microsteps a macrostep, and at most
//! [`MAX_RAISED`](crate::MAX_RAISED) events that those raise.

mod enter;
mod exit;
mod select;

use crate::chart::{Chart, EVENTLESS};
use crate::configuration::Configuration;
use crate::error::StepError;
use crate::host::Observer;
use crate::id::{EventId, ROOT, StateId, TransitionId};
use crate::record::Outcome;
use crate::scratch::{Scratch, Selection};

pub(crate) use self::select::select;

/// The executable content of a machine, in the steps of `macrostep`.
/// Each method observes its actions and what they raise.
///
/// A list of actions that fails where the machine can't be told gives an error, which fails the macrostep.
pub trait Content {
    /// Reports whether the transition's guard holds; true for one without.
    fn holds<O: Observer>(
        &mut self,
        transition: TransitionId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> bool;

    /// Carries out the state's exit actions.
    ///
    /// # Errors
    ///
    /// The step fails.
    fn exit<O: Observer>(
        &mut self,
        state: StateId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError>;

    /// Carries out the transition's own actions.
    ///
    /// # Errors
    ///
    /// The step fails.
    fn act<O: Observer>(
        &mut self,
        transition: TransitionId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError>;

    /// Carries out the state's entry actions.
    ///
    /// # Errors
    ///
    /// The step fails.
    fn enter<O: Observer>(
        &mut self,
        state: StateId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError>;

    /// Carries out the actions of the state's initial transition; of a history, of its default one.
    ///
    /// # Errors
    ///
    /// The step fails.
    fn begin<O: Observer>(
        &mut self,
        state: StateId,
        configuration: &Configuration,
        observer: &mut O,
    ) -> Result<(), StepError>;

    /// Completes the state: raises its event, if it has one.
    fn done<O: Observer>(&mut self, state: StateId, observer: &mut O);

    /// Takes the first of the raised events; where there is none the macrostep is over.
    fn next(&mut self) -> Option<EventId>;

    /// Returns the error, if too many events were raised in this macrostep.
    fn fault(&self) -> Option<StepError>;
}

/// Enters the initial configuration by default and comes to rest: SCXML's `interpret`.
/// `configuration` is the root alone.
pub(crate) fn start<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let mut scratch = configuration.take_scratch();
    content.begin(ROOT, configuration, observer)?;
    let entries = &mut scratch.entries;
    enter::initial_states(chart, configuration, entries, content, observer)?;
    let outcome = run_to_rest(
        chart,
        configuration,
        &mut scratch,
        (0, limit),
        content,
        observer,
    );
    configuration.return_scratch(scratch);
    outcome
}

/// Takes an external event: one macrostep.
/// On an error the configuration and what its histories have recorded are as they were.
pub(crate) fn send<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    event: EventId,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let mut scratch = configuration.take_scratch();
    let selection = &mut scratch.selection;
    select_with(chart, configuration, event, selection, content, observer);
    let outcome = if selection.enabled.is_empty() {
        Ok(Outcome::Ignored)
    } else {
        macrostep(chart, configuration, &mut scratch, limit, content, observer)
    };
    configuration.return_scratch(scratch);
    outcome
}

/// Takes the selected transitions and comes to rest.
/// On an error the configuration and what its histories have recorded are as they were.
pub(crate) fn macrostep<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    scratch: &mut Scratch,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    configuration.save(&mut scratch.undo);
    let outcome = microstep(chart, configuration, scratch, content, observer)
        .and_then(|()| run_to_rest(chart, configuration, scratch, (1, limit), content, observer));
    if outcome.is_err() {
        configuration.roll_back(&mut scratch.undo);
    }
    outcome
}

/// Takes a transition that nothing triggers and that nobody sees, and comes to rest.
/// On an error everything is as it was.
pub(crate) fn jump<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    transition: TransitionId,
    limit: u32,
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let mut scratch = configuration.take_scratch();
    configuration.save(&mut scratch.undo);
    observer.microstep();
    let (undo, entries) = (&mut scratch.undo, &mut scratch.entries);
    let outcome = exit::exit_states(chart, configuration, &[transition], undo, content, observer)
        .and_then(|()| {
            let enabled = &[transition];
            enter::enter_states(chart, configuration, enabled, entries, content, observer)
        })
        .and_then(|()| {
            run_to_rest(
                chart,
                configuration,
                &mut scratch,
                (1, limit),
                content,
                observer,
            )
        });
    if outcome.is_err() {
        configuration.roll_back(&mut scratch.undo);
    }
    configuration.return_scratch(scratch);
    outcome
}

/// Takes eventless transitions, else raised events in order, until nothing is left.
/// This is the inner loop of SCXML's `mainEventLoop`. A raised event that triggers nothing is dropped.
///
/// `taken` microsteps of at most `limit` are behind it.
fn run_to_rest<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    scratch: &mut Scratch,
    (taken, limit): (u32, u32),
    content: &mut K,
    observer: &mut O,
) -> Result<Outcome, StepError> {
    let mut taken = taken;
    while !configuration.is_ended_in(chart) {
        if let Some(fault) = content.fault() {
            return Err(fault);
        }
        let selection = &mut scratch.selection;
        selection.enabled.clear();
        if chart.has_eventless() {
            select_with(
                chart,
                configuration,
                EVENTLESS,
                selection,
                content,
                observer,
            );
        }
        if selection.enabled.is_empty() {
            let Some(event) = content.next() else {
                return Ok(Outcome::Taken);
            };
            select_with(chart, configuration, event, selection, content, observer);
        }
        if selection.enabled.is_empty() {
            continue;
        }
        if taken >= limit {
            return Err(StepError::StepLimit { limit });
        }
        taken += 1;
        microstep(chart, configuration, scratch, content, observer)?;
    }
    Ok(Outcome::Ended)
}

/// Selects the transitions that the event, or [`EVENTLESS`], takes. The content says which guards hold.
pub(crate) fn select_with<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &Configuration,
    event: EventId,
    selection: &mut Selection,
    content: &mut K,
    observer: &mut O,
) {
    select(chart, configuration, event, selection, |transition| {
        content.holds(transition, configuration, observer)
    });
}

/// Takes the transitions: SCXML's `microstep`, with `exitStates` and `enterStates`.
fn microstep<C: Chart, K: Content, O: Observer>(
    chart: &C,
    configuration: &mut Configuration,
    scratch: &mut Scratch,
    content: &mut K,
    observer: &mut O,
) -> Result<(), StepError> {
    let Scratch {
        selection,
        entries,
        undo,
    } = scratch;
    let enabled = &selection.enabled;
    observer.microstep();
    for &transition in enabled {
        observer.transition(transition);
    }
    exit::exit_states(chart, configuration, enabled, undo, content, observer)?;
    for &transition in enabled {
        content.act(transition, configuration, observer)?;
    }
    enter::enter_states(chart, configuration, enabled, entries, content, observer)?;
    debug_assert!(
        configuration.check_chart(chart).is_ok(),
        "a step leads to a legal configuration"
    );
    Ok(())
}
