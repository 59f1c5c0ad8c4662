//! Which declarations Mermaid makes nothing of, and whether that shows.
//!
//! `state x` alone matters only where nothing else names `x`: then Mermaid doesn't draw it. A title behind it is lost in
//! any case.

use std::collections::BTreeSet;

use super::ast::{Body, Diagram, Endpoint, EndpointKind, StatementKind};
use super::parse::Bare;
use super::report::bare_declaration;
use crate::diag::Diags;

/// Reports the declarations that Mermaid loses.
pub(super) fn check(diagram: &Diagram, bare: &[Bare], diags: &mut Diags) {
    if bare.is_empty() {
        return;
    }
    let mut drawn = BTreeSet::new();
    collect(&diagram.body, &mut drawn);
    for declaration in bare {
        let Bare {
            id,
            span,
            keyword,
            titled,
            refused,
        } = declaration;
        if *refused {
            diags.push(bare_declaration::refused(*span, *keyword, id));
        } else if *titled {
            diags.push(bare_declaration::untitled(*span, *keyword, id));
        } else if !drawn.contains(id.as_str()) {
            diags.push(bare_declaration::undrawn(*span, *keyword, id));
        }
    }
}

/// The states that Mermaid draws. Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn collect<'d>(body: &'d Body, drawn: &mut BTreeSet<&'d str>) {
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
                collect(inner, drawn);
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
