//! `SM137` `late-declaration`: a choice, a fork or a join that Mermaid knows as something else already.

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::mermaid::ast::Stereotype;
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn late_mark(mark: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::LateDeclaration, mark, message)
}

/// `state c <<choice>>` below the first use of `c`. `edits` move it.
pub(in crate::front::mermaid) fn late(
    mark: Span,
    first: Span,
    id: &str,
    kind: Stereotype,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let (id, kind) = (quote(id), kind.word());
    let finding = late_mark(mark, format!("Mermaid draws `{id}` as a plain state"))
        .label(format!("declared a {kind} too late"))
        .related(first, "the first mention says what a state is")
        .note(format!("here `{id}` is a {kind}, wherever it is declared"));
    let title = format!("declare `{id}` above its first use");
    match edits {
        Some(edits) => finding.fix_all(Applicability::Safe, title, edits),
        None => finding.help(title),
    }
}

/// `state c <<choice>>` and `state c <<fork>>`. `removal` takes the second away.
pub(in crate::front::mermaid) fn second(
    mark: Span,
    first: Span,
    id: &str,
    kind: Stereotype,
    other: Stereotype,
    removal: Option<Edit>,
) -> Diagnostic {
    let (id, kind, other) = (quote(id), kind.word(), other.word());
    let finding = late_mark(mark, format!("`{id}` is a {kind} already, and no {other}"))
        .label("passed over")
        .related(first, "the first declaration counts");
    let title = "remove this line, or give one of them another name";
    match removal {
        Some(edit) => {
            finding
                .help(title)
                .fix_all(Applicability::Safe, "remove this line", vec![edit])
        }
        None => finding.help(title),
    }
}
