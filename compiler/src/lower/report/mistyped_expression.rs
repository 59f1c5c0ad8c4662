//! SM513: values that don't fit together.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A declared comparison where a value is asked for.
pub(in crate::lower) fn guard_as_value(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MistypedExpression,
        span,
        "a guard with `field` and `op` can't be compared or computed with",
    )
    .label("only `!`, `&&` and `||` may stand around it")
    .help("declare the guard as an expression, such as `\"attempts < 3\"`")
}
