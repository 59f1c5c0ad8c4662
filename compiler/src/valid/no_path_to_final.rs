//! SM306: states from which the machine can't end.

use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::Machine;
use crate::pass::reach::Reachability;

/// Reports, in one finding, the leaves that can be active and from which no path leads to the end. Says nothing of a
/// machine that has no end at all.
pub(super) fn check(machine: &Machine, reach: &Reachability, diags: &mut Diags) {
    let stuck: Vec<_> = reach
        .without_end(machine)
        .into_iter()
        .map(|leaf| machine.states.at(leaf))
        .collect();
    // The end inside a compound state has no name; it counts only where nothing else is stuck.
    let named: Vec<_> = stuck
        .iter()
        .copied()
        .filter(|state| !state.implied)
        .collect();
    let Some(first) = named.first().or(stuck.first()) else {
        return;
    };
    if named.is_empty() {
        let around = first
            .parent
            .map_or("", |parent| machine.states.at(parent).id.as_str());
        diags.push(
            Diagnostic::new(
                Code::NoPathToFinal,
                first.span,
                format!("once `{around}` is done, no path leads to the end"),
            )
            .label(format!("`{around}` is done here"))
            .help(format!(
                "lead on from `{around}`: a transition without a label is taken when it is done"
            )),
        );
        return;
    }
    let stuck = &named;
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
