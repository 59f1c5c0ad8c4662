//! Declarations that Mermaid drops.
//!
//! A lone `state x` matters only where nothing else names `x`, because Mermaid then doesn't draw the state. A title
//! after it is lost in any case.

use std::collections::BTreeSet;

use super::ast::{Body, Diagram, Endpoint, EndpointKind, StatementKind};
use super::messages::quote;
use crate::diag::{Code, Diagnostic, Diags};
use crate::source::Span;

/// A declaration that Mermaid drops.
#[derive(Debug)]
pub(super) struct Bare {
    /// The state.
    pub(super) id: String,
    /// The whole statement.
    pub(super) span: Span,
    /// `state` and the blanks after it.
    pub(super) keyword: Span,
    /// Set if it has a title, which Mermaid drops.
    pub(super) titled: bool,
    /// Set if Mermaid refuses it because of the `{` on the next line.
    pub(super) refused: bool,
}

/// Reports the declarations that Mermaid drops.
pub(super) fn check(diagram: &Diagram, bare: &[Bare], diags: &mut Diags) {
    if bare.is_empty() {
        return;
    }
    let mut drawn = BTreeSet::new();
    collect_drawn(&diagram.body, &mut drawn);
    for declaration in bare {
        let Bare {
            id,
            span,
            keyword,
            titled,
            refused,
        } = declaration;
        if *refused {
            diags.push(refused_declaration(*span, *keyword, id));
        } else if *titled {
            diags.push(undrawn_title(*span, *keyword, id));
        } else if !drawn.contains(id.as_str()) {
            diags.push(undrawn_declaration(*span, *keyword, id));
        }
    }
}

/// Collects the states that Mermaid draws.
///
/// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn collect_drawn<'d>(body: &'d Body, drawn: &mut BTreeSet<&'d str>) {
    for statement in &body.statements {
        match &statement.kind {
            StatementKind::Mention(state) | StatementKind::Description { state, .. } => {
                drawn.extend(id(state));
            }
            StatementKind::Transition(transition) => {
                drawn.extend(id(&transition.source));
                drawn.extend(id(&transition.target));
            }
            StatementKind::Note(note) if note.left.is_some() => {
                drawn.insert(&note.state.value);
            }
            StatementKind::Declaration(declaration) => {
                let Some(inner) = &declaration.body else {
                    if declaration.stereotype.is_some() {
                        drawn.insert(&declaration.id.value);
                    }
                    continue;
                };
                drawn.insert(&declaration.id.value);
                collect_drawn(inner, drawn);
            }
            StatementKind::Divider
            | StatementKind::Note(_)
            | StatementKind::Direction(_)
            | StatementKind::Drawing(_)
            | StatementKind::Accessibility { .. } => {}
        }
    }
}

fn id(endpoint: &Endpoint) -> Option<&str> {
    match &endpoint.target {
        EndpointKind::Id(id) => Some(id),
        EndpointKind::Star => None,
    }
}

/// Creates an `SM119` diagnostic (`bare-declaration`).
fn bare_declaration(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BareDeclaration, span, message)
}

/// Reports `state x` where nothing else names `x`.
fn undrawn_declaration(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    bare_declaration(span, format!("Mermaid doesn't draw `{id}`"))
        .note("`state name` without braces declares nothing there; here it declares the state")
        .safe_fix(format!("write `{id}` alone"), keyword, "")
}

/// Reports `state x : Title`.
fn undrawn_title(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    bare_declaration(span, format!("Mermaid doesn't show this title of `{id}`"))
        .note("`state name : title` means nothing there; here it gives the title")
        .unsafe_fix(format!("write `{id} : …`"), keyword, "")
}

/// Reports `state x` above a line with a `{`.
fn refused_declaration(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    let message = format!("Mermaid doesn't draw a diagram with `state {id}` here");
    bare_declaration(span, message)
        .note("since 11.16 it takes the word, the next line and its `{` for one name")
        .safe_fix(format!("write `{id}` alone"), keyword, "")
}
