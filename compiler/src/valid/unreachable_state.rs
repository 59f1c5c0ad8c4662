//! SM304: a state that nothing leads to.

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Machine, State};
use crate::pass::reach::Reachability;

/// Reports states that no configuration holds; of nested ones only the outermost, and none where `told` has said already
/// that it is hardly meant as a state.
pub(super) fn check(machine: &Machine, reach: &Reachability, told: &Diags, diags: &mut Diags) {
    for (handle, state) in machine.named_states() {
        let parent_reached = state.parent.is_none_or(|parent| reach.is_active(parent));
        let is_named = !state.implied && !state.kind.is_history();
        if reach.is_active(handle) || !parent_reached || !is_named || told.covers(state.span) {
            continue;
        }
        diags.push(unreachable_state(machine, handle, state, reach));
    }
}

fn unreachable_state(
    machine: &Machine,
    handle: Handle<State>,
    state: &State,
    reach: &Reachability,
) -> Diagnostic {
    let message = format!("state `{}` can't be reached", state.id);
    let diagnostic = Diagnostic::new(Code::UnreachableState, state.span, message);
    let leads_here = machine.transitions.iter().find(|(_, transition)| {
        let mut targets = transition.targets.iter();
        targets.any(|&target| machine.is_within(target, handle))
            && !machine.is_within(transition.source, handle)
    });
    match leads_here {
        None => diagnostic
            .label("no transition leads here")
            .help("lead to it from a state that can be reached, or remove it"),
        Some((into, transition)) => {
            let source = &machine.states.at(transition.source);
            let why = if reach.is_active(transition.source) && !reach.is_live(into) {
                "this transition can't be taken".to_owned()
            } else {
                format!("`{}` can't be reached either", source.id)
            };
            diagnostic
                .label("the only ways here are never taken")
                .related(transition.span, why)
        }
    }
}
