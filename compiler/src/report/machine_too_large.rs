//! SM313: more than a table can hold.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A limit is passed. `what` says which: `more than 4,096 events`.
pub(crate) fn machine_too_large(what: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MachineTooLarge,
        span,
        format!("this machine has {what}"),
    )
    .label("too large for a table")
    .help("split it into machines that start each other")
}
