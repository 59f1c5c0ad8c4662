//! Whether a machine can come to stand still where it hasn't ended.

use std::collections::{BTreeMap, BTreeSet};

use super::explore::{Stimulus, stimuli};
use super::guards::{MOST_COMPARED, cover};
use super::{Case, Found, Proof};
use crate::arena::Handle;
use crate::ir::{Event, Guard, State};

/// `never-stuck`.
pub(super) fn never_stuck(case: &Case<'_>) -> Option<Proof> {
    let explored = &case.explored;
    let mut nodes = explored.nodes.iter();
    let dead = nodes.position(|node| !node.has_ended && !node.moves);
    let nodes = explored.nodes.iter().enumerate();
    let unsure: Vec<usize> = nodes
        .filter(|(_, node)| !node.has_ended && node.moves && !node.surely_moves)
        .map(|(at, _)| at)
        .filter(|&at| !is_covered(case, at))
        .collect();
    // A node that wasn't gone through yet doesn't move yet.
    let found = match (dead.filter(|_| explored.is_whole), unsure.first()) {
        (Some(node), _) => {
            let place = case.place(node);
            if case.has_interrupts() {
                Found::unknown(format!("only interrupts lead on from {place}"))
            } else {
                Found::fails(format!("no event leads on from {place}"))
            }
            .shown_by(case.witness(node))
        }
        (None, Some(&node)) => Found::unknown(guarded(case, &unsure)).shown_by(case.witness(node)),
        (None, None)
            if explored.is_whole && !explored.nodes.is_empty() && !case.has_interrupts() =>
        {
            Found::holds()
        }
        (None, None) => case.unfollowed(),
    };
    Some(found.claim(
        "never-stuck",
        "wherever it waits, some event is taken whatever its guards say",
        case.possibly(),
    ))
}

/// Where only guards let the machine go on.
fn guarded(case: &Case<'_>, nodes: &[usize]) -> String {
    let mut alone: Vec<Handle<State>> = Vec::new();
    for &node in nodes {
        match case.explored.leaves(node).as_slice() {
            &[leaf] => alone.push(leaf),
            leaves => {
                let leaves = case.list(leaves);
                return format!("where {leaves} are active, every way on has a guard");
            }
        }
    }
    alone.sort_unstable();
    alone.dedup();
    let states = case.list(&alone);
    format!("every way on from {states} has a guard")
}

/// Whether of the guards on some event one always holds.
fn is_covered(case: &Case<'_>, node: usize) -> bool {
    let machine = case.machine;
    let Some(found) = case.explored.nodes.get(node) else {
        return false;
    };
    let mut guards: BTreeMap<Handle<Event>, Vec<&Guard>> = BTreeMap::new();
    let events: BTreeSet<Handle<Event>> = stimuli(machine, found)
        .0
        .into_iter()
        .map(|stimulus| match stimulus {
            Stimulus::Send(event) => Handle::at(event.index()),
            Stimulus::Elapse(timer) => machine.timers.at(Handle::at(timer.index())).event,
        })
        .collect();
    let around: BTreeSet<Handle<State>> = case
        .explored
        .leaves(node)
        .into_iter()
        .flat_map(|leaf| machine.ancestry(leaf))
        .collect();
    for (_, transition) in around.iter().flat_map(|&it| machine.transitions_of(it)) {
        for event in transition.triggers.iter().filter(|it| events.contains(it)) {
            let guard = transition.guard.iter().map(|guard| &guard.value);
            guards.entry(*event).or_default().extend(guard);
        }
    }
    guards.values().any(|guards| {
        let guards = guards.iter().take(MOST_COMPARED);
        let mut pairs = guards.clone().enumerate().flat_map(|(at, one)| {
            let others = guards.clone().skip(at + 1);
            others.map(move |other| (one, other))
        });
        pairs.any(|(one, other)| cover(machine, one, other))
    })
}
