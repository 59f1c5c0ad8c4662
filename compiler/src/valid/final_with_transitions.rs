//! SM307: a final state that something leads out of.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Machine, StateKind};

/// Reports transitions of final states: the machine, or the state around, has ended there.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    for (handle, state) in machine
        .leaves()
        .filter(|(_, state)| state.kind == StateKind::Final)
    {
        if let Some((_, transition)) = machine.transitions_of(handle).next() {
            diags.push(
                Diagnostic::new(
                    Code::FinalWithTransitions,
                    transition.span,
                    format!("final state `{}` can't be left", state.id),
                )
                .label("leaves a final state")
                .related(state.span, format!("`{}` is final", state.id))
                .help("remove the transition, or the state's type `final`"),
            );
        }
    }
}
