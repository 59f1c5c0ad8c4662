//! Declarations that Mermaid drops.
//!
//! A lone `state x` matters only where nothing else names `x`, because Mermaid then doesn't draw the state. A title
//! after it is lost in any case.

use std::collections::BTreeSet;

use super::ast::{Diagram, StatementKind};
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
    /// Set if more words follow its name, which would be read with it if the keyword weren't there.
    pub(super) followed: bool,
    /// Set if Mermaid refuses it because of the `{` on the next line.
    pub(super) refused: bool,
}

/// Reports the declarations that Mermaid drops.
pub(super) fn check(diagram: &Diagram, bare: &[Bare], diags: &mut Diags) {
    if bare.is_empty() {
        return;
    }
    let mut drawn = BTreeSet::new();
    diagram
        .body
        .visit(&mut |statement| collect_drawn(&statement.kind, &mut drawn));
    for declaration in bare {
        let Bare {
            id,
            span,
            keyword,
            titled,
            followed,
            refused,
        } = declaration;
        let keyword_alone = (!followed).then_some(*keyword);
        if *refused {
            diags.push(refused_declaration(*span, keyword_alone, id));
        } else if *titled {
            diags.push(undrawn_title(*span, *keyword, id));
        } else if !drawn.contains(id.as_str()) {
            diags.push(undrawn_declaration(*span, keyword_alone, id));
        }
    }
}

/// Collects the states of a statement that Mermaid draws.
fn collect_drawn<'d>(statement: &'d StatementKind, drawn: &mut BTreeSet<&'d str>) {
    match statement {
        StatementKind::Mention(state) | StatementKind::Description { state, .. } => {
            drawn.extend(state.id());
        }
        StatementKind::Transition(transition) => {
            drawn.extend(transition.source.id());
            drawn.extend(transition.target.id());
        }
        StatementKind::Note(note) if note.left.is_some() => {
            drawn.insert(&note.state.value);
        }
        StatementKind::Declaration(declaration)
            if declaration.body.is_some() || declaration.stereotype.is_some() =>
        {
            drawn.insert(&declaration.id.value);
        }
        _ => {}
    }
}

/// Creates an `SM119` diagnostic (`bare-declaration`).
fn bare_declaration(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BareDeclaration, span, message)
}

/// Reports `state x` where nothing else names `x`.
fn undrawn_declaration(span: Span, keyword: Option<Span>, id: &str) -> Diagnostic {
    let finding = bare_declaration(span, format!("Mermaid doesn't draw `{}`", quote(id)))
        .note("`state name` without braces declares nothing there; here it declares the state");
    without_keyword(finding, keyword, id)
}

/// Adds the fix that writes the name without its keyword, where it can be taken away.
fn without_keyword(finding: Diagnostic, keyword: Option<Span>, id: &str) -> Diagnostic {
    match keyword {
        Some(keyword) => finding.safe_fix(format!("write `{}` alone", quote(id)), keyword, ""),
        None => finding,
    }
}

/// Reports `state x : Title`.
fn undrawn_title(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    bare_declaration(span, format!("Mermaid doesn't show this title of `{id}`"))
        .note("`state name : title` means nothing there; here it gives the title")
        .unsafe_fix(format!("write `{id} : …`"), keyword, "")
}

/// Reports `state x` above a line with a `{`.
fn refused_declaration(span: Span, keyword: Option<Span>, id: &str) -> Diagnostic {
    let message = format!(
        "Mermaid doesn't draw a diagram with `state {}` here",
        quote(id)
    );
    let finding = bare_declaration(span, message)
        .note("since 11.16 it takes the word, the next line and its `{` for one name");
    without_keyword(finding, keyword, id)
}
