//! Abstract reachability, for machines with regions or history.
//!
//! States are searched one by one instead of by configuration: a transition can be taken if its source can be active, its
//! event can occur, and no earlier transition of the same state hides it. That finds everything that can happen, and
//! perhaps more, because it doesn't notice that two states are never active at once.
//!
//! The graph of what leads to what has three nodes for each of *n* states: node *i* is state *i* while it is active, node
//! *n + i* is its entry, and node *2n + i* is the memory of its histories. In and around a parallel state, everything
//! active leads to everything active, because any of its regions may move next.

use std::collections::{BTreeMap, BTreeSet};

use super::{Reachability, can_be_done, set};
use crate::arena::Handle;
use crate::ir::{Event, EventKind, Machine, State, StateKind, Transition};

/// Searches the states of any machine.
pub(super) fn search(machine: &Machine) -> Reachability {
    let count = machine.states.len();
    let mut search = Search {
        machine,
        active: vec![false; count],
        entered: vec![false; count],
        live: vec![false; machine.transitions.len()],
        open: Vec::new(),
        pending: Vec::new(),
        recheck: BTreeSet::new(),
        completion_listeners: completion_listeners(machine),
    };
    search.open.push(machine.root());
    let interrupts = machine.interrupts.iter();
    search
        .open
        .extend(interrupts.filter_map(|interrupt| interrupt.target));
    search.run();
    let next = search.graph();
    Reachability {
        active: search.active,
        live: search.live,
        next,
        is_exact: false,
    }
}

struct Search<'m> {
    machine: &'m Machine,
    /// Flags of the states that can be active.
    active: Vec<bool>,
    /// Flags of the states that can be entered by default.
    entered: Vec<bool>,
    /// Flags of the transitions that can be taken.
    live: Vec<bool>,
    /// The states that are still to be entered.
    open: Vec<Handle<State>>,
    /// The active states whose transitions are still to be examined.
    pending: Vec<Handle<State>>,
    /// Examined states that listen for the completion of a state that has gained a final descendant since.
    recheck: BTreeSet<Handle<State>>,
    /// For each state, those with a transition on its completion.
    completion_listeners: BTreeMap<Handle<State>, Vec<Handle<State>>>,
}

/// Returns, for each state, the states with a transition on its completion.
fn completion_listeners(machine: &Machine) -> BTreeMap<Handle<State>, Vec<Handle<State>>> {
    let mut listeners: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (_, transition) in machine.transitions.iter() {
        for &event in &transition.triggers {
            if let EventKind::Completion(state) = machine.events.at(event).kind {
                let states = listeners.entry(state).or_default();
                states.push(transition.source);
            }
        }
    }
    listeners
}

