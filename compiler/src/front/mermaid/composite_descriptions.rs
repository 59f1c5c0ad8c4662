//! Composites with more than one text.
//!
//! A composite's first text is its title. For a second one Mermaid, after it has read everything, throws "Group nodes can
//! only have label".

use std::collections::BTreeMap;

use super::ast::{Body, Diagram, EndpointKind, StatementKind};
use super::report::composite_description;
use crate::diag::Diags;
use crate::source::Span;

/// Reports each text of a composite but its first.
pub(super) fn check(diagram: &Diagram, diags: &mut Diags) {
    let mut composites = BTreeMap::new();
    composites_of(&diagram.body, &mut composites);
    if composites.is_empty() {
        return;
    }
    let mut texts = Vec::new();
    texts_of(&diagram.body, &mut texts);
    let mut first = BTreeMap::new();
    for (id, span) in texts {
        let Some(&composite) = composites.get(id) else {
            continue;
        };
        match first.get(id) {
            None => {
                first.insert(id, span);
            }
            Some(&before) => {
                diags.push(composite_description::second(span, before, composite, id));
            }
        }
    }
}

/// Where each composite is named first. Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn composites_of<'d>(body: &'d Body, found: &mut BTreeMap<&'d str, Span>) {
    for statement in &body.statements {
        if let StatementKind::Declaration(declaration) = &statement.kind
            && let Some(inner) = &declaration.body
        {
            found
                .entry(&declaration.id.value)
                .or_insert(declaration.id.span);
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
            StatementKind::Declaration(declaration) => {
                if let Some(title) = &declaration.title
                    && !title.value.is_empty()
                {
                    found.push((&declaration.id.value, title.span));
                }
                if let Some(inner) = &declaration.body {
                    texts_of(inner, found);
                }
            }
            _ => {}
        }
    }
}
