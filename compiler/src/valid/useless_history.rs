//! SM333: a history with nothing to remember.

use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Machine, State, StateKind};

/// Reports histories that always lead to the same states: there is one configuration that they could have recorded.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    for (_, history) in machine.named_states() {
        let Some(parent) = history.parent.filter(|_| history.kind.is_history()) else {
            continue;
        };
        let deep = history.kind == StateKind::DeepHistory;
        if !chooses(machine, parent, deep) {
            diags.push(useless_history(machine, history, parent, deep));
        }
    }
}

/// Whether a state can be left in more than one way that its history tells apart.
fn chooses(machine: &Machine, parent: Handle<State>, deep: bool) -> bool {
    let last = if deep {
        machine.states.at(parent).end
    } else {
        parent.index() + 1
    };
    let mut states = (parent.index()..last).map(|index| machine.states.at(Handle::at(index)));
    states.any(|state| {
        let children = state.children.iter();
        let real = children.filter(|&&child| !machine.states.at(child).kind.is_history());
        state.kind == StateKind::Compound && real.count() > 1
    })
}

fn useless_history(
    machine: &Machine,
    history: &State,
    parent: Handle<State>,
    deep: bool,
) -> Diagnostic {
    let around = machine.states.at(parent);
    let message = format!("`{}` has nothing to remember", history.id);
    let diagnostic = Diagnostic::new(Code::UselessHistory, history.span, message);
    if around.kind == StateKind::Parallel && !deep {
        let note = "a shallow history remembers which child was active, and in a parallel state all regions always are";
        let help = format!("remember what was active inside them: `{}[H*]`", around.id);
        return diagnostic
            .label("always begins every region anew")
            .note(note)
            .help(help);
    }
    diagnostic
        .label(format!("always the same state of `{}`", around.id))
        .help(format!("lead to `{}` itself", around.id))
}
