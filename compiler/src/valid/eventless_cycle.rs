//! SM403: transitions that follow each other without an event, for ever.

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{ActionKind, Machine, State, StateKind, Transition};

/// Reports cycles of eventless transitions without a guard: the machine would never come to rest.
///
/// In each leaf at most one such transition counts, the innermost first one, so the leaves form chains. Within a parallel
/// state other regions may move, too, so nothing is claimed there, nor of what history remembers.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    let mut seen: Vec<u32> = vec![0; machine.states.len()];
    let mut round = 0_u32;
    for (start, _) in machine.leaves() {
        round += 1;
        let mut path: Vec<(Handle<State>, &Transition)> = Vec::new();
        let mut leaf = start;
        while let Some((transition, next)) = step(machine, leaf) {
            let Some(mark) = seen.get_mut(leaf.index()) else {
                break;
            };
            if *mark == round {
                let cycle_start = path.iter().position(|(at, _)| *at == leaf).unwrap_or(0);
                diags.push(cycle(machine, path.get(cycle_start..).unwrap_or(&[])));
                break;
            }
            if *mark != 0 {
                break;
            }
            *mark = round;
            path.push((leaf, transition));
            leaf = next;
        }
    }
}

/// The eventless transition without a guard that is taken in a leaf, and the leaf where it ends.
///
/// None if it assigns and one with a guard comes before it: such a transition counts, and the guard ends it.
fn step(machine: &Machine, leaf: Handle<State>) -> Option<(&Transition, Handle<State>)> {
    let is_parallel = |state| machine.states.at(state).kind == StateKind::Parallel;
    if machine.ancestry(leaf).any(is_parallel) {
        return None;
    }
    let eventless = || {
        machine
            .ancestry(leaf)
            .flat_map(|state| machine.transitions_of(state))
            .map(|(_, transition)| transition)
            .filter(|transition| transition.triggers.is_empty())
    };
    let transition = eventless().find(|transition| transition.guard.is_none())?;
    let mut actions = transition.actions.iter();
    let counts = actions.any(|&action| {
        let kind = &machine.actions.at(action).kind;
        matches!(kind, ActionKind::Assign(_) | ActionKind::If { .. })
    });
    if counts
        && eventless()
            .next()
            .is_some_and(|first| first.guard.is_some())
    {
        return None;
    }
    let next = match transition.targets.as_slice() {
        &[target] => machine.default_leaf(target)?,
        [] => leaf,
        _ => return None,
    };
    Some((transition, next))
}

fn cycle(machine: &Machine, path: &[(Handle<State>, &Transition)]) -> Diagnostic {
    let names: Vec<&str> = path
        .iter()
        .map(|(leaf, _)| machine.states.at(*leaf).id.as_str())
        .collect();
    let span = path
        .first()
        .map_or(machine.span, |(_, transition)| transition.span);
    let message = format!("the machine never comes to rest in {}", quoted_list(&names));
    let mut diagnostic = Diagnostic::new(Code::EventlessCycle, span, message)
        .label("taken at once, without an event")
        .help("give one of these transitions an event or a guard");
    for (_, transition) in path.iter().skip(1).take(4) {
        diagnostic = diagnostic.related(transition.span, "then this one");
    }
    diagnostic
}
