//! What can happen: the leaves that a machine can come to, and the transitions that it can take there.
//!
//! Reachability is over configurations, not over the drawn graph: in each leaf, the transitions of the leaf and of the
//! states around it compete, innermost first, and one without a guard hides those of the same event behind it. Guards are
//! taken to be able to hold and to fail. Without regions a configuration is its leaf, so the search is exact but for
//! guards. With regions each leaf is followed for itself, as if the others could be anywhere: more may seem reachable than
//! is, never less.

use std::collections::BTreeSet;

use crate::arena::Handle;
use crate::ir::{Event, EventKind, Machine, State, StateKind, Transition};

/// What can happen in a machine.
#[derive(Clone, Debug)]
pub struct Reach {
    /// By state: whether it can be active.
    active: Vec<bool>,
    /// By transition: whether it can be taken.
    live: Vec<bool>,
    /// By leaf: the leaves that one microstep leads to.
    next: Vec<Vec<Handle<State>>>,
}

impl Reach {
    /// Searches from the initial configuration. Interrupts may strike anywhere.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let count = machine.states.len();
        let mut reach = Self {
            active: vec![false; count],
            live: vec![false; machine.transitions.len()],
            next: vec![Vec::new(); count],
        };
        let mut open: Vec<Handle<State>> = entered(machine, machine.root());
        let interrupts = machine
            .interrupts
            .iter()
            .filter_map(|interrupt| interrupt.target);
        open.extend(interrupts.flat_map(|target| entered(machine, target)));
        while let Some(leaf) = open.pop() {
            if reach.is_active(leaf) {
                continue;
            }
            for around in machine.ancestry(leaf) {
                set(&mut reach.active, around.index());
            }
            for transition in candidates(machine, leaf) {
                set(&mut reach.live, transition.index());
                for &target in &machine.transitions.at(transition).targets {
                    for next in entered(machine, target) {
                        if let Some(list) = reach.next.get_mut(leaf.index()) {
                            list.push(next);
                        }
                        open.push(next);
                    }
                }
            }
        }
        reach.follow_histories(machine);
        reach
    }

    /// A history is reached where a way leads to it, and leads on to whatever was active in the state around it.
    fn follow_histories(&mut self, machine: &Machine) {
        let is_history = |state: Handle<State>| machine.states.at(state).kind.is_history();
        for (source, transition) in machine.transitions.iter() {
            if !self.is_live(source) {
                continue;
            }
            for &target in transition.targets.iter().filter(|&&it| is_history(it)) {
                set(&mut self.active, target.index());
                let Some(around) = machine.states.at(target).parent else {
                    continue;
                };
                let last = machine.states.at(around).end;
                let recorded = (around.index()..last).map(Handle::at);
                let recorded: Vec<Handle<State>> = recorded
                    .filter(|&it| machine.states.at(it).kind.is_leaf() && self.is_active(it))
                    .collect();
                let first = transition.source.index();
                for leaf in first..machine.states.at(transition.source).end {
                    if let Some(list) = self.next.get_mut(leaf) {
                        list.extend(recorded.iter().copied());
                    }
                }
            }
        }
    }

    /// Whether a state can be active.
    #[must_use]
    pub fn is_active(&self, state: Handle<State>) -> bool {
        self.active.get(state.index()).copied().unwrap_or(false)
    }

    /// Whether a transition can be taken.
    #[must_use]
    pub fn is_live(&self, transition: Handle<Transition>) -> bool {
        self.live.get(transition.index()).copied().unwrap_or(false)
    }

    /// The leaves from which some path leads to one of the given leaves, these included.
    #[must_use]
    pub fn leading_to(&self, goals: impl IntoIterator<Item = Handle<State>>) -> BTreeSet<usize> {
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); self.next.len()];
        for (from, nexts) in self.next.iter().enumerate() {
            for next in nexts {
                if let Some(list) = back.get_mut(next.index()) {
                    list.push(from);
                }
            }
        }
        let mut found = BTreeSet::new();
        let mut open: Vec<usize> = goals.into_iter().map(Handle::index).collect();
        while let Some(leaf) = open.pop() {
            if found.insert(leaf) {
                open.extend(back.get(leaf).into_iter().flatten());
            }
        }
        found
    }
}

/// The leaves that are active after entry into a state, itself or the regions beside it included.
fn entered(machine: &Machine, target: Handle<State>) -> Vec<Handle<State>> {
    let mut leaves = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![target];
    while let Some(state) = open.pop() {
        if !seen.insert(state) {
            continue;
        }
        // Around a state in a region, the other regions are entered, too.
        for (inner, outer) in machine.ancestry(state).zip(machine.ancestry(state).skip(1)) {
            if machine.states.at(outer).kind == StateKind::Parallel {
                let regions = machine.states.at(outer).children.iter().copied();
                open.extend(
                    regions.filter(|&it| it != inner && !machine.states.at(it).kind.is_history()),
                );
            }
        }
        let row = machine.states.at(state);
        match row.kind {
            StateKind::Atomic | StateKind::Final => leaves.push(state),
            StateKind::Parallel => {
                let regions = row.children.iter().copied();
                open.extend(regions.filter(|&it| !machine.states.at(it).kind.is_history()));
            }
            _ => {
                let initial = row.initial.iter();
                open.extend(initial.flat_map(|initial| initial.targets.iter().copied()));
            }
        }
    }
    leaves
}

fn set(flags: &mut [bool], at: usize) {
    if let Some(flag) = flags.get_mut(at) {
        *flag = true;
    }
}

/// The transitions that can be taken while a leaf is active, innermost first.
///
/// A leaf that is left without an event as soon as it is entered has only the eventless ones up to there.
#[must_use]
pub fn candidates(machine: &Machine, leaf: Handle<State>) -> Vec<Handle<Transition>> {
    let around = || {
        machine
            .ancestry(leaf)
            .flat_map(|state| machine.transitions_of(state))
    };
    let mut found = Vec::new();
    for (handle, transition) in around().filter(|(_, transition)| transition.triggers.is_empty()) {
        found.push(handle);
        if transition.guard.is_none() {
            return found;
        }
    }
    let mut settled: BTreeSet<Handle<Event>> = BTreeSet::new();
    for (handle, transition) in around() {
        let mut can_happen = false;
        for &event in &transition.triggers {
            if happens(machine, leaf, event) && !settled.contains(&event) {
                can_happen = true;
                if transition.guard.is_none() {
                    settled.insert(event);
                }
            }
        }
        if can_happen {
            found.push(handle);
        }
    }
    found
}

/// Whether an event can occur while a leaf is active: a completion does only while that state's final child is.
fn happens(machine: &Machine, leaf: Handle<State>, event: Handle<Event>) -> bool {
    match machine.events.at(event).kind {
        EventKind::Named | EventKind::Unknown | EventKind::Delayed | EventKind::Fault => true,
        EventKind::Completion(state) => {
            let mut around = machine.ancestry(leaf);
            // Another region may have been the last one, or the only one that matters.
            around.any(|it| machine.states.at(it).kind == StateKind::Parallel)
                || machine.states.at(leaf).kind == StateKind::Final
                    && machine.states.at(leaf).parent == Some(state)
        }
    }
}
