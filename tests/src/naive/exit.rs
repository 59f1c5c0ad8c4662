//! Appendix D: what is left.

use std::collections::BTreeSet;

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{State, StateKind, Transition};
use statemark_runtime::{Observer as _, StateId};

use super::interpret::Failure;
use super::tree::{is_atomic, is_descendant};
use super::{Host, Interpreter};

impl<H: Host> Interpreter<'_, H> {
    /// Appendix D, `exitStates(enabledTransitions)`: histories are recorded first, then each state is left, the last in
    /// document order first. A state is active while its exit actions run.
    pub(super) fn exit_states(
        &mut self,
        enabled_transitions: &[Handle<Transition>],
    ) -> Result<(), Failure> {
        let machine = self.machine;
        let states_to_exit = self.compute_exit_set(enabled_transitions);
        for &s in states_to_exit.iter().rev() {
            for &h in &machine.states.at(s).children {
                let active = self.configuration.iter().copied();
                let recorded: Vec<Handle<State>> = match machine.states.at(h).kind {
                    StateKind::DeepHistory => active
                        .filter(|&s0| is_atomic(machine, s0) && is_descendant(machine, s0, s))
                        .collect(),
                    StateKind::History => active
                        .filter(|&s0| machine.states.at(s0).parent == Some(s))
                        .collect(),
                    _ => continue,
                };
                self.history_value.insert(h, recorded);
            }
        }
        for &s in states_to_exit.iter().rev() {
            self.execute_content(&machine.states.at(s).exit)?;
            self.configuration.remove(&s);
            self.recorder
                .exited(StateId::from_index(s.index()).unwrap());
        }
        Ok(())
    }

    /// Appendix D, `computeExitSet(transitions)`: all that is active inside the transitions' domains.
    pub(super) fn compute_exit_set(
        &self,
        transitions: &[Handle<Transition>],
    ) -> BTreeSet<Handle<State>> {
        let mut states_to_exit = BTreeSet::new();
        for &t in transitions {
            let Some(domain) = self.get_transition_domain(self.machine.transitions.at(t)) else {
                continue;
            };
            let active = self.configuration.iter().copied();
            states_to_exit.extend(active.filter(|&s| is_descendant(self.machine, s, domain)));
        }
        states_to_exit
    }
}
