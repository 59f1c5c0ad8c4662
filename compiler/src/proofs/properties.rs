//! Properties read off the state space: reachability, ends, getting stuck, rest and regions.
//!
//! Where the state space is incomplete, graph and abstract reachability still refute what they can.

use std::collections::{BTreeMap, BTreeSet};

use super::apart::{self, Region};
use super::concrete::{StateSpace, Stimulus, stimuli};
use super::evidence::{Evidence, Finding, join, state_name};
use super::guards::{MOST_COMPARED, covers};
use super::{Proof, Witness};
use crate::arena::Handle;
use crate::ir::{Action, Event, EventKind, Expression, Machine, State, StateKind, Transition};
use crate::pass::trigger::describe_trigger;

/// Decides `states-reachable`.
pub(super) fn states_reachable(evidence: &Evidence<'_>) -> Option<Proof> {
    let named = evidence.machine.named_states();
    let missing: Vec<Handle<State>> = named
        .filter(|(handle, state)| !state.kind.is_history() && !evidence.space.is_entered(*handle))
        .map(|(handle, _)| handle)
        .collect();
    let is_exhaustive = evidence.is_exhaustive();
    let is_refuted = |state: &Handle<State>| {
        !evidence.reach.is_active(*state)
            || (is_exhaustive && !evidence.space.is_entered_in_endless_step(*state))
    };
    let refuted: Vec<_> = missing.iter().copied().filter(is_refuted).collect();
    let finding = if missing.is_empty() {
        Finding::holds()
    } else if !refuted.is_empty() {
        let why = format!("nothing leads to {}", evidence.describe_states(&refuted));
        Finding::fails(why).with_witness(Witness {
            states: evidence.ids(refuted),
            ..Witness::default()
        })
    } else {
        undecided(evidence, &evidence.describe_states(&missing))
    };
    Some(finding.into_proof(
        "states-reachable",
        "every state can be reached",
        evidence.assumptions(),
    ))
}

/// Decides `transitions-taken`.
pub(super) fn transitions_taken(evidence: &Evidence<'_>) -> Option<Proof> {
    let transitions = evidence.machine.transitions.handles();
    let missing: Vec<Handle<Transition>> = transitions
        .filter(|&transition| !evidence.space.is_taken(transition))
        .collect();
    let is_exhaustive = evidence.is_exhaustive();
    let is_refuted = |transition: &Handle<Transition>| {
        !evidence.reach.is_live(*transition)
            || (is_exhaustive && !evidence.space.is_taken_in_endless_step(*transition))
    };
    let refuted: Vec<_> = missing.iter().copied().filter(is_refuted).collect();
    let describe = |transitions: &[Handle<Transition>]| {
        let transitions = transitions.iter();
        join(transitions.map(|&transition| describe_transition(evidence.machine, transition)))
    };
    let finding = if missing.is_empty() {
        Finding::holds()
    } else if !refuted.is_empty() {
        let sources = refuted
            .iter()
            .map(|&transition| evidence.machine.transitions.at(transition).source)
            .filter(|&source| source != evidence.machine.root());
        let mut states = evidence.ids(sources);
        states.dedup();
        let list = describe(&refuted);
        let are = if refuted.len() == 1 { "is" } else { "are" };
        Finding::fails(format!("{list} {are} never taken")).with_witness(Witness {
            states,
            ..Witness::default()
        })
    } else {
        undecided(evidence, &describe(&missing))
    };
    Some(finding.into_proof(
        "transitions-taken",
        "every transition can be taken",
        evidence.assumptions(),
    ))
}

/// Returns the finding for things that the search didn't meet and that nothing refutes.
fn undecided(evidence: &Evidence<'_>, list: &str) -> Finding {
    if evidence.is_exhaustive() {
        Finding::unknown(format!("only in steps that never come to rest: {list}"))
    } else if evidence.space.has_met_everything() {
        Finding::unknown(format!(
            "only after interrupts, which aren't explored: {list}"
        ))
    } else {
        evidence.too_large()
    }
}

/// Describes a transition: `` `a` on `go` ``.
fn describe_transition(machine: &Machine, handle: Handle<Transition>) -> String {
    let transition = machine.transitions.at(handle);
    let source = match transition.source == machine.root() {
        true => "every state".to_owned(),
        false => state_name(machine, transition.source),
    };
    match transition.triggers.first() {
        Some(&event) => {
            let trigger = describe_trigger(machine, transition.source, event);
            format!("{source} {trigger}")
        }
        None => format!("{source} without an event"),
    }
}

