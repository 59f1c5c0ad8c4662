//! Composites that are mentioned between their own braces.
//!
//! In Mermaid a body owns what it mentions, so `x --> w` inside `state w {` makes `w` a part of itself, and drawing it
//! never ends. Statemark goes by the braces of `w`.

use std::collections::BTreeMap;

use super::ast::{Body, Diagram, DrawnAs, Endpoint, EndpointKind, Statement, StatementKind};
use super::lines::Lines;
use super::messages::quote;
use crate::diag::{Applicability, Code, Diagnostic, Diags, Edit};
use crate::source::Span;

/// A composite that encloses a statement.
#[derive(Clone, Copy, Debug)]
struct Enclosing<'d> {
    id: &'d str,
    span: Span,
    name: Span,
    body: &'d Body,
}

/// Reports each statement that mentions a composite that encloses it.
pub(super) fn check(diagram: &Diagram, lines: Lines<'_>, diags: &mut Diags) {
    let mut enclosing = Vec::new();
    check_body(&diagram.body, &mut enclosing, lines, diags);
}

/// Checks a body, at most [`super::parse::MAX_DEPTH`] deep.
fn check_body<'d>(
    inner: &'d Body,
    enclosing: &mut Vec<Enclosing<'d>>,
    lines: Lines<'_>,
    diags: &mut Diags,
) {
    for statement in &inner.statements {
        if !enclosing.is_empty() {
            visit_mentions(statement, &mut |id, span| {
                let found = enclosing.iter().find(|outer| outer.id == id);
                if let Some(&outer) = found {
                    let edits = move_out(statement, outer, lines);
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
            enclosing.push(Enclosing {
                id,
                span: statement.span,
                name: declaration.id.span,
                body: inner,
            });
            check_body(inner, enclosing, lines, diags);
            enclosing.pop();
        }
    }
}

/// Calls `visit` for each state that a statement names, except in its own body.
fn visit_mentions<'d>(statement: &'d Statement, visit: &mut impl FnMut(&'d str, Span)) {
    let mut endpoint = |endpoint: &'d Endpoint| {
        if let Some(id) = endpoint.id() {
            visit(id, endpoint.span);
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
            visit(&note.state.value, note.state.span);
        }
        StatementKind::Declaration(declaration) if declaration.drawn != DrawnAs::Nothing => {
            visit(&declaration.id.value, declaration.id.span);
        }
        _ => {}
    }
}

/// Moves a statement out of a composite.
///
/// Returns `None` where another state that it names would leave the composite with it.
fn move_out(statement: &Statement, outer: Enclosing<'_>, lines: Lines<'_>) -> Option<Vec<Edit>> {
    let is_star = |endpoint: &Endpoint| endpoint.target == EndpointKind::Star;
    match &statement.kind {
        StatementKind::Transition(it) if is_star(&it.source) || is_star(&it.target) => return None,
        StatementKind::Transition(_)
        | StatementKind::Description { .. }
        | StatementKind::Note(_) => {}
        _ => return None,
    }
    let mut counts = BTreeMap::new();
    outer.body.visit(&mut |statement| {
        visit_mentions(statement, &mut |id, _| *counts.entry(id).or_insert(0) += 1);
    });
    let mut stays = true;
    let mut own = BTreeMap::new();
    visit_mentions(statement, &mut |id, _| {
        *own.entry(id).or_insert(0_usize) += 1;
    });
    for (id, here) in own {
        let inside = counts.get(id).copied().unwrap_or(0);
        stays &= id == outer.id || inside > here;
    }
    if !stays {
        return None;
    }
    let text = lines.source_text(statement.span)?;
    let removal = lines.remove(statement.span)?;
    let insertion = lines.insert_below(outer.span, text)?;
    Some(vec![removal, insertion])
}

/// Reports a mention of a composite inside it; `edits` move the statement out.
fn inside_itself(span: Span, id: &str, composite: Span, edits: Option<Vec<Edit>>) -> Diagnostic {
    let id = quote(id);
    let message =
        format!("`{id}` is named between its own braces, and Mermaid never finishes drawing it");
    let diagnostic = Diagnostic::new(Code::InsideItself, span, message)
        .label("Mermaid takes it for a part of itself")
        .related(composite, "the composite");
    match edits {
        Some(edits) => diagnostic.fix_all(
            Applicability::Unsafe,
            format!("put the line after the `}}` of `{id}`"),
            edits,
        ),
        None => diagnostic.help(format!(
            "say it after the `}}` of `{id}`: any line can name any state"
        )),
    }
}
