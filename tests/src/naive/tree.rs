//! Appendix D, *Predicates* and the functions that ask about the tree of states.

use std::collections::BTreeSet;

use statemark_compiler::arena::Handle;
use statemark_compiler::ir::{Machine, State, StateKind, Transition};

use super::{Host, Interpreter};

/// Appendix D, `isDescendant(state1, state2)`: whether `state1` is a child of `state2`, or a child of such a child.
pub(super) fn is_descendant(
    machine: &Machine,
    state1: Handle<State>,
    state2: Handle<State>,
) -> bool {
    let mut at = state1;
    while let Some(parent) = machine.states.at(at).parent {
        if parent == state2 {
            return true;
        }
        at = parent;
    }
    false
}

/// Appendix D, `getProperAncestors(state1, state2)`: the states around `state1`, innermost first, up to `state2`, which
/// isn't among them. Without `state2` all of them, the root last. None if `state2` isn't around `state1`.
pub(super) fn get_proper_ancestors(
    machine: &Machine,
    state1: Handle<State>,
    state2: Option<Handle<State>>,
) -> Vec<Handle<State>> {
    let mut ancestors = Vec::new();
    let mut at = state1;
    while let Some(parent) = machine.states.at(at).parent {
        if Some(parent) == state2 {
            return ancestors;
        }
        ancestors.push(parent);
        at = parent;
    }
    if state2.is_some() {
        return Vec::new();
    }
    ancestors
}

/// Appendix D, `getChildStates(state1)`: the children that can be active, so not its histories.
pub(super) fn get_child_states(machine: &Machine, state1: Handle<State>) -> Vec<Handle<State>> {
    let mut children = machine.states.at(state1).children.clone();
    children.retain(|&child| !is_history(machine, child));
    children
}

pub(super) fn is_history(machine: &Machine, state: Handle<State>) -> bool {
    let kind = machine.states.at(state).kind;
    kind == StateKind::History || kind == StateKind::DeepHistory
}

/// SCXML's atomic states: those without children, final ones too.
pub(super) fn is_atomic(machine: &Machine, state: Handle<State>) -> bool {
    !is_history(machine, state) && get_child_states(machine, state).is_empty()
}

pub(super) fn is_compound(machine: &Machine, state: Handle<State>) -> bool {
    machine.states.at(state).kind == StateKind::Compound
}

pub(super) fn is_parallel(machine: &Machine, state: Handle<State>) -> bool {
    machine.states.at(state).kind == StateKind::Parallel
}

pub(super) fn is_final(machine: &Machine, state: Handle<State>) -> bool {
    machine.states.at(state).kind == StateKind::Final
}

/// Appendix D, `findLCCA(stateList)`: the *least common compound ancestor*, the innermost compound state (or the root)
/// around the first of the states that all the others lie in.
pub(super) fn find_lcca(machine: &Machine, state_list: &[Handle<State>]) -> Handle<State> {
    for ancestor in get_proper_ancestors(machine, state_list[0], None) {
        if !is_compound(machine, ancestor) {
            continue;
        }
        let mut others = state_list[1..].iter();
        if others.all(|&state| is_descendant(machine, state, ancestor)) {
            return ancestor;
        }
    }
    // In SCXML the root has no transitions; here they stay inside it.
    machine.root()
}

impl<H: Host> Interpreter<'_, H> {
    /// Appendix D, `isInFinalState(s)`: a compound state is if its final child is active, a parallel one if all its
    /// regions are.
    pub(super) fn is_in_final_state(&self, s: Handle<State>) -> bool {
        let children = get_child_states(self.machine, s);
        if is_compound(self.machine, s) {
            let done = |&child: &Handle<State>| {
                is_final(self.machine, child) && self.configuration.contains(&child)
            };
            children.iter().any(done)
        } else if is_parallel(self.machine, s) {
            children
                .into_iter()
                .all(|child| self.is_in_final_state(child))
        } else {
            false
        }
    }

    /// Appendix D, `getTransitionDomain(t)`: the compound state inside of which all happens that the transition does.
    /// None for a transition without targets.
    ///
    /// Not as there: the targets are taken as they are, a history by its place. Appendix D looks at its effective states,
    /// which may lie so deep in the source's surroundings that a state between them and the history is entered without
    /// having been left.
    pub(super) fn get_transition_domain(&self, t: &Transition) -> Option<Handle<State>> {
        if t.targets.is_empty() {
            return None;
        }
        let inside = |&state: &Handle<State>| is_descendant(self.machine, state, t.source);
        if t.internal && is_compound(self.machine, t.source) && t.targets.iter().all(inside) {
            return Some(t.source);
        }
        let mut state_list = vec![t.source];
        state_list.extend(&t.targets);
        Some(find_lcca(self.machine, &state_list))
    }

    /// Appendix D, `getEffectiveTargetStates(transition)`: the targets, with what is recorded in place of a history, or
    /// where its default transition leads.
    pub(super) fn get_effective_target_states(
        &self,
        targets: &[Handle<State>],
    ) -> BTreeSet<Handle<State>> {
        let mut effective = BTreeSet::new();
        for &target in targets {
            if !is_history(self.machine, target) {
                effective.insert(target);
            } else if let Some(recorded) = self.history_value.get(&target) {
                effective.extend(recorded);
            } else {
                let default = self.machine.states.at(target).initial.as_ref().unwrap();
                effective.extend(self.get_effective_target_states(&default.targets));
            }
        }
        effective
    }
}