/// Decides `can-end`; the witness is a shortest run.
pub(super) fn can_end(evidence: &Evidence<'_>) -> Option<Proof> {
    let ends: Vec<_> = machine_ends(evidence.machine).collect();
    let mut nodes = evidence.space.nodes.iter();
    let finding = if let Some(node) = nodes.position(|node| node.has_ended) {
        Finding::holds().with_witness(evidence.witness(node))
    } else if ends.is_empty() {
        Finding::fails("the machine has no final state at its top level")
    } else if evidence.is_exhaustive() || !can_reach_end(evidence) {
        let why = format!("no path leads to {}", evidence.describe_states(&ends));
        Finding::fails(why).with_witness(Witness {
            states: evidence.ids(ends),
            ..Witness::default()
        })
    } else {
        evidence.not_exhaustive()
    };
    Some(finding.into_proof("can-end", "the machine can end", evidence.assumptions()))
}

/// Decides `can-always-end`. Says nothing of a machine without an end, which `can-end` has denied.
pub(super) fn can_always_end(evidence: &Evidence<'_>) -> Option<Proof> {
    machine_ends(evidence.machine).next()?;
    let space = &evidence.space;
    let ending = space.can_end();
    let stuck = if space.is_complete {
        ending.iter().position(|can_end| !can_end)
    } else {
        // What reachability over the graph refutes stays refuted, however much is left to explore.
        let without: BTreeSet<Handle<State>> = evidence
            .reach
            .without_end(evidence.machine)
            .into_iter()
            .collect();
        let mut nodes = 0..space.nodes.len();
        nodes.find(|&node| {
            let leaves = space.leaves(node);
            leaves.iter().any(|leaf| without.contains(leaf))
        })
    };
    let may_come_back = evidence.has_interrupts() && can_reach_end(evidence);
    let finding = match stuck {
        Some(_) if may_come_back => evidence.not_exhaustive(),
        Some(node) => {
            let lost = match space.is_complete {
                true => lost_leaves(evidence, &ending),
                false => Vec::new(),
            };
            let from = match lost.as_slice() {
                [] => evidence.describe_node(node),
                lost => evidence.describe_states(lost),
            };
            Finding::fails(format!("no end can be reached from {from}"))
                .with_witness(evidence.witness(node))
        }
        None if evidence.has_interrupts() => evidence.not_exhaustive(),
        None if space.is_complete && !space.nodes.is_empty() => Finding::holds(),
        None if apart::can_always_end(evidence.machine, space) => Finding::holds(),
        None => evidence.too_large(),
    };
    Some(finding.into_proof(
        "can-always-end",
        "wherever it is, the machine can still end",
        evidence.assumptions(),
    ))
}

/// Reports whether anything, interrupts included, may lead to an end.
fn can_reach_end(evidence: &Evidence<'_>) -> bool {
    machine_ends(evidence.machine).any(|end| evidence.reach.is_active(end))
}

/// Returns the final states that end the machine.
fn machine_ends(machine: &Machine) -> impl Iterator<Item = Handle<State>> {
    machine.states.handles().filter(|&state| {
        let state = machine.states.at(state);
        state.kind == StateKind::Final && state.parent == Some(machine.root())
    })
}

/// Returns the leaves that are active only where no end can be reached any more.
fn lost_leaves(evidence: &Evidence<'_>, ending: &[bool]) -> Vec<Handle<State>> {
    let mut safe = BTreeSet::new();
    let mut lost = BTreeSet::new();
    for (node, can_end) in ending.iter().enumerate() {
        let leaves = evidence.space.leaves(node);
        if *can_end {
            safe.extend(leaves);
        } else {
            lost.extend(leaves);
        }
    }
    lost.difference(&safe).copied().collect()
}

/// Decides `never-stuck`.
pub(super) fn never_stuck(evidence: &Evidence<'_>) -> Option<Proof> {
    let space = &evidence.space;
    let mut nodes = space.nodes.iter();
    let dead = nodes.position(|node| !node.has_ended && !node.can_move);
    let nodes = space.nodes.iter().enumerate();
    let guarded: Vec<usize> = nodes
        .filter(|(_, node)| !node.has_ended && node.can_move && !node.always_moves())
        .map(|(index, _)| index)
        .filter(|&index| !is_covered(evidence.machine, space, index, |_| true))
        .collect();
    let sure = |node, region| is_sure(evidence.machine, space, node, region);
    // A node that wasn't explored yet doesn't move yet, and one of regions explored apart moves by the others, too.
    let finding = match (dead.filter(|_| space.is_complete), guarded.first()) {
        _ if space.apart.is_some() => {
            if evidence.has_interrupts() {
                evidence.not_exhaustive()
            } else if apart::always_moves(evidence.machine, space, sure) {
                Finding::holds()
            } else {
                evidence.too_large()
            }
        }
        (Some(node), _) => {
            let place = evidence.describe_node(node);
            if evidence.has_interrupts() {
                Finding::unknown(format!("only interrupts lead on from {place}"))
            } else {
                Finding::fails(format!("no event can be taken in {place}"))
            }
            .with_witness(evidence.witness(node))
        }
        (None, Some(&node)) => Finding::unknown(describe_guarded(evidence, &guarded))
            .with_witness(evidence.witness(node)),
        (None, None) if evidence.is_exhaustive() && !space.nodes.is_empty() => Finding::holds(),
        (None, None) => evidence.not_exhaustive(),
    };
    Some(finding.into_proof(
        "never-stuck",
        "wherever it waits, some event is taken even if every guard is false",
        evidence.assumptions(),
    ))
}

