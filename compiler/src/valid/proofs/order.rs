//! Whether only their order decides between transitions, where order means nothing to whoever drew them.

use std::collections::{BTreeMap, BTreeSet};

use super::guards::{MOST_COMPARED, opposite};
use super::{Case, Found, Proof, Witness, name, several};
use crate::arena::Handle;
use crate::ir::{Event, Machine, State, StateKind, Transition};
use crate::valid::conflicting_transitions::{differ, is_drawn, when};

/// What a transition waits for; `None` for one that waits for nothing.
type Trigger = Option<Handle<Event>>;

/// `unambiguous`.
pub(super) fn unambiguous(case: &Case<'_>) -> Option<Proof> {
    let machine = case.machine;
    let mut is_limited = false;
    let mut undecided: Vec<(Handle<State>, Trigger)> = Vec::new();
    for state in machine.states.handles() {
        let found = within(machine, state, &mut is_limited);
        undecided.extend(found.into_iter().map(|trigger| (state, trigger)));
    }
    let across = across(machine);
    let found = if undecided.is_empty() && across.is_empty() {
        if is_limited {
            Found::unknown(format!(
                "a state has more than {MOST_COMPARED} transitions on one event, which aren't compared"
            ))
        } else {
            Found::holds()
        }
    } else {
        let within = undecided.iter().map(|&(state, trigger)| {
            format!("{} {}", name(machine, state), on(machine, state, trigger))
        });
        let across = across.iter().map(|&(state, trigger)| {
            let on = on(machine, state, trigger);
            format!("regions of {} {on}", name(machine, state))
        });
        let places: Vec<String> = within.chain(across).collect();
        let witness = Witness {
            states: case.ids(undecided.iter().map(|(state, _)| *state)),
            ..Witness::default()
        };
        let why = several(places.into_iter());
        Found::unknown(format!(
            "their order decides where guards hold together: {why}"
        ))
        .shown_by(witness)
    };
    // A diagram owns all transitions, if there is one.
    let assumes = match machine.parts.diagram {
        Some(_) => Vec::new(),
        None => vec!["the branches of a definition are tried in their order"],
    };
    Some(found.claim(
        "unambiguous",
        "no two transitions compete for one event",
        assumes,
    ))
}

fn on(machine: &Machine, state: Handle<State>, trigger: Trigger) -> String {
    match trigger {
        Some(event) => when(machine, state, event),
        None => "without an event".to_owned(),
    }
}

/// What several drawn transitions of a state wait for that can be taken at once and do different things.
fn within(machine: &Machine, state: Handle<State>, is_limited: &mut bool) -> BTreeSet<Trigger> {
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
        (Some(one), Some(two)) => !opposite(&one.value, &two.value) && differ(earlier, later),
        // The last one without a guard is what happens otherwise.
        (Some(_), None) => false,
        (None, _) => differ(earlier, later),
    };
    waiting.retain(|_, all| {
        *is_limited |= all.len() > MOST_COMPARED;
        let all = all.iter().take(MOST_COMPARED);
        let mut firsts = all.clone().enumerate();
        firsts.any(|(at, earlier)| {
            all.clone()
                .skip(at + 1)
                .any(|later| compete(earlier, later))
        })
    });
    waiting.into_keys().collect()
}

/// The parallel states of which several regions wait for the same, and one of them would leave the others by it.
fn across(machine: &Machine) -> Vec<(Handle<State>, Trigger)> {
    /// What waits in a parallel state for one event: the region of the first, whether there is another, whether one leaves.
    struct Waiting {
        region: Handle<State>,
        is_shared: bool,
        leaves: bool,
    }
    let mut waiting: BTreeMap<(Handle<State>, Trigger), Waiting> = BTreeMap::new();
    for (_, transition) in machine.transitions.iter() {
        let mut region = transition.source;
        for around in machine.ancestry(transition.source).skip(1) {
            if machine.states.at(around).kind == StateKind::Parallel {
                let mut targets = transition.targets.iter();
                let leaves = targets.any(|&target| !machine.is_within(target, region));
                for trigger in triggers(transition) {
                    let known = waiting.entry((around, trigger)).or_insert(Waiting {
                        region,
                        is_shared: false,
                        leaves: false,
                    });
                    known.is_shared |= known.region != region;
                    known.leaves |= leaves;
                }
            }
            region = around;
        }
    }
    let undecided = waiting.into_iter();
    undecided
        .filter(|(_, found)| found.is_shared && found.leaves)
        .map(|(place, _)| place)
        .collect()
}

fn triggers(transition: &Transition) -> Vec<Trigger> {
    match transition.triggers.as_slice() {
        [] => vec![None],
        events => events.iter().copied().map(Some).collect(),
    }
}
