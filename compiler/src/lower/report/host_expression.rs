//! SM501: an expression that the host has to answer.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A guard is an expression or prose: the host is asked for it under a name.
pub(in crate::lower) fn guard(text: &str, name: &str, span: Span) -> Diagnostic {
    let message = format!("guard `{text}` is answered by the host, as `{name}`");
    Diagnostic::new(Code::HostExpression, span, message)
        .label("kept as text, not evaluated")
        .help("to have it evaluated, declare it as `{ \"field\": …, \"op\": …, \"value\": … }` under `guards` and write its name here")
}

/// An action assigns expressions: the host carries it out.
pub(in crate::lower) fn action(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::HostExpression,
        span,
        format!("action `{name}` is carried out by the host"),
    )
    .label("its expressions are kept as text, not evaluated")
}
