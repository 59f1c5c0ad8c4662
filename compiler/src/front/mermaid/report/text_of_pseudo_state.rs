//! `SM124` `text-of-pseudo-state`: for a text, Mermaid draws a plain state in place of a choice, a fork or a join.

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::mermaid::ast::Stereotype;
use crate::front::mermaid::report::quote;
use crate::source::{Span, Spanned};

/// A title or a text of a choice, a fork or a join. `edit` makes a note of it.
pub(in crate::front::mermaid) fn text(
    text: &Spanned<String>,
    mark: Span,
    id: &str,
    kind: Stereotype,
    edit: Option<Edit>,
) -> Diagnostic {
    let (id, kind) = (quote(id), kind.word());
    let finding = Diagnostic::new(
        Code::TextOfPseudoState,
        text.span,
        format!(
            "for the text `{}` Mermaid draws `{id}` as a plain state",
            quote(&text.value)
        ),
    )
    .label(format!("a {kind} has no text"))
    .related(mark, format!("declared a {kind}"));
    match edit {
        Some(edit) => finding.fix_all(Applicability::Safe, "make it a note", vec![edit]),
        None => finding.help(format!("put it into a note: `note right of {id} : …`")),
    }
}
