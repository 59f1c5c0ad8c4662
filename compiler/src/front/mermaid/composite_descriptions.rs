//! Composites with more than one text.
//!
//! A composite's first text is its title. For a second one Mermaid, after it has read everything, throws "Group nodes can
//! only have label". Only what Mermaid takes for a text counts: the title of `state x : Title` does not.

use std::collections::BTreeMap;

use super::ast::{Body, Declaration, Diagram, DrawnAs, EndpointKind, StatementKind};
use super::drawn::{is_crowded, sanitize};
use super::report::composite_description;
use crate::diag::Diags;
use crate::source::Span;

/// The one composite that Mermaid makes no node of: it takes it for the diagram itself.
const ROOT: &str = "root";

/// Reports each text of a composite but its first.
pub(super) fn check(diagram: &Diagram, diags: &mut Diags) {
    let mut composites = BTreeMap::new();
    composites_of(&diagram.body, &mut composites);
    composites.remove(ROOT);
    if composites.is_empty() {
        return;
    }
    let mut texts = Vec::new();
    texts_of(&diagram.body, &mut texts);
    let mut first = BTreeMap::new();
    let mut is_found = false;
    for (id, span) in texts {
        // Each scope has a `[*]` of its own; see below.
        let Some(&composite) = composites.get(id).filter(|_| id != "[*]") else {
            continue;
        };
        // A name that Mermaid has to clean is a text of its own.
        let cleaned = sanitize(id);
        let named = cleaned != *id && !cleaned.is_empty();
        let before = *first
            .entry(id)
            .or_insert(if named { composite } else { span });
        if before != span {
            is_found = true;
            diags.push(composite_description::second(span, before, composite, id));
        }
    }
    let end = composites.iter().find(|(id, _)| may_be_end(id));
    if let Some((id, &composite)) = end
        && !is_found
        && is_crowded(diagram)
    {
        diags.push(composite_description::of_an_end(composite, id));
    }
}

/// Whether a composite may be what Mermaid makes of a `[*]`: a state too, named `scope_start` or `scope_end`.
fn may_be_end(id: &str) -> bool {
    id == "[*]" || id.ends_with("_start") || id.ends_with("_end")
}

/// Where each composite is named first. Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn composites_of<'d>(body: &'d Body, found: &mut BTreeMap<&'d str, Span>) {
    for statement in &body.statements {
        if let StatementKind::Declaration(declaration) = &statement.kind
            && let Some(inner) = &declaration.body
        {
            let id = match &declaration.drawn {
                DrawnAs::Named(name) => name,
                _ => &declaration.id.value,
            };
            found.entry(id).or_insert(declaration.id.span);
            composites_of(inner, found);
        }
    }
}

/// Every text with its state, in the order of writing. Empty texts count for nothing.
fn texts_of<'d>(body: &'d Body, found: &mut Vec<(&'d str, Span)>) {
    for statement in &body.statements {
        match &statement.kind {
            StatementKind::Description { state, text } => {
                if let EndpointKind::Id(id) = &state.target
                    && !text.value.is_empty()
                {
                    found.push((id, text.span));
                }
            }
            StatementKind::Declaration(declaration) => declared(declaration, found),
            _ => {}
        }
    }
}

fn declared<'d>(declaration: &'d Declaration, found: &mut Vec<(&'d str, Span)>) {
    let id = declaration.id.value.as_str();
    let lines = match (&declaration.title, &declaration.drawn) {
        (None, _) | (_, DrawnAs::Nothing | DrawnAs::Named(_)) => [None, None],
        (Some(title), DrawnAs::Written) if title.value.is_empty() => [None, None],
        (Some(title), DrawnAs::Written | DrawnAs::Padded(_)) => [Some(title.span), None],
        (Some(title), DrawnAs::TwoLines) => [Some(title.span), Some(declaration.id.span)],
    };
    found.extend(lines.into_iter().flatten().map(|span| (id, span)));
    if let Some(inner) = &declaration.body {
        texts_of(inner, found);
    }
}
