//! `SM126` `inside-itself`: a composite that is mentioned between its own braces, which Mermaid can't draw.

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A mention of a composite inside of it. `edits` move the statement behind it.
pub(in crate::front::mermaid) fn mention(
    span: Span,
    id: &str,
    composite: Span,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
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
