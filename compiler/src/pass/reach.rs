//! What can happen: the states that can be active, and the transitions that can be taken.
//!
//! Reachability is over configurations, not over the drawn graph: in each leaf, the transitions of the leaf and of the
//! states around it compete, innermost first, and one without a guard hides those of the same event behind it. Guards are
//! taken to be able to hold and to fail. Without regions and history a configuration is its leaf, so the search is exact
//! but for guards. With them it is broad (`broad`): what it says can't happen, can't, and of the rest it claims nothing.

mod broad;

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
    /// What leads on to what, as nodes: leaf to leaf where that is exact, else see [`broad`].
    next: Vec<Vec<usize>>,
    is_exact: bool,
}

impl Reach {
    /// Searches from the initial configuration. Interrupts may strike anywhere.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let is_plain =
            |(_, state): (_, &State)| state.kind != StateKind::Parallel && !state.kind.is_history();
        if !machine.states.iter().all(is_plain) {
            return broad::search(machine);
        }
        let count = machine.states.len();
        let mut reach = Self {
            active: vec![false; count],
            live: vec![false; machine.transitions.len()],
            next: vec![Vec::new(); count],
            is_exact: true,
        };
        let mut open: Vec<Handle<State>> =
            machine.default_leaf(machine.root()).into_iter().collect();
        let interrupts = machine
            .interrupts
            .iter()
            .filter_map(|interrupt| interrupt.target);
        open.extend(interrupts.filter_map(|target| machine.default_leaf(target)));
        while let Some(leaf) = open.pop() {
            if reach.is_active(leaf) {
                continue;
            }
            for around in machine.ancestry(leaf) {
                set(&mut reach.active, around.index());
            }
            for transition in candidates(machine, leaf) {
                set(&mut reach.live, transition.index());
                let target = machine.transitions.at(transition).target();
                if let Some(next) = target.and_then(|target| machine.default_leaf(target)) {
                    if let Some(list) = reach.next.get_mut(leaf.index()) {
                        list.push(next.index());
                    }
                    open.push(next);
                }
            }
        }
        reach
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

    /// Whether every answer is exact but for guards; else only what it denies is certain.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether a state can come to its end: a compound state to a final child, a parallel one to the ends of all regions.
    #[must_use]
    pub fn can_be_done(&self, machine: &Machine, state: Handle<State>) -> bool {
        can_be_done(machine, state, &self.active)
    }

    /// The leaves from which some path leads to one of the given leaves, these included. More of them, where the search
    /// was broad.
    #[must_use]
    pub fn leading_to(&self, goals: impl IntoIterator<Item = Handle<State>>) -> BTreeSet<usize> {
        let mut back: Vec<Vec<usize>> = vec![Vec::new(); self.next.len()];
        for (from, nexts) in self.next.iter().enumerate() {
            for next in nexts {
                if let Some(list) = back.get_mut(*next) {
                    list.push(from);
                }
            }
        }
        let mut found = BTreeSet::new();
        // A broad search has two nodes for each state: as what is active, and as what is entered.
        let entered = self.active.len();
        let mut open: Vec<usize> = goals
            .into_iter()
            .flat_map(|goal| [goal.index(), goal.index() + entered])
            .collect();
        while let Some(leaf) = open.pop() {
            if found.insert(leaf) {
                open.extend(back.get(leaf).into_iter().flatten());
            }
        }
        found
    }
}

fn can_be_done(machine: &Machine, state: Handle<State>, active: &[bool]) -> bool {
    // A machine is nested at most as deep as a table allows, so this may recurse.
    let found = machine.states.at(state);
    let mut inner = found.children.iter().copied();
    let kind = |child: Handle<State>| machine.states.at(child).kind;
    let is_active = |child: Handle<State>| active.get(child.index()).copied().unwrap_or(false);
    match found.kind {
        StateKind::Compound => {
            inner.any(|child| kind(child) == StateKind::Final && is_active(child))
        }
        StateKind::Parallel => inner
            .filter(|&region| !kind(region).is_history())
            .all(|region| can_be_done(machine, region, active)),
        _ => false,
    }
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
            machine.states.at(leaf).kind == StateKind::Final
                && machine.states.at(leaf).parent == Some(state)
        }
    }
}
