//! SM309: a composite without a state.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// `state X { }` has no state inside.
pub(in crate::lower) fn empty_composite(id: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::EmptyComposite,
        span,
        format!("the body of `{id}` has no state"),
    )
    .label("treated as a state without a body")
    .help("put states into it, or take the braces away")
}
