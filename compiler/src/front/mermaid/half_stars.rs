//! A `[*]` that lacks a bracket, as in `paid --> [*`: Mermaid takes it for a state of that name.

use super::ast::{Body, Diagram, Endpoint, EndpointKind, StatementKind};
use super::report::stray_words;
use crate::diag::Diags;

/// Whether a state is called like a `[*]` without one of its brackets, or without its star.
fn is_half_star(id: &str) -> bool {
    matches!(id, "[*" | "*]" | "*" | "[]")
}

/// Reports each of them at the ends of transitions.
pub(super) fn check(diagram: &Diagram, diags: &mut Diags) {
    body(&diagram.body, diags);
}

/// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn body(inner: &Body, diags: &mut Diags) {
    for statement in &inner.statements {
        match &statement.kind {
            StatementKind::Transition(transition) => {
                endpoint(&transition.source, "start", diags);
                endpoint(&transition.target, "end", diags);
            }
            StatementKind::Declaration(declaration) => {
                if let Some(inner) = &declaration.body {
                    body(inner, diags);
                }
            }
            _ => {}
        }
    }
}

fn endpoint(endpoint: &Endpoint, place: &str, diags: &mut Diags) {
    if let EndpointKind::Id(id) = &endpoint.target
        && is_half_star(id)
    {
        diags.push(stray_words::half_star(endpoint.span, id, place));
    }
}
