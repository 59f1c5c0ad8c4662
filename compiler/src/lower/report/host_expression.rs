//! SM501: a guard in words, which the host has to answer.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A guard is prose: the host is asked for it under a name.
pub(in crate::lower) fn guard(text: &str, name: &str, span: Span) -> Diagnostic {
    let message = format!("guard `{text}` isn't evaluated: the host is asked for `{name}`");
    Diagnostic::new(Code::HostExpression, span, message)
        .label(format!("asked as `{name}`"))
        .note("the host is the program that runs the machine; a workflow for agents has none")
        .help("to have it evaluated, write an expression, such as `attempts < 3 && !paid`")
}
