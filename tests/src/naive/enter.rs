//! Appendix D: what is entered.

use std::collections::{BTreeMap, BTreeSet};

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Initial, State, Transition};
use statemark_runtime::{Observer as _, StateId};

use super::interpret::Failure;
use super::tree::{
    get_child_states, get_proper_ancestors, is_compound, is_descendant, is_final, is_history,
    is_parallel,
};
use super::{Host, Interpreter};

/// What the functions of this file fill in together.
#[derive(Debug, Default)]
pub(super) struct EntrySet<'m> {
    /// The states to enter; document order is the order of handles.
    states_to_enter: BTreeSet<Handle<State>>,
    /// Those of them that are entered by default, so that their initial transitions run.
    states_for_default_entry: BTreeSet<Handle<State>>,
    /// The default transitions of histories that run, by the state whose history it is.
    default_history_content: BTreeMap<Handle<State>, &'m Initial>,
}

impl<'m, H: Host> Interpreter<'m, H> {
    /// Appendix D, `enterStates(enabledTransitions)`.
    pub(super) fn enter_states(
        &mut self,
        enabled_transitions: &[Handle<Transition>],
    ) -> Result<(), Failure> {
        let entry_set = self.compute_entry_set(enabled_transitions);
        self.enter_set(&entry_set)
    }

    /// The first `enterStates`, with the initial transition of the root, which isn't among the machine's transitions.
    pub(super) fn enter_initial_states(&mut self) -> Result<(), Failure> {
        let root = self.machine.root();
        let initial = self.machine.states.at(root).initial.as_ref().unwrap();
        let mut entry_set = EntrySet::default();
        for &s in &initial.targets {
            self.add_descendant_states_to_enter(s, &mut entry_set);
        }
        for s in self.get_effective_target_states(&initial.targets) {
            self.add_ancestor_states_to_enter(s, root, &mut entry_set);
        }
        self.enter_set(&entry_set)
    }

    /// The rest of `enterStates`: each state becomes active, then its entry actions run, then those of its initial
    /// transition, then those of its history's default transition. Final states complete what is around them.
    fn enter_set(&mut self, entry_set: &EntrySet<'m>) -> Result<(), Failure> {
        let machine = self.machine;
        for &s in &entry_set.states_to_enter {
            let state = machine.states.at(s);
            let added = self.configuration.insert(s);
            assert!(added, "`{}` is entered twice", state.id);
            self.recorder
                .entered(StateId::from_index(s.index()).unwrap());
            self.execute_content(&state.entry)?;
            if let Some(initial) = &state.initial
                && entry_set.states_for_default_entry.contains(&s)
            {
                self.execute_content(&initial.actions)?;
            }
            if let Some(default) = entry_set.default_history_content.get(&s) {
                self.execute_content(&default.actions)?;
            }
            if is_final(machine, s) {
                self.complete(s);
            }
        }
        Ok(())
    }

    /// What `enterStates` does of a final state: its parent is done, and the parallel state around that if all its regions
    /// are. Beyond appendix D, a parallel state that is itself a region completes the one around it in turn: that is done
    /// when all its regions are, whichever is the last.
    fn complete(&mut self, s: Handle<State>) {
        let parent = self.machine.states.at(s).parent.unwrap();
        if parent == self.machine.root() {
            self.running = false;
            return;
        }
        if let Some(done) = self.machine.states.at(parent).done {
            self.raise(done);
        }
        let mut around = self.machine.states.at(parent).parent.unwrap();
        while is_parallel(self.machine, around) && self.is_in_final_state(around) {
            if let Some(done) = self.machine.states.at(around).done {
                self.raise(done);
            }
            around = self.machine.states.at(around).parent.unwrap();
        }
    }

    /// Appendix D, `computeEntrySet(transitions, statesToEnter, statesForDefaultEntry, defaultHistoryContent)`.
    fn compute_entry_set(&self, transitions: &[Handle<Transition>]) -> EntrySet<'m> {
        let mut entry_set = EntrySet::default();
        for &t in transitions {
            let t = self.machine.transitions.at(t);
            for &s in &t.targets {
                self.add_descendant_states_to_enter(s, &mut entry_set);
            }
            let Some(ancestor) = self.get_transition_domain(t) else {
                continue;
            };
            for s in self.get_effective_target_states(&t.targets) {
                self.add_ancestor_states_to_enter(s, ancestor, &mut entry_set);
            }
        }
        entry_set
    }

    /// Appendix D, `addDescendantStatesToEnter(state, …)`: the state and what is entered in it by default; of a history
    /// what is recorded, or what its default transition leads to.
    fn add_descendant_states_to_enter(&self, state: Handle<State>, entry_set: &mut EntrySet<'m>) {
        let machine = self.machine;
        if is_history(machine, state) {
            let parent = machine.states.at(state).parent.unwrap();
            let targets = match self.history_value.get(&state) {
                Some(recorded) => recorded,
                None => {
                    let default = machine.states.at(state).initial.as_ref().unwrap();
                    entry_set.default_history_content.insert(parent, default);
                    &default.targets
                }
            };
            for &s in targets {
                self.add_descendant_states_to_enter(s, entry_set);
            }
            for &s in targets {
                self.add_ancestor_states_to_enter(s, parent, entry_set);
            }
            return;
        }
        entry_set.states_to_enter.insert(state);
        if is_compound(machine, state) {
            entry_set.states_for_default_entry.insert(state);
            let initial = machine.states.at(state).initial.as_ref().unwrap();
            for &s in &initial.targets {
                self.add_descendant_states_to_enter(s, entry_set);
            }
            for &s in &initial.targets {
                self.add_ancestor_states_to_enter(s, state, entry_set);
            }
        } else if is_parallel(machine, state) {
            self.add_other_regions(state, entry_set);
        }
    }

    /// Appendix D, `addAncestorStatesToEnter(state, ancestor, …)`: the states between the two, and of parallel ones the
    /// regions in which nothing is entered yet.
    fn add_ancestor_states_to_enter(
        &self,
        state: Handle<State>,
        ancestor: Handle<State>,
        entry_set: &mut EntrySet<'m>,
    ) {
        for anc in get_proper_ancestors(self.machine, state, Some(ancestor)) {
            entry_set.states_to_enter.insert(anc);
            if is_parallel(self.machine, anc) {
                self.add_other_regions(anc, entry_set);
            }
        }
    }

    /// What both say of a parallel state.
    fn add_other_regions(&self, parallel: Handle<State>, entry_set: &mut EntrySet<'m>) {
        for child in get_child_states(self.machine, parallel) {
            let mut entered = entry_set.states_to_enter.iter();
            if !entered.any(|&s| is_descendant(self.machine, s, child)) {
                self.add_descendant_states_to_enter(child, entry_set);
            }
        }
    }
}
