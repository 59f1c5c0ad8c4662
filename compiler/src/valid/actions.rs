//! Checks of actions: where what a spec says of them means nothing.

use serde_json::Value;

use super::data::holds_callers;
use super::{Check, Subject};
use crate::diag::{Code, Diagnostic, Diags, quoted_list};
use crate::ir::{Action, ActionKind};
use crate::source::Span;

pub(super) const CHECKS: &[Check] = &[Check::Behavior(failing_effects)];

/// The keys of actions that only runs read.
const OF_RUNS: [&str; 2] = ["compensate", "idempotent"];

/// Reports SM605: actions that can fail, of a machine that is made for runs.
///
/// It is made for them if it holds its callers to anything, or if the action itself has a key of runs.
fn failing_effects(subject: &Subject<'_>, diags: &mut Diags) {
    let machine = subject.machine;
    let actions = machine.actions.iter().map(|(_, action)| action);
    let mut failing = actions
        .filter(|action| action.kind == ActionKind::Fallible)
        .peekable();
    if failing.peek().is_none() {
        return;
    }
    let is_workflow = holds_callers(machine);
    let is_set = |action: &Action, key: &str| {
        let value = action.meta.get(key);
        value.is_some_and(|value| *value != Value::Bool(false))
    };
    let of_runs = |action: &&Action| is_workflow || OF_RUNS.iter().any(|key| is_set(action, key));
    let found: Vec<&Action> = failing.filter(of_runs).collect();
    if let Some(first) = found.first() {
        let names: Vec<&str> = found.iter().map(|action| action.name.as_str()).collect();
        diags.push(failing_effect(&names, first.span));
    }
}

fn failing_effect(names: &[&str], span: Span) -> Diagnostic {
    let names = quoted_list(names);
    let message = format!("in a run {names} can't fail the step");
    Diagnostic::new(Code::FailingEffect, span, message)
        .label("can fail in a program that embeds the machine")
        .note("a run records a step before its effects are carried out, and a failed effect undoes nothing")
        .help(
            "draw an event for the failure, or name an action that takes it back (`compensate`)",
        )
}
