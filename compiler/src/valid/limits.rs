//! SM313: a machine that doesn't fit into a table. The limits and their reasons are the runtime's.

use statemark_runtime as runtime;

use crate::diag::{Diags, SMALLER_EXPRESSION, machine_too_large, part_too_large};
use crate::ir::{ActionKind, Machine};
use crate::pass::program::{self, Size};
use crate::source::Span;

/// Reports each limit that a machine exceeds.
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
        ("timers", machine.timers.len(), runtime::MAX_NAMES),
    ];
    for (what, count, most) in counts {
        if count > most {
            let text = format!("{count} {what}, more than the {most} that a table holds");
            diags.push(machine_too_large(&text, machine.span));
        }
    }
    for (_, guard) in machine.guards.iter() {
        let (bytes, most) = (guard.text.len(), runtime::MAX_CLAIM_BYTES);
        if guard.is_claim && bytes > most {
            let text = format!("a guard of {bytes} bytes that nothing defines, more than {most}");
            let help = "name the guard in fewer words";
            diags.push(part_too_large(&text, guard.span, help));
        }
    }
    let mut nested_too_deep = false;
    for (handle, state) in machine.states.iter() {
        // The root isn't a level: its children are at depth 1.
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
    check_programs(machine, diags);
}

/// Checks the length and depth of fields, guards, conditions and assignments.
fn check_programs(machine: &Machine, diags: &mut Diags) {
    for (_, field) in machine.fields.iter() {
        let (keys, most) = (field.path.split('.').count(), runtime::MAX_DATUM_DEPTH);
        if keys > most {
            let text = format!("a field nested {keys} deep, more than {most}");
            let help = "keep the value in a field with a shorter path";
            diags.push(part_too_large(&text, field.span, help));
        }
    }
    for (_, transition) in machine.transitions.iter() {
        if let Some(guard) = &transition.guard {
            check_program(program::expression_size(&guard.value), guard.span, diags);
        }
    }
    for (_, action) in machine.actions.iter() {
        match &action.kind {
            ActionKind::If { guard, .. } => {
                check_program(program::expression_size(guard), action.span, diags);
            }
            ActionKind::Assign(assigns) => {
                for assign in assigns {
                    let size = program::expression_size(&assign.value);
                    check_program(size, assign.value.span, diags);
                }
                if assigns.len() > runtime::MAX_ASSIGNS {
                    let (count, most) = (assigns.len(), runtime::MAX_ASSIGNS);
                    let text = format!("{count} fields assigned by one action, more than {most}");
                    let help = "let several actions assign them";
                    diags.push(part_too_large(&text, action.span, help));
                }
            }
            _ => {}
        }
    }
}

fn check_program(size: Size, span: Span, diags: &mut Diags) {
    if size.length > runtime::MAX_PROGRAM {
        let most = runtime::MAX_PROGRAM;
        let text = format!("an expression of {} parts, more than {most}", size.length);
        diags.push(part_too_large(&text, span, SMALLER_EXPRESSION));
    } else if size.depth > runtime::MAX_LEVELS {
        let most = runtime::MAX_LEVELS;
        let text = format!("an expression nested {} deep, more than {most}", size.depth);
        diags.push(part_too_large(&text, span, SMALLER_EXPRESSION));
    }
}

fn check_calls(count: usize, span: Span, diags: &mut Diags) {
    if count > runtime::MAX_CALLS {
        let text = format!(
            "{count} actions in one list, more than {}",
            runtime::MAX_CALLS
        );
        let help = "do the same in fewer actions, or in several states one after the other";
        diags.push(part_too_large(&text, span, help));
    }
}
