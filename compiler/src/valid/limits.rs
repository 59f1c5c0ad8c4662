//! Whether a machine fits into a table. The numbers are the runtime's, and so are their reasons.

use statemark_runtime as runtime;

use crate::diag::Diags;
use crate::ir::Machine;
use crate::report::machine_too_large::machine_too_large;

/// Reports each limit that is passed.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    let counts = [
        ("states", machine.states.len(), runtime::MAX_STATES),
        (
            "transitions",
            machine.transitions.len(),
            runtime::MAX_TRANSITIONS,
        ),
        ("events", machine.events.len(), runtime::MAX_EVENTS),
        ("actions", machine.actions.len(), runtime::MAX_NAMES),
        ("guards", machine.guards.len(), runtime::MAX_NAMES),
        ("fields", machine.fields.len(), runtime::MAX_NAMES),
    ];
    for (what, count, most) in counts {
        if count > most {
            let text = format!("{count} {what}, more than the {most} that a table holds");
            diags.push(machine_too_large(&text, machine.span));
        }
    }
    let mut nested_too_deep = false;
    for (handle, state) in machine.states.iter() {
        // The root is no level: its children are at depth 1.
        let depth = machine.ancestry(handle).count() - 1;
        if depth > runtime::MAX_DEPTH && !nested_too_deep {
            nested_too_deep = true;
            let text = format!("states nested more than {} deep", runtime::MAX_DEPTH);
            diags.push(machine_too_large(&text, state.span));
        }
        let initial = state.initial.iter().map(|initial| initial.actions.len());
        for count in initial.chain([state.entry.len(), state.exit.len()]) {
            check_calls(count, state.span, diags);
        }
    }
    for (_, transition) in machine.transitions.iter() {
        check_calls(transition.actions.len(), transition.span, diags);
    }
}

fn check_calls(count: usize, span: crate::source::Span, diags: &mut Diags) {
    if count > runtime::MAX_CALLS {
        let text = format!(
            "{count} actions in one list, more than {}",
            runtime::MAX_CALLS
        );
        diags.push(machine_too_large(&text, span));
    }
}
