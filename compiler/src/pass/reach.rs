//! Graph and abstract reachability of states and transitions.
//!
//! A machine without parallel states and histories has one active leaf, so its configurations are a graph of leaves that
//! is searched exactly but for guards (`reach/graph.rs`). Any other machine is searched state by state (`reach/abstraction.rs`): what
//! that search excludes can't happen, and the rest may or may not. Both assume that every guard can be true or false.
//!
//! Concrete reachability, which steps the machine through its configurations, is `proofs/concrete`.

mod abstraction;
mod graph;

use crate::arena::Handle;
use crate::ir::{Machine, State, StateKind, Transition};

/// The states of a machine that can be active, and the transitions that can be taken.
#[derive(Clone, Debug)]
pub struct Reachability {
    /// Flags of the states that can be active.
    active: Vec<bool>,
    /// Flags of the transitions that can be taken.
    live: Vec<bool>,
    /// The successors of each node: a node is a leaf in a graph search, and see [`abstraction`] otherwise.
    next: Vec<Vec<usize>>,
    is_exact: bool,
}

impl Reachability {
    /// Searches from the initial configuration and from the targets of interrupts.
    ///
    /// An interrupt may occur in any configuration.
    #[must_use]
    pub fn new(machine: &Machine) -> Self {
        let has_one_leaf =
            |(_, state): (_, &State)| state.kind != StateKind::Parallel && !state.kind.is_history();
        if machine.states.iter().all(has_one_leaf) {
            graph::search(machine)
        } else {
            abstraction::search(machine)
        }
    }

    /// Reports whether a state can be active.
    #[must_use]
    pub fn is_active(&self, state: Handle<State>) -> bool {
        self.active.get(state.index()).copied().unwrap_or(false)
    }

    /// Reports whether a transition can be taken.
    #[must_use]
    pub fn is_live(&self, transition: Handle<Transition>) -> bool {
        self.live.get(transition.index()).copied().unwrap_or(false)
    }

    /// Reports whether every answer is exact but for guards; otherwise only negative answers are certain.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Reports whether a state can be done.
    ///
    /// A compound state is done in a final child, a parallel one when all of its regions are.
    #[must_use]
    pub fn can_be_done(&self, machine: &Machine, state: Handle<State>) -> bool {
        can_be_done(machine, state, &self.active)
    }

    /// Returns the leaves that can be active and from which no path leads to the end of the machine.
    ///
    /// There are none in a machine whose end can't be reached at all.
    #[must_use]
    pub fn without_end(&self, machine: &Machine) -> Vec<Handle<State>> {
        let ends = machine.leaves().filter(|&(handle, state)| {
            state.kind == StateKind::Final
                && state.parent == Some(machine.root())
                && self.is_active(handle)
        });
        let ends: Vec<_> = ends.map(|(handle, _)| handle).collect();
        if ends.is_empty() {
            return Vec::new();
        }
        let ending = self.leading_to(ends);
        machine
            .leaves()
            .map(|(handle, _)| handle)
            .filter(|handle| {
                self.is_active(*handle) && !ending.get(handle.index()).is_some_and(|leads| *leads)
            })
            .collect()
    }

    /// Returns flags of the nodes from which some path leads to one of the goals, the goals included.
    ///
    /// An abstract search may return more of them.
    fn leading_to(&self, goals: impl IntoIterator<Item = Handle<State>>) -> Vec<bool> {
        let mut arrows: Vec<(usize, usize)> = Vec::new();
        for (from, successors) in self.next.iter().enumerate() {
            arrows.extend(successors.iter().map(|&to| (to, from)));
        }
        arrows.sort_unstable();
        let mut found = vec![false; self.next.len()];
        // An abstract search has a second node for each state, which stands for its entry.
        let entered = self.active.len();
        let mut open: Vec<usize> = goals
            .into_iter()
            .flat_map(|goal| [goal.index(), goal.index() + entered])
            .collect();
        while let Some(node) = open.pop() {
            if let Some(flag) = found.get_mut(node)
                && !*flag
            {
                *flag = true;
                let start = arrows.partition_point(|(to, _)| *to < node);
                let into = arrows.iter().skip(start).take_while(|(to, _)| *to == node);
                open.extend(into.map(|(_, from)| from));
            }
        }
        found
    }
}

fn can_be_done(machine: &Machine, state: Handle<State>, active: &[bool]) -> bool {
    // A machine is nested no deeper than a table allows, so this may recurse.
    let state = machine.states.at(state);
    let mut children = state.children.iter().copied();
    let kind = |child: Handle<State>| machine.states.at(child).kind;
    let is_active = |child: Handle<State>| active.get(child.index()).copied().unwrap_or(false);
    match state.kind {
        StateKind::Compound => {
            children.any(|child| kind(child) == StateKind::Final && is_active(child))
        }
        StateKind::Parallel => children
            .filter(|&region| !kind(region).is_history())
            .all(|region| can_be_done(machine, region, active)),
        _ => false,
    }
}

fn set(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}
