//! SM115: something that this version doesn't compile yet.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A construct of the language that is read but has no meaning yet. `what` names it, in the plural.
pub(in crate::lower) fn unsupported_construct(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::UnsupportedConstruct,
        span,
        format!("{what} aren't compiled yet"),
    )
    .label("not compiled by this version")
    .note("no machine is made, rather than one that means something else")
}
