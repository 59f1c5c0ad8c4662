//! `SM123` `swallowed-by-label`: what stands behind a label on its line is a part of it.

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn swallowed(text: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SwallowedByLabel, text, message)
        .label("Mermaid shows all of this")
        .note("behind a colon, a text goes on to the end of its line")
}

/// `a --> b : label %% comment`. `edits` put the comment on a line of its own.
pub(in crate::front::mermaid) fn comment(
    text: Span,
    comment: &str,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let finding = swallowed(
        text,
        format!(
            "`{}` is no comment here, but part of a text",
            quote(comment)
        ),
    );
    let title = "put the comment on a line of its own";
    match edits {
        Some(edits) => finding.fix_all(Applicability::Unsafe, title, edits),
        None => finding.help(title),
    }
}

/// `a --> b : label c --> d`.
pub(in crate::front::mermaid) fn arrow(text: Span) -> Diagnostic {
    swallowed(text, "this `-->` is no transition, but part of a text")
        .help("put a second transition on a line of its own")
}
