//! SM403: transitions that follow each other without an event, for ever.

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{Machine, State, StateKind, Transition};

/// Reports cycles of eventless transitions without a guard that are first in line: the machine would never come to rest.
///
/// In each leaf at most one such transition counts, the innermost first one, so the leaves form chains. Where one with a
/// guard is asked before it, an action on the way round may change what that guard sees, and the host's answer may change
/// anyway: nothing is certain then, and the bound on steps covers it. Within a parallel state other regions may move,
/// too, so nothing is claimed there, nor of what history remembers.
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

/// The eventless transition that is taken in a leaf whatever anybody says, and the leaf where it ends.
fn step(machine: &Machine, leaf: Handle<State>) -> Option<(&Transition, Handle<State>)> {
    let is_parallel = |state| machine.states.at(state).kind == StateKind::Parallel;
    let row = machine.states.at(leaf);
    let has_ended = row.kind == StateKind::Final && row.parent == Some(machine.root());
    if has_ended || machine.ancestry(leaf).any(is_parallel) {
        return None;
    }
    let transition = machine
        .ancestry(leaf)
        .flat_map(|state| machine.transitions_of(state))
        .map(|(_, transition)| transition)
        .find(|transition| transition.triggers.is_empty())
        .filter(|transition| transition.guard.is_none())?;
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

#[cfg(test)]
mod tests {
    use crate::diag::Code;
    use crate::source::Sources;
    use crate::{Options, compile};

    #[test]
    fn only_a_certain_circle_is_refused() {
        for (expected, diagram) in [
            (true, "a --> b : [else]\nb --> a : [else]"),
            // A guard stands before it, and what it reads may change on the way round.
            (
                false,
                "a --> c : [x > 3]\na --> b : [else]\nb --> a : [else]",
            ),
            (false, "a --> c : [over]\na --> a : [else]"),
            (true, "a --> b : [else]\nb --> a : [else]\na --> c : go"),
        ] {
            let mut sources = Sources::new();
            let text = format!("stateDiagram-v2\n[*] --> a\n{diagram}\nc --> [*] : done\n");
            sources.add("spec.mmd", text);
            let compiled = compile(&sources, &Options::default());
            let mut all = compiled.diagnostics.iter();
            let found = all.any(|diagnostic| diagnostic.code == Code::EventlessCycle);
            assert_eq!(found, expected, "{diagram}");
        }
    }
}
