//! SM134: parentheses that tell two events apart.

use crate::diag::{Code, Diagnostic};
use crate::lower::report::dropped_parenthesis::as_guard;
use crate::source::{Span, Spanned};

/// Without its parenthesis the event would lead to several states, so it keeps it.
pub(in crate::lower) fn kept_parenthesis(
    name: &Spanned<String>,
    whole: &Spanned<String>,
    comment: Span,
    event: &str,
) -> Diagnostic {
    let message = format!(
        "`{}` leads to several states, so `{}` is an event of its own, `{event}`",
        name.value, whole.value
    );
    Diagnostic::new(Code::KeptParenthesis, comment, message)
        .label("part of the event's name")
        .help(format!(
            "if it is a condition, write `{}`; if it is an event, write `{event}`",
            as_guard(name, whole)
        ))
}
