//! Ids and texts as Mermaid can read them back.

use super::is_region;
use crate::arena::Handle;
use crate::front::words::slug;
use crate::ir::{Machine, State, StateKind};

/// The id as Mermaid can read it back: one with a character that ends an id is written as an identifier, one without any
/// letter by its number.
pub(super) fn diagram_id(machine: &Machine, state: Handle<State>) -> String {
    let row = machine.states.at(state);
    if row.kind.is_history() {
        let mark = match row.kind {
            StateKind::DeepHistory => "[H*]",
            _ => "[H]",
        };
        let around = row.parent.filter(|&parent| !is_region(machine, parent));
        let composite = around.map_or_else(String::new, |parent| diagram_id(machine, parent));
        return format!("{composite}{mark}");
    }
    let id = &row.id;
    const KEYWORDS: [&str; 13] = [
        "acctitle",
        "accdescr",
        "state",
        "note",
        "class",
        "classdef",
        "style",
        "scale",
        "click",
        "href",
        "default",
        "statediagram",
        "statediagram-v2",
    ];
    let plain = !id.is_empty()
        && id.chars().all(|c| !c.is_whitespace() && !":-{".contains(c))
        && !id.starts_with(['#', '"', '}'])
        && !id.contains("%%")
        && !begins_with_keyword(id)
        && id != "[*]";
    if KEYWORDS.contains(&id.to_ascii_lowercase().as_str()) {
        return format!("{id}_");
    }
    if plain {
        return id.to_owned();
    }
    match slug(&id.replace('-', "_")) {
        name if name.is_empty() => format!("state_{}", state.index()),
        name => name,
    }
}

/// Whether Mermaid's lexer takes the beginning of an id for a keyword: its rules for these end at a word's end, and come
/// before the rule for ids.
fn begins_with_keyword(id: &str) -> bool {
    let lower = id.to_ascii_lowercase();
    ["click", "href", "default"].iter().any(|keyword| {
        let rest = lower.strip_prefix(keyword);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

/// A text for a description or a note: a `;` would end the statement there, and what looks like an entity would be read as
/// one.
pub(super) fn text(text: &str) -> String {
    if text.contains(';') {
        text.replace('#', "#35\u{0}")
            .replace(';', "#59;")
            .replace('\u{0}', ";")
    } else {
        text.to_owned()
    }
}
