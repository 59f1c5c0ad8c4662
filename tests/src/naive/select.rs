//! Appendix D: which transitions are taken.

use std::collections::BTreeMap;

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Event, State, Transition};

use super::tree::{get_proper_ancestors, is_atomic, is_descendant};
use super::{Host, Interpreter};

impl<H: Host> Interpreter<'_, H> {
    /// Appendix D, `selectEventlessTransitions()`.
    pub(super) fn select_eventless_transitions(&mut self) -> Vec<Handle<Transition>> {
        self.select(None)
    }

    /// Appendix D, `selectTransitions(event)`.
    pub(super) fn select_transitions(&mut self, event: Handle<Event>) -> Vec<Handle<Transition>> {
        self.select(Some(event))
    }

    /// What both have in common. For each atomic state, in document order, the first transition in the first state
    /// around it that has one whose event matches and whose guard holds.
    ///
    /// A transition that stands around several atomic states is asked for the first of them; a guard doesn't change its
    /// mind in the meantime.
    fn select(&mut self, event: Option<Handle<Event>>) -> Vec<Handle<Transition>> {
        let mut enabled_transitions = Vec::new();
        let mut answers = BTreeMap::new();
        let mut atomic_states: Vec<Handle<State>> = self.configuration.iter().copied().collect();
        atomic_states.retain(|&state| is_atomic(self.machine, state));
        for state in atomic_states {
            let mut around = vec![state];
            around.extend(get_proper_ancestors(self.machine, state, None));
            let transitions = around
                .into_iter()
                .flat_map(|state| self.machine.transitions_of(state));
            for (handle, transition) in transitions {
                let matches = match event {
                    None => transition.triggers.is_empty(),
                    Some(event) => transition.triggers.contains(&event),
                };
                if !matches {
                    continue;
                }
                let answer = match (answers.get(&handle), &transition.guard) {
                    (Some(&answer), _) => answer,
                    (None, None) => true,
                    (None, Some(guard)) => self.holds(&guard.value),
                };
                answers.insert(handle, answer);
                if answer {
                    if !enabled_transitions.contains(&handle) {
                        enabled_transitions.push(handle);
                    }
                    break;
                }
            }
        }
        self.remove_conflicting_transitions(&enabled_transitions)
    }

    /// Appendix D, `removeConflictingTransitions(enabledTransitions)`: of two that leave a state in common, the one
    /// whose source lies inside the other's source; else the one that was selected first.
    fn remove_conflicting_transitions(
        &self,
        enabled_transitions: &[Handle<Transition>],
    ) -> Vec<Handle<Transition>> {
        let source = |t: Handle<Transition>| self.machine.transitions.at(t).source;
        let mut filtered_transitions: Vec<Handle<Transition>> = Vec::new();
        for &t1 in enabled_transitions {
            let mut t1_preempted = false;
            let mut transitions_to_remove = Vec::new();
            for &t2 in &filtered_transitions {
                let (exits1, exits2) = (self.compute_exit_set(&[t1]), self.compute_exit_set(&[t2]));
                if exits1.is_disjoint(&exits2) {
                    continue;
                }
                if is_descendant(self.machine, source(t1), source(t2)) {
                    transitions_to_remove.push(t2);
                } else {
                    t1_preempted = true;
                    break;
                }
            }
            if !t1_preempted {
                filtered_transitions.retain(|t3| !transitions_to_remove.contains(t3));
                filtered_transitions.push(t1);
            }
        }
        filtered_transitions
    }
}
