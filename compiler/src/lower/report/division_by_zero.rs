//! SM515: a division by nothing.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The divisor is the constant 0.
pub(in crate::lower) fn division_by_zero(sign: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::DivisionByZero,
        span,
        format!("`{sign}` by zero has no value"),
    )
    .label("always zero")
    .note("an expression without a value makes its guard false, and its assignment fail")
    .help("write another divisor")
}
