//! SM321: a delay of nothing.

use crate::diag::{Code, Diagnostic};
use crate::source::Spanned;

/// A duration of zero: the host's clock sends the event all the same, in a step of its own.
pub(in crate::lower) fn zero_delay(delay: &Spanned<String>) -> Diagnostic {
    let message = format!("`{}` waits for no time at all", delay.value.trim());
    Diagnostic::new(Code::ZeroDelay, delay.span, message)
        .label("no time passes")
        .note("the host sends the event of this delay after the step, before any other")
        .help("say how long it takes, or name an event instead")
}
