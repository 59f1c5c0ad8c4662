//! SM131: a parenthesis behind an event is a comment.

use crate::diag::{Code, Diagnostic};
use crate::source::{Span, Spanned};

/// The text in the parenthesis isn't part of the event.
pub(in crate::lower) fn dropped_parenthesis(
    name: &Spanned<String>,
    whole: &Spanned<String>,
    comment: Span,
    event: &str,
) -> Diagnostic {
    let message = format!("the parenthesis is a comment: the event is `{event}`");
    Diagnostic::new(Code::DroppedParenthesis, comment, message)
        .label("not part of the event")
        .help(format!(
            "if it is a condition, write `{}`",
            as_guard(name, whole)
        ))
}

/// The label with its parenthesis turned into brackets: `reviewed (approved)` is `reviewed [approved]`.
pub(in crate::lower) fn as_guard(name: &Spanned<String>, whole: &Spanned<String>) -> String {
    let comment = whole.value.get(name.value.len()..).unwrap_or("").trim();
    let inner = comment
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
        .unwrap_or("")
        .trim();
    format!(
        "{} [{}]",
        name.value,
        if inner.is_empty() { "condition" } else { inner }
    )
}
