//! Changes within a row that make a machine simpler.
//!
//! They are numbered in the order in which they are found, so that each can be tried alone.

use statemark_compiler::ir::{Action, ActionKind, Machine, State, Transition};

/// How many changes are left, and how far the one that is wanted.
struct Countdown(usize);

impl Countdown {
    /// Whether it is this one.
    fn hits(&mut self) -> bool {
        match self.0.checked_sub(1) {
            None => true,
            Some(left) => {
                self.0 = left;
                false
            }
        }
    }

    /// Whether it is to leave out one of these, which is done.
    fn drops<T>(&mut self, list: &mut Vec<T>) -> bool {
        let Some(left) = self.0.checked_sub(list.len()) else {
            list.remove(self.0);
            return true;
        };
        self.0 = left;
        false
    }

    /// The same, but one stays.
    fn thins<T>(&mut self, list: &mut Vec<T>) -> bool {
        list.len() > 1 && self.drops(list)
    }

    /// Whether it is to put one of these in its place, which is done.
    fn replaces<T>(&mut self, place: &mut T, others: Vec<T>) -> bool {
        for other in others {
            if self.hits() {
                *place = other;
                return true;
            }
        }
        false
    }
}

/// The machine with the change of that number made. None past the last.
pub(super) fn simpler(machine: &Machine, number: usize) -> Option<Machine> {
    let mut smaller = machine.clone();
    let mut left = Countdown(number);
    let states = machine.states.handles();
    let transitions = machine.transitions.handles();
    let actions = machine.actions.handles();
    let found = states
        .into_iter()
        .any(|at| in_state(smaller.states.at_mut(at), &mut left))
        || transitions
            .into_iter()
            .any(|at| in_transition(smaller.transitions.at_mut(at), &mut left))
        || actions
            .into_iter()
            .any(|at| in_action(smaller.actions.at_mut(at), &mut left));
    found.then_some(smaller)
}

fn in_state(state: &mut State, left: &mut Countdown) -> bool {
    left.drops(&mut state.entry)
        || left.drops(&mut state.exit)
        || state.initial.as_mut().is_some_and(|initial| {
            left.drops(&mut initial.actions) || left.thins(&mut initial.targets)
        })
}

fn in_transition(transition: &mut Transition, left: &mut Countdown) -> bool {
    if left.drops(&mut transition.actions)
        || left.thins(&mut transition.targets)
        || left.thins(&mut transition.triggers)
    {
        return true;
    }
    let Some(guard) = &mut transition.guard else {
        return false;
    };
    if left.hits() {
        transition.guard = None;
        return true;
    }
    let parts = guard.value.parts().to_vec();
    left.replaces(&mut guard.value, parts)
}

fn in_action(action: &mut Action, left: &mut Countdown) -> bool {
    if action.kind != ActionKind::Host && left.hits() {
        action.kind = ActionKind::Host;
        return true;
    }
    match &mut action.kind {
        ActionKind::If {
            guard,
            then,
            otherwise,
        } => {
            let parts = guard.parts().to_vec();
            left.drops(then) || left.drops(otherwise) || left.replaces(guard, parts)
        }
        ActionKind::Assign(assigns) => {
            left.thins(assigns)
                || assigns.iter_mut().any(|assign| {
                    let inner = assign.value.parts().to_vec();
                    left.replaces(&mut assign.value, inner)
                })
        }
        _ => false,
    }
}
