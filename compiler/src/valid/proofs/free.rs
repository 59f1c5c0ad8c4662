//! A machine whose guards answer freely: what can be explored without knowing any data.
//!
//! Each guard, of a transition or of a conditional action, becomes a question of its own to the host, so that whoever
//! plays host decides them one by one. An assignment asks one field, whose value the host gives or withholds; where its
//! failure raises no event it isn't asked at all. All else steps as it does in the machine: the ids are the same.

use statemark_runtime::{Table, verify};

use crate::arena::Arena;
use crate::back::table;
use crate::ir::{
    ActionKind, Assign, EventKind, Expression, ExpressionKind, Guard, HostGuard, Machine, Meta,
};
use crate::source::Span;

/// The table of the machine with free guards. `None` where a table can't hold as many questions.
pub(super) fn free(machine: &Machine) -> Option<Table> {
    let mut freed = bare(machine);
    let mut questions = Arena::new();
    let mut ask = |span: Span| {
        let name = format!("q{}", questions.len());
        let text = name.clone();
        Guard::Ask(questions.append(HostGuard { name, text, span }))
    };
    for handle in machine.transitions.handles() {
        if let Some(guard) = &mut freed.transitions.at_mut(handle).guard {
            guard.value = ask(guard.span);
        }
    }
    let faults = machine
        .events
        .iter()
        .any(|(_, event)| event.kind == EventKind::Fault);
    for handle in machine.actions.handles() {
        let action = freed.actions.at_mut(handle);
        let span = action.span;
        match &mut action.kind {
            ActionKind::If { guard, .. } => *guard = ask(span),
            ActionKind::Assign(assigns) => {
                action.kind = match assigns.first() {
                    Some(assign) if faults => ActionKind::Assign(vec![Assign {
                        field: assign.field,
                        value: Expression {
                            span,
                            kind: ExpressionKind::Field(assign.field),
                        },
                    }]),
                    _ => ActionKind::Host,
                };
            }
            _ => {}
        }
    }
    freed.guards = questions;
    verify(table::rows(&freed)).ok()
}

/// The machine without what only hosts and people read.
fn bare(machine: &Machine) -> Machine {
    let mut bare = machine.clone();
    bare.meta = Meta::new();
    bare.notes.clear();
    bare.interrupts.clear();
    bare.context = None;
    bare.context_schema = None;
    for handle in machine.states.handles() {
        let state = bare.states.at_mut(handle);
        state.meta = Meta::new();
        state.instructions = None;
    }
    for handle in machine.transitions.handles() {
        let transition = bare.transitions.at_mut(handle);
        transition.meta = Meta::new();
        transition.label = None;
    }
    for handle in machine.events.handles() {
        bare.events.at_mut(handle).data = None;
    }
    for handle in machine.actions.handles() {
        bare.actions.at_mut(handle).meta = Meta::new();
    }
    bare
}
