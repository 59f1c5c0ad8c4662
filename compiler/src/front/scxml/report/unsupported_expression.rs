//! SM608: an expression that means something else, or nothing, here.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

fn finding(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::UnsupportedExpression, place, message)
}

/// A value that is given when the machine starts must be a literal.
pub(crate) fn not_a_literal(place: Span) -> Diagnostic {
    finding(place, "an initial value must be a literal".to_owned())
        .label("would be computed")
        .help("write a number, a text in quotes, `true`, `false`, `null`, or JSON; `<assign>` computes")
}

/// A place that can't be assigned to.
pub(crate) fn no_location(place: Span, text: &str) -> Diagnostic {
    finding(place, format!("`{text}` is no place in the data"))
        .label("no `<data>` of that id")
        .help("declare it: `<data id=\"…\"/>` in a `<datamodel>`")
}
