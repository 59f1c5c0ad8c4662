//! SM320: a delay that no clock can count.

use crate::diag::{Code, Diagnostic};
use crate::lower::delay::Misfit;
use crate::source::Spanned;

/// A key of `after` that is no duration.
pub(in crate::lower) fn no_delay(key: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(
        Code::BadDelay,
        key.span,
        format!("`{}` is no delay", key.value),
    )
    .label("not a duration")
    .note("a delay is a number with a unit, `ms`, `s`, `m`, `h` or `d`; a number alone counts milliseconds")
    .help("write it so, for example `\"30s\"`")
}

/// A duration that is no whole number of milliseconds, or too many.
pub(in crate::lower) fn bad_delay(delay: &Spanned<String>, misfit: Misfit) -> Diagnostic {
    let text = delay.value.trim();
    let (what, label, help) = match misfit {
        Misfit::TooLong => (
            "is longer than any clock counts",
            "more than 285,000 years",
            "write a shorter delay",
        ),
        Misfit::TooFine => (
            "is no whole number of milliseconds",
            "finer than a clock counts",
            "round it to milliseconds, such as `2ms`",
        ),
    };
    Diagnostic::new(Code::BadDelay, delay.span, format!("`{text}` {what}"))
        .label(label)
        .help(help)
}
