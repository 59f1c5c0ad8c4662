//! Ids and texts that Mermaid can parse again.

use crate::arena::Handle;
use crate::front::mermaid::ids::{is_keyword, is_plain_id};
use crate::front::words::slug;
use crate::ir::{Machine, State, StateKind};

/// Returns an id that Mermaid can parse again.
///
/// An id with a character that would end it is written as an identifier, and one without any letter by its number.
pub(super) fn diagram_id(machine: &Machine, state: Handle<State>) -> String {
    let row = machine.states.at(state);
    if row.kind.is_history() {
        let mark = match row.kind {
            StateKind::DeepHistory => "[H*]",
            _ => "[H]",
        };
        let parent = row.parent.filter(|&parent| !is_region(machine, parent));
        let composite = parent.map_or_else(String::new, |parent| diagram_id(machine, parent));
        return format!("{composite}{mark}");
    }
    let id = &row.id;
    if is_keyword(id) {
        return format!("{id}_");
    }
    if is_plain_id(id) {
        return id.to_owned();
    }
    match slug(&id.replace('-', "_")) {
        name if name.is_empty() => format!("state_{}", state.index()),
        name => name,
    }
}

/// Escapes a text for a description or a note.
///
/// A `;` would end the statement, and a text like an entity would be read as one.
pub(super) fn text(text: &str) -> String {
    if text.contains(';') {
        text.replace('#', "#35\u{0}")
            .replace(';', "#59;")
            .replace('\u{0}', ";")
    } else {
        text.to_owned()
    }
}

/// Reports whether a state is a region without a name, which is a part of its parent's body.
pub(super) fn is_region(machine: &Machine, state: Handle<State>) -> bool {
    let row = machine.states.at(state);
    let outer = row.parent.map(|parent| machine.states.at(parent).kind);
    row.implied && row.kind.has_children() && outer == Some(StateKind::Parallel)
}
