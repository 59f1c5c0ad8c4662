//! SM312: a compound state that is left when it is done, and never is.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A transition without a label leaves a compound state that has no final state inside.
pub(in crate::lower) fn completion_without_final(id: &str, event: &str, span: Span) -> Diagnostic {
    let message = format!("`{id}` has no end inside, so this is taken on the event `{event}`");
    Diagnostic::new(Code::CompletionWithoutFinal, span, message)
        .label("no label")
        .help(format!(
            "lead to `[*]` inside `{id}` to leave it when it is done, or write the event"
        ))
}