impl Search<'_> {
    fn run(&mut self) {
        self.enter_all();
        loop {
            while let Some(state) = self.pending.pop() {
                if self.is_active(state) {
                    self.take_from(state);
                    self.enter_all();
                }
            }
            if self.recheck.is_empty() {
                return;
            }
            self.pending.extend(std::mem::take(&mut self.recheck));
        }
    }

    fn activate(&mut self, state: Handle<State>) {
        let machine = self.machine;
        set(&mut self.active, state.index());
        self.pending.push(state);
        if machine.states.at(state).kind == StateKind::Final {
            for ancestor in machine.ancestry(state) {
                let listeners = self.completion_listeners.get(&ancestor);
                self.recheck.extend(listeners.into_iter().flatten());
            }
        }
    }

    fn is_active(&self, state: Handle<State>) -> bool {
        self.active.get(state.index()).copied().unwrap_or(false)
    }

    /// Marks the transitions of a state that can be taken, and opens their targets.
    fn take_from(&mut self, state: Handle<State>) {
        let machine = self.machine;
        let mut handled: BTreeSet<Option<Handle<Event>>> = BTreeSet::new();
        for (handle, transition) in machine.transitions_of(state) {
            let occurs = self.occurs(transition, &handled);
            if transition.guard.is_none() {
                handled.extend(transition.triggers.iter().copied().map(Some));
                if transition.triggers.is_empty() {
                    handled.insert(None);
                }
            }
            let was_live = self.live.get(handle.index()).copied().unwrap_or(true);
            if occurs && !was_live {
                set(&mut self.live, handle.index());
                self.open.extend(&transition.targets);
            }
        }
    }

    /// Reports whether an event of a transition can occur that no earlier one of its state takes.
    fn occurs(&self, transition: &Transition, handled: &BTreeSet<Option<Handle<Event>>>) -> bool {
        if transition.triggers.is_empty() {
            return !handled.contains(&None);
        }
        let mut triggers = transition.triggers.iter();
        triggers.any(|&event| {
            let happens = match self.machine.events.at(event).kind {
                EventKind::Completion(state) => can_be_done(self.machine, state, &self.active),
                _ => true,
            };
            happens && !handled.contains(&Some(event))
        })
    }

    /// Enters the open states by default, with their ancestors and the sibling regions.
    fn enter_all(&mut self) {
        let machine = self.machine;
        while let Some(state) = self.open.pop() {
            let found = machine.states.at(state);
            if self.entered.get(state.index()).copied().unwrap_or(true) {
                continue;
            }
            set(&mut self.entered, state.index());
            if !found.kind.is_history() && !self.is_active(state) {
                self.activate(state);
            }
            for ancestor in machine.ancestry(state).skip(1) {
                if self.is_active(ancestor) {
                    continue;
                }
                self.activate(ancestor);
                if machine.states.at(ancestor).kind == StateKind::Parallel {
                    self.open.extend(regions(machine, ancestor));
                }
            }
            match found.kind {
                StateKind::Parallel => self.open.extend(regions(machine, state)),
                // A recorded state has been active before, so only the default transition is new.
                StateKind::Compound | StateKind::History | StateKind::DeepHistory => {
                    let targets = found.initial.iter().flat_map(|initial| &initial.targets);
                    self.open.extend(targets);
                }
                StateKind::Atomic | StateKind::Final => {}
                // A kind that a later version adds: assume as much as possible.
                _ => self.open.extend(&found.children),
            }
        }
    }

    /// Returns the successors of each node.
    fn graph(&self) -> Vec<Vec<usize>> {
        let machine = self.machine;
        let count = machine.states.len();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); 3 * count];
        let mut connect = |from: usize, to: usize| {
            if let Some(list) = next.get_mut(from) {
                list.push(to);
            }
        };
        let mut parallel_until = 0;
        let mut with_memory: BTreeSet<Handle<State>> = BTreeSet::new();
        for (handle, state) in machine.states.iter() {
            let index = handle.index();
            connect(count + index, index);
            if let Some(parent) = state.parent {
                connect(index, parent.index());
                if index < parallel_until {
                    connect(parent.index(), index);
                    // Entering one region enters them all.
                    connect(count + index, count + parent.index());
                }
            }
            if state.kind == StateKind::Parallel {
                parallel_until = parallel_until.max(state.end);
            }
            let targets = state.initial.iter().flat_map(|initial| &initial.targets);
            targets.for_each(|target| connect(count + index, count + target.index()));
            match (state.kind, state.parent) {
                (StateKind::Parallel, _) => {
                    regions(machine, handle)
                        .for_each(|region| connect(count + index, count + region.index()));
                }
                (StateKind::History | StateKind::DeepHistory, Some(parent)) => {
                    connect(count + index, 2 * count + parent.index());
                    if with_memory.insert(parent) {
                        let inside = parent.index() + 1..machine.states.at(parent).end;
                        inside.for_each(|inner| connect(2 * count + parent.index(), count + inner));
                    }
                }
                _ => {}
            }
        }
        for (handle, transition) in machine.transitions.iter() {
            if self.live.get(handle.index()) == Some(&true) {
                let source = transition.source.index();
                let targets = transition.targets.iter();
                targets.for_each(|target| connect(source, count + target.index()));
            }
        }
        next
    }
}

/// Returns the regions of a parallel state.
fn regions(machine: &Machine, state: Handle<State>) -> impl Iterator<Item = Handle<State>> {
    let children = machine.states.at(state).children.iter().copied();
    children.filter(|&child| !machine.states.at(child).kind.is_history())
}
