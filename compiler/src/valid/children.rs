//! Checks of states that run another workflow.

use serde_json::Value;

use super::{Check, Subject};
use crate::arena::Handle;
use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::{Machine, State, Transition};
use crate::source::Span;

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[Check::Behavior(unhandled_failures)];

/// The key of a state that names the workflow.
const INVOKE: &str = "invoke";

/// The event by which that has ended well.
const DONE: &str = "done";

/// Reports whether a state runs another workflow.
pub(super) fn invokes(machine: &Machine, state: Handle<State>) -> bool {
    machine.states.at(state).meta.contains_key(INVOKE)
}

/// Reports SM619: states that nothing leaves if the workflow that they invoke fails.
///
/// Any other event that leads out is a way on: whoever looks after the run sends it.
fn unhandled_failures(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    if machine.is_embedded {
        return;
    }
    for (handle, state) in machine.states.iter() {
        let Some(workflow) = state.meta.get(INVOKE).and_then(Value::as_str) else {
            continue;
        };
        let exits = machine.transitions.iter().map(|(_, it)| it);
        let exits = exits.filter(|it| leads_out(machine, it, handle));
        let (done, others): (Vec<_>, Vec<_>) = exits.partition(|it| is_done(machine, it));
        if let Some(done) = done.first()
            && others.is_empty()
        {
            diags.push(unhandled_failure(workflow, state.span, done.span));
        }
    }
}

/// Reports whether a transition of a state, or of one around or in it, leads out of the state.
fn leads_out(machine: &Machine, transition: &Transition, state: Handle<State>) -> bool {
    let source = transition.source;
    let is_near = machine.is_within(source, state) || machine.is_within(state, source);
    let mut targets = transition.targets.iter();
    is_near && !targets.all(|target| machine.is_within(*target, state))
}

/// Reports whether nothing but the good end of the workflow has a transition taken.
fn is_done(machine: &Machine, transition: &Transition) -> bool {
    let mut triggers = transition.triggers.iter();
    !transition.triggers.is_empty() && triggers.all(|it| machine.events.at(*it).id == DONE)
}

fn unhandled_failure(workflow: &str, span: Span, done: Span) -> Diagnostic {
    let message = format!("nothing leads on if `{workflow}` fails");
    Diagnostic::new(Code::UnhandledFailure, span, message)
        .label("invokes it")
        .related(done, "leads on if it has ended well")
        .note("a run that somebody cancels has failed, too; the one that waits for it then stands still until somebody rewinds it or sets its state")
        .help("draw a transition for `error`, or set `on_error` of `invoke`")
}