/// Describes the nodes in which only guarded transitions can be taken.
fn describe_guarded(evidence: &Evidence<'_>, nodes: &[usize]) -> String {
    let mut alone: Vec<Handle<State>> = Vec::new();
    for &node in nodes {
        match evidence.space.leaves(node).as_slice() {
            &[leaf] => alone.push(leaf),
            leaves => {
                let leaves = evidence.describe_states(leaves);
                return format!("every transition has a guard while {leaves} are active");
            }
        }
    }
    alone.sort_unstable();
    alone.dedup();
    let states = evidence.describe_states(&alone);
    format!("every transition has a guard in {states}")
}

/// Reports whether some event is taken in a node whatever the guards say.
///
/// Events of other regions than the given one don't count.
pub(super) fn is_sure(
    machine: &Machine,
    space: &StateSpace,
    node: usize,
    region: Option<Region>,
) -> bool {
    let found = space.nodes.get(node);
    let concerned = |stimulus| match (&space.apart, found) {
        (Some(regions), Some(node)) => {
            let parallel = regions.active(machine, &node.configuration);
            let concerned = parallel.and_then(|it| regions.concerned(it, stimulus));
            concerned.is_none() || concerned == region
        }
        _ => true,
    };
    found.is_some_and(|node| node.always_moves_by(region))
        || is_covered(machine, space, node, concerned)
}

/// Reports whether two guards on one event cover each other, so that one of them always holds.
fn is_covered(
    machine: &Machine,
    space: &StateSpace,
    node: usize,
    concerned: impl Fn(Stimulus) -> bool,
) -> bool {
    let leaves = space.leaves(node);
    let Some(node) = space.nodes.get(node) else {
        return false;
    };
    let stimuli = stimuli(machine, node).0.into_iter();
    let stimuli = stimuli.filter(|&stimulus| concerned(stimulus));
    let events: BTreeSet<Handle<Event>> = stimuli.map(|stimulus| stimulus.event(machine)).collect();
    let active: BTreeSet<Handle<State>> = leaves
        .into_iter()
        .flat_map(|leaf| machine.ancestry(leaf))
        .collect();
    let mut guards: BTreeMap<Handle<Event>, Vec<&Expression>> = BTreeMap::new();
    let transitions = active
        .iter()
        .flat_map(|&state| machine.transitions_of(state));
    for (_, transition) in transitions {
        let triggers = transition.triggers.iter();
        for event in triggers.filter(|event| events.contains(event)) {
            let guard = transition.guard.iter().map(|guard| &guard.value);
            guards.entry(*event).or_default().extend(guard);
        }
    }
    guards.values().any(|guards| {
        let guards = guards.iter().take(MOST_COMPARED);
        let mut pairs = guards.clone().enumerate().flat_map(|(index, one)| {
            let others = guards.clone().skip(index + 1);
            others.map(move |other| (one, other))
        });
        pairs.any(|(one, other)| covers(machine, one, other))
    })
}

/// Decides `comes-to-rest`.
pub(super) fn comes_to_rest(evidence: &Evidence<'_>) -> Option<Proof> {
    let finding = if !moves_by_itself(evidence.machine) {
        Finding::holds()
    } else if let Some(endless_step) = evidence.space.endless_step {
        let (mut witness, after) = match endless_step.from {
            Some((node, stimulus)) => {
                let mut witness = evidence.witness(node);
                let event = evidence.event_id(stimulus);
                let after = format!("after `{event}`");
                witness.events.push(event);
                (witness, after)
            }
            None => (Witness::default(), "from its start".to_owned()),
        };
        // The events don't lead to the states in which the last step began.
        witness.states.clear();
        let finding = if endless_step.is_forced {
            Finding::fails(format!("{after} it loops forever"))
        } else {
            Finding::unknown(format!("{after} it loops for as long as guards allow"))
        };
        finding.with_witness(witness)
    } else if evidence.is_exhaustive() {
        Finding::holds()
    } else {
        evidence.not_exhaustive()
    };
    Some(finding.into_proof(
        "comes-to-rest",
        "after every event it comes to rest",
        evidence.assumptions(),
    ))
}

