//! Composites that are mentioned between their own braces.
//!
//! A body owns what it mentions, in Mermaid: `x --> w` inside of `state w {` makes `w` a part of itself, and Mermaid never
//! comes to an end with drawing it. Statemark goes by the braces of `w`.

use std::collections::BTreeMap;

use super::ast::{Body, Diagram, DrawnAs, Endpoint, EndpointKind, Statement, StatementKind};
use super::lines::Lines;
use super::messages::quote;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit};
use crate::source::Span;

/// A composite around a statement.
#[derive(Clone, Copy, Debug)]
struct Around<'d> {
    id: &'d str,
    span: Span,
    name: Span,
    body: &'d Body,
}

/// Reports each statement that mentions a composite in which it stands.
pub(super) fn check(diagram: &Diagram, lines: Lines<'_>, diags: &mut Diags) {
    let mut around = Vec::new();
    body(&diagram.body, &mut around, lines, diags);
}

/// Bodies are at most [`super::parse::MAX_DEPTH`] deep.
fn body<'d>(inner: &'d Body, around: &mut Vec<Around<'d>>, lines: Lines<'_>, diags: &mut Diags) {
    for statement in &inner.statements {
        if !around.is_empty() {
            mentions(statement, &mut |id, span| {
                let found = around.iter().find(|outer| outer.id == id);
                if let Some(&outer) = found {
                    let edits = moved(statement, outer, lines);
                    diags.push(inside_itself(span, id, outer.name, edits));
                }
            });
        }
        if let StatementKind::Declaration(declaration) = &statement.kind
            && let Some(inner) = &declaration.body
        {
            let id = match &declaration.drawn {
                DrawnAs::Named(name) => name,
                _ => &declaration.id.value,
            };
            around.push(Around {
                id,
                span: statement.span,
                name: declaration.id.span,
                body: inner,
            });
            body(inner, around, lines, diags);
            around.pop();
        }
    }
}

/// What a statement names, but for the statements between its own braces.
fn mentions<'d>(statement: &'d Statement, found: &mut impl FnMut(&'d str, Span)) {
    let mut endpoint = |endpoint: &'d Endpoint| {
        if let EndpointKind::Id(id) = &endpoint.target {
            found(id, endpoint.span);
        }
    };
    match &statement.kind {
        StatementKind::Mention(state) | StatementKind::Description { state, .. } => endpoint(state),
        StatementKind::Transition(transition) => {
            endpoint(&transition.source);
            if transition.target.target != transition.source.target {
                endpoint(&transition.target);
            }
        }
        StatementKind::Note(note) if note.left.is_some() => {
            found(&note.state.value, note.state.span);
        }
        StatementKind::Declaration(declaration) if declaration.drawn != DrawnAs::Nothing => {
            found(&declaration.id.value, declaration.id.span);
        }
        _ => {}
    }
}

/// What moves a statement behind the composite, unless something else that it names would leave the composite with it.
fn moved(statement: &Statement, outer: Around<'_>, lines: Lines<'_>) -> Option<Vec<Edit>> {
    let is_star = |endpoint: &Endpoint| endpoint.target == EndpointKind::Star;
    match &statement.kind {
        StatementKind::Transition(it) if is_star(&it.source) || is_star(&it.target) => return None,
        StatementKind::Transition(_)
        | StatementKind::Description { .. }
        | StatementKind::Note(_) => {}
        _ => return None,
    }
    let mut counts = BTreeMap::new();
    count(outer.body, &mut counts);
    let mut stays = true;
    let mut own = BTreeMap::new();
    mentions(statement, &mut |id, _| {
        *own.entry(id).or_insert(0_usize) += 1;
    });
    for (id, here) in own {
        let inside = counts.get(id).copied().unwrap_or(0);
        stays &= id == outer.id || inside > here;
    }
    if !stays {
        return None;
    }
    let text = lines.written(statement.span)?;
    let removal = lines.removal(statement.span)?;
    let insertion = lines.below(outer.span, text)?;
    Some(vec![removal, insertion])
}

/// How often a body names each state.
fn count<'d>(body: &'d Body, counts: &mut BTreeMap<&'d str, usize>) {
    for statement in &body.statements {
        mentions(statement, &mut |id, _| {
            *counts.entry(id).or_insert(0) += 1;
        });
        if let StatementKind::Declaration(declaration) = &statement.kind
            && let Some(inner) = &declaration.body
        {
            count(inner, counts);
        }
    }
}

/// A mention of a composite inside of it. `edits` move the statement behind it.
fn inside_itself(span: Span, id: &str, composite: Span, edits: Option<Vec<Edit>>) -> Diagnostic {
    let id = quote(id);
    let finding = Diagnostic::new(
        Code::InsideItself,
        span,
        format!("`{id}` is named between its own braces, and Mermaid never comes to an end with drawing it"),
    )
    .label("Mermaid takes it for a part of itself")
    .related(composite, "the composite");
    match edits {
        Some(edits) => finding.fix_all(
            Applicability::Unsafe,
            format!("put the line behind the `}}` of `{id}`"),
            edits,
        ),
        None => finding.help(format!(
            "say it behind the `}}` of `{id}`: any line can name any state"
        )),
    }
}
