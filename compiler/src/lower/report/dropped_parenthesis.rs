//! SM131: a parenthesis behind an event is a comment.

use crate::diag::{Code, Diagnostic};
use crate::source::{Span, Spanned};

/// The text in the parenthesis isn't part of the event.
pub(in crate::lower) fn dropped_parenthesis(
    name: &Spanned<String>,
    comment: Span,
    event: &str,
) -> Diagnostic {
    let message = format!("the parenthesis is a comment: the event is `{event}`");
    Diagnostic::new(Code::DroppedParenthesis, comment, message)
        .label("not part of the event")
        .help(format!(
            "if it is a condition, write `{} [condition]`",
            name.value
        ))
}
