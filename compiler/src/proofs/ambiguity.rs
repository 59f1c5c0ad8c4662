//! The property `unambiguous`: order never decides between transitions whose author gave them none.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Evidence, Finding, join, state_name};
use super::guards::{MOST_COMPARED, excludes};
use super::{Proof, Witness};
use crate::arena::Handle;
use crate::ir::{Event, Machine, State, StateKind, Transition};
use crate::pass::trigger::{describe_trigger, differ, is_drawn};

/// The event that a transition waits for; `None` for an eventless one.
type Trigger = Option<Handle<Event>>;

/// Decides `unambiguous`.
pub(super) fn unambiguous(evidence: &Evidence<'_>) -> Option<Proof> {
    let machine = evidence.machine;
    let mut is_limited = false;
    let mut in_states: Vec<(Handle<State>, Trigger)> = Vec::new();
    for state in machine.states.handles() {
        let triggers = competing_triggers(machine, state, &mut is_limited);
        in_states.extend(triggers.into_iter().map(|trigger| (state, trigger)));
    }
    let in_regions = competing_regions(machine);
    let finding = if in_states.is_empty() && in_regions.is_empty() {
        if is_limited {
            Finding::unknown(format!(
                "a state has more than {MOST_COMPARED} transitions on one event, which is too many to compare"
            ))
        } else {
            Finding::holds()
        }
    } else {
        let states = in_states.iter().map(|&(state, trigger)| {
            let trigger = describe(machine, state, trigger);
            format!("{} {trigger}", state_name(machine, state))
        });
        let regions = in_regions.iter().map(|&(state, trigger)| {
            let trigger = describe(machine, state, trigger);
            format!("regions of {} {trigger}", state_name(machine, state))
        });
        let places: Vec<String> = states.chain(regions).collect();
        let places = join(places.into_iter());
        let witness = Witness {
            states: evidence.ids(in_states.iter().map(|(state, _)| *state)),
            ..Witness::default()
        };
        Finding::unknown(format!("order decides where several guards hold: {places}"))
            .with_witness(witness)
    };
    // If there is a diagram, it owns all transitions.
    let assumes = match machine.parts.diagram {
        Some(_) => Vec::new(),
        None => vec!["a definition's branches are tried in order"],
    };
    Some(finding.into_proof(
        "unambiguous",
        "no two transitions compete for one event",
        assumes,
    ))
}

fn describe(machine: &Machine, state: Handle<State>, trigger: Trigger) -> String {
    match trigger {
        Some(event) => describe_trigger(machine, state, event),
        None => "without an event".to_owned(),
    }
}

/// Returns the triggers of a state on which several drawn transitions compete.
///
/// They can be enabled at the same time and do different things.
fn competing_triggers(
    machine: &Machine,
    state: Handle<State>,
    is_limited: &mut bool,
) -> BTreeSet<Trigger> {
    let mut waiting: BTreeMap<Trigger, Vec<&Transition>> = BTreeMap::new();
    let drawn = machine
        .transitions_of(state)
        .map(|(_, transition)| transition)
        .filter(|transition| is_drawn(machine, transition));
    for transition in drawn {
        for trigger in triggers(transition) {
            waiting.entry(trigger).or_default().push(transition);
        }
    }
    let compete = |earlier: &Transition, later: &Transition| match (&earlier.guard, &later.guard) {
        (Some(one), Some(two)) => !excludes(&one.value, &two.value) && differ(earlier, later),
        // A last transition without a guard is the default.
        (Some(_), None) => false,
        (None, _) => differ(earlier, later),
    };
    waiting.retain(|_, transitions| {
        *is_limited |= transitions.len() > MOST_COMPARED;
        let transitions = transitions.iter().take(MOST_COMPARED);
        let mut numbered = transitions.clone().enumerate();
        numbered.any(|(index, earlier)| {
            let mut others = transitions.clone().skip(index + 1);
            others.any(|later| compete(earlier, later))
        })
    });
    waiting.into_keys().collect()
}

/// Returns the parallel states in which regions compete for an event.
///
/// Several of them wait for it, and one exits the others by it.
fn competing_regions(machine: &Machine) -> Vec<(Handle<State>, Trigger)> {
    /// The transitions inside a parallel state that wait for one event.
    struct Waiting {
        /// The region of the first of them.
        region: Handle<State>,
        is_shared: bool,
        exits: bool,
    }
    let mut waiting: BTreeMap<(Handle<State>, Trigger), Waiting> = BTreeMap::new();
    for (_, transition) in machine.transitions.iter() {
        let mut region = transition.source;
        for ancestor in machine.ancestry(transition.source).skip(1) {
            if machine.states.at(ancestor).kind == StateKind::Parallel {
                let mut targets = transition.targets.iter();
                let exits = targets.any(|&target| !machine.is_within(target, region));
                for trigger in triggers(transition) {
                    let known = waiting.entry((ancestor, trigger)).or_insert(Waiting {
                        region,
                        is_shared: false,
                        exits: false,
                    });
                    known.is_shared |= known.region != region;
                    known.exits |= exits;
                }
            }
            region = ancestor;
        }
    }
    let waiting = waiting.into_iter();
    waiting
        .filter(|(_, waiting)| waiting.is_shared && waiting.exits)
        .map(|(place, _)| place)
        .collect()
}

fn triggers(transition: &Transition) -> Vec<Trigger> {
    match transition.triggers.as_slice() {
        [] => vec![None],
        events => events.iter().copied().map(Some).collect(),
    }
}
