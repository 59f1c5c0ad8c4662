//! SM306: states from which the machine can't end.

use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{Machine, StateKind};
use crate::pass::reach::Reach;

/// Reports, in one finding, the leaves that can be active and from which no path leads to the end. Says nothing of a
/// machine that has no end at all.
pub(super) fn check(machine: &Machine, reach: &Reach, diags: &mut Diags) {
    let ends = machine.leaves().filter(|&(handle, state)| {
        state.kind == StateKind::Final
            && state.parent == Some(machine.root())
            && reach.is_active(handle)
    });
    let ends: Vec<_> = ends.map(|(handle, _)| handle).collect();
    if ends.is_empty() {
        return;
    }
    let ending = reach.leading_to(ends);
    let stuck: Vec<_> = machine
        .leaves()
        .filter(|(handle, _)| reach.is_active(*handle) && !ending.contains(&handle.index()))
        .map(|(_, state)| state)
        .collect();
    let Some(first) = stuck.first() else { return };
    let names: Vec<&str> = stuck.iter().map(|state| state.id.as_str()).collect();
    let message = format!("no path leads from {} to the end", quoted_list(&names));
    let mut diagnostic = Diagnostic::new(Code::NoPathToFinal, first.span, message)
        .label("from here the machine can't end")
        .help("lead on from one of them to a state that can end");
    for state in stuck.iter().skip(1).take(4) {
        diagnostic = diagnostic.related(state.span, "nor from here");
    }
    diags.push(diagnostic);
}
