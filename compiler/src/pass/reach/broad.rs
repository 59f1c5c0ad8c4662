//! The broad search: for machines with regions or history.
//!
//! States are searched one by one, not by configuration: a transition can be taken if its source can be active, its event
//! can occur, and no earlier transition of the same state hides it. That finds everything that can happen, and perhaps
//! more: two states that are never active at once are not told apart.
//!
//! What leads on to what is a graph of three nodes for each of *n* states: node *i* is state *i* while it is active, node
//! *n + i* is state *i* being entered, node *2n + i* is what the histories of state *i* remember. Around and within a parallel state everything active leads to everything, because
//! any of its regions may move next.

use std::collections::{BTreeMap, BTreeSet};

use super::{Reach, can_be_done, set};
use crate::arena::Handle;
use crate::ir::{Event, EventKind, Machine, State, StateKind, Transition};

/// Searches from the initial configuration. Interrupts may strike anywhere.
pub(super) fn search(machine: &Machine) -> Reach {
    let count = machine.states.len();
    let mut search = Search {
        machine,
        active: vec![false; count],
        entered: vec![false; count],
        live: vec![false; machine.transitions.len()],
        open: Vec::new(),
        pending: Vec::new(),
        perhaps_done: BTreeSet::new(),
        waiting: waiting(machine),
    };
    search.open.push(machine.root());
    let interrupts = machine.interrupts.iter();
    search
        .open
        .extend(interrupts.filter_map(|interrupt| interrupt.target));
    search.run();
    let next = search.graph();
    Reach {
        active: search.active,
        live: search.live,
        next,
        is_exact: false,
    }
}

struct Search<'m> {
    machine: &'m Machine,
    /// By state: whether it can be active.
    active: Vec<bool>,
    /// By state: whether it can be entered by default.
    entered: Vec<bool>,
    live: Vec<bool>,
    /// The states that are about to be entered.
    open: Vec<Handle<State>>,
    /// The states whose transitions must be looked at.
    pending: Vec<Handle<State>>,
    /// Those of them that wait for a state which has come closer to its end since.
    perhaps_done: BTreeSet<Handle<State>>,
    /// By state: those with a transition that waits for it to be done.
    waiting: BTreeMap<Handle<State>, Vec<Handle<State>>>,
}

fn waiting(machine: &Machine) -> BTreeMap<Handle<State>, Vec<Handle<State>>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (_, transition) in machine.transitions.iter() {
        for &event in &transition.triggers {
            if let EventKind::Completion(state) = machine.events.at(event).kind {
                found.entry(state).or_default().push(transition.source);
            }
        }
    }
    found
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
            if self.perhaps_done.is_empty() {
                return;
            }
            self.pending.extend(std::mem::take(&mut self.perhaps_done));
        }
    }

    fn activate(&mut self, state: Handle<State>) {
        let machine = self.machine;
        set(&mut self.active, state.index());
        self.pending.push(state);
        if machine.states.at(state).kind == StateKind::Final {
            for around in machine.ancestry(state) {
                let waiting = self.waiting.get(&around).into_iter().flatten();
                self.perhaps_done.extend(waiting);
            }
        }
    }

    fn is_active(&self, state: Handle<State>) -> bool {
        self.active.get(state.index()).copied().unwrap_or(false)
    }

    /// Marks what a state's transitions lead to.
    fn take_from(&mut self, state: Handle<State>) {
        let machine = self.machine;
        let mut settled: BTreeSet<Option<Handle<Event>>> = BTreeSet::new();
        for (handle, transition) in machine.transitions_of(state) {
            let occurs = self.occurs(transition, &settled);
            if transition.guard.is_none() {
                settled.extend(transition.triggers.iter().copied().map(Some));
                if transition.triggers.is_empty() {
                    settled.insert(None);
                }
            }
            let was_live = self.live.get(handle.index()).copied().unwrap_or(true);
            if occurs && !was_live {
                set(&mut self.live, handle.index());
                self.open.extend(&transition.targets);
            }
        }
    }

    /// Whether an event of a transition can occur that no earlier one of the same state takes.
    fn occurs(&self, transition: &Transition, settled: &BTreeSet<Option<Handle<Event>>>) -> bool {
        if transition.triggers.is_empty() {
            return !settled.contains(&None);
        }
        let mut triggers = transition.triggers.iter();
        triggers.any(|&event| {
            let happens = match self.machine.events.at(event).kind {
                EventKind::Completion(state) => can_be_done(self.machine, state, &self.active),
                _ => true,
            };
            happens && !settled.contains(&Some(event))
        })
    }

    /// Enters the open states by default, with the states around them and the regions beside them.
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
            for around in machine.ancestry(state).skip(1) {
                if self.is_active(around) {
                    continue;
                }
                self.activate(around);
                if machine.states.at(around).kind == StateKind::Parallel {
                    self.open.extend(regions(machine, around));
                }
            }
            match found.kind {
                StateKind::Parallel => self.open.extend(regions(machine, state)),
                // What a history remembers has been active before.
                StateKind::Compound | StateKind::History | StateKind::DeepHistory => {
                    let targets = found.initial.iter().flat_map(|initial| &initial.targets);
                    self.open.extend(targets);
                }
                StateKind::Atomic | StateKind::Final => {}
                // A kind of a later version: as much as possible.
                _ => self.open.extend(&found.children),
            }
        }
    }

    fn graph(&self) -> Vec<Vec<usize>> {
        let machine = self.machine;
        let count = machine.states.len();
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); 3 * count];
        let mut lead = |from: usize, to: usize| {
            if let Some(list) = next.get_mut(from) {
                list.push(to);
            }
        };
        let mut parallel_until = 0;
        let mut remembered: BTreeSet<Handle<State>> = BTreeSet::new();
        for (handle, state) in machine.states.iter() {
            let index = handle.index();
            lead(count + index, index);
            if let Some(parent) = state.parent {
                lead(index, parent.index());
                if index < parallel_until {
                    lead(parent.index(), index);
                    // Who enters one region enters them all.
                    lead(count + index, count + parent.index());
                }
            }
            if state.kind == StateKind::Parallel {
                parallel_until = parallel_until.max(state.end);
            }
            let targets = state.initial.iter().flat_map(|initial| &initial.targets);
            targets.for_each(|target| lead(count + index, count + target.index()));
            match (state.kind, state.parent) {
                (StateKind::Parallel, _) => {
                    regions(machine, handle)
                        .for_each(|region| lead(count + index, count + region.index()));
                }
                (StateKind::History | StateKind::DeepHistory, Some(parent)) => {
                    lead(count + index, 2 * count + parent.index());
                    if remembered.insert(parent) {
                        let inside = parent.index() + 1..machine.states.at(parent).end;
                        inside.for_each(|inner| lead(2 * count + parent.index(), count + inner));
                    }
                }
                _ => {}
            }
        }
        for (handle, transition) in machine.transitions.iter() {
            if self.live.get(handle.index()) == Some(&true) {
                let source = transition.source.index();
                let targets = transition.targets.iter();
                targets.for_each(|target| lead(source, count + target.index()));
            }
        }
        next
    }
}

/// The regions of a parallel state.
fn regions(machine: &Machine, state: Handle<State>) -> impl Iterator<Item = Handle<State>> {
    let children = machine.states.at(state).children.iter().copied();
    children.filter(|&child| !machine.states.at(child).kind.is_history())
}