/// Reports whether anything in a machine may happen beyond the one transition that an event takes.
fn moves_by_itself(machine: &Machine) -> bool {
    let raises = |(_, action): (_, &Action)| action.kind.raised().is_some();
    let mut transitions = machine.transitions.iter();
    let mut events = machine.events.iter();
    transitions.any(|(_, transition)| transition.triggers.is_empty())
        || machine.actions.iter().any(raises)
        || events
            .any(|(_, event)| matches!(event.kind, EventKind::Completion(_) | EventKind::Fault))
}

/// Decides `regions-complete`. Says nothing where no region has an end and nothing waits for one.
pub(super) fn regions_complete(evidence: &Evidence<'_>) -> Option<Proof> {
    let states = evidence.machine.states.iter();
    let parallel: Vec<Handle<State>> = states
        .filter(|(_, state)| state.kind == StateKind::Parallel)
        .map(|(handle, _)| handle)
        .filter(|&state| evidence.reach.is_active(state))
        .filter(|&state| {
            is_awaited(evidence, state)
                || regions(evidence, state).any(|region| has_end(evidence, region))
        })
        .collect();
    if parallel.is_empty() {
        return None;
    }
    let open: Vec<Handle<State>> = parallel
        .iter()
        .copied()
        .filter(|&state| !completes(evidence, state))
        .collect();
    let is_refuted = |state: &Handle<State>| {
        // An endless step may complete regions on its way; that isn't examined here.
        (evidence.is_exhaustive() && evidence.space.endless_step.is_none())
            || (is_awaited(evidence, *state)
                && !evidence.reach.can_be_done(evidence.machine, *state))
    };
    let refuted: Vec<_> = open.iter().copied().filter(is_refuted).collect();
    let finding = if open.is_empty() {
        Finding::holds()
    } else if let Some(&first) = refuted.first() {
        let endless: Vec<_> = regions(evidence, first)
            .filter(|&region| !reaches_end(evidence, region))
            .collect();
        let state = state_name(evidence.machine, first);
        let why = match endless.is_empty() {
            true => format!("the regions of {state} are never complete at the same time"),
            false => {
                let regions = evidence.describe_states(&endless);
                format!("{regions} can't complete in {state}")
            }
        };
        Finding::fails(why).with_witness(Witness {
            states: evidence.ids(refuted),
            ..Witness::default()
        })
    } else if evidence.is_exhaustive() {
        Finding::unknown("only in steps that never come to rest, if at all")
    } else {
        evidence.not_exhaustive()
    };
    Some(finding.into_proof(
        "regions-complete",
        "every region with an end, and every region that is waited for, can complete",
        evidence.assumptions(),
    ))
}

/// Reports whether a parallel state was seen to be done.
///
/// Unless a transition waits for that, it is enough that its regions with ends have reached them.
fn completes(evidence: &Evidence<'_>, state: Handle<State>) -> bool {
    match evidence.machine.states.at(state).done {
        Some(done) => evidence.space.is_raised(done),
        None => regions(evidence, state)
            .filter(|&region| has_end(evidence, region))
            .all(|region| reaches_end(evidence, region)),
    }
}

/// Reports whether a transition waits for a state to be done.
fn is_awaited(evidence: &Evidence<'_>, state: Handle<State>) -> bool {
    evidence.machine.states.at(state).done.is_some()
}

fn regions(evidence: &Evidence<'_>, state: Handle<State>) -> impl Iterator<Item = Handle<State>> {
    let states = &evidence.machine.states;
    let children = states.at(state).children.iter().copied();
    children.filter(|&child| !states.at(child).kind.is_history())
}

fn finals(evidence: &Evidence<'_>, region: Handle<State>) -> impl Iterator<Item = Handle<State>> {
    let states = &evidence.machine.states;
    let children = states.at(region).children.iter().copied();
    children.filter(|&child| states.at(child).kind == StateKind::Final)
}

fn has_end(evidence: &Evidence<'_>, region: Handle<State>) -> bool {
    finals(evidence, region).next().is_some()
}

/// Reports whether a final state of a region was entered.
///
/// A parallel region is done when its own regions are.
fn reaches_end(evidence: &Evidence<'_>, region: Handle<State>) -> bool {
    match evidence.machine.states.at(region).kind {
        StateKind::Parallel => completes(evidence, region),
        _ => finals(evidence, region).any(|end| evidence.space.is_entered(end)),
    }
}
