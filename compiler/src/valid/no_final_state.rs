//! SM308: a workflow that never ends.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Machine, StateKind};

/// Reports a workflow (a machine with a definition) without a final state. A diagram alone may well be a controller that
/// runs for ever.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    let Some(definition) = machine.parts.definition else {
        return;
    };
    let ends = machine
        .states
        .iter()
        .any(|(_, state)| state.kind == StateKind::Final && state.parent == Some(machine.root()));
    if !ends {
        let place = machine
            .parts
            .diagram
            .map_or(definition.before(), |_| machine.span);
        diags.push(
            Diagnostic::new(Code::NoFinalState, place, format!("workflow `{}` has no end", machine.id.value))
                .label("nothing in it leads to an end")
                .help("lead to `[*]` in the diagram, or give a state `\"type\": \"final\"` in the definition"),
        );
    }
}
