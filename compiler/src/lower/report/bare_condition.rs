//! SM133: a condition without brackets.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Spanned;

/// A comparison stands where an event is expected.
pub(in crate::lower) fn bare_condition(text: &Spanned<String>, event: &str) -> Diagnostic {
    let message = format!("this is the event `{event}`, not a condition");
    Diagnostic::new(Code::BareCondition, text.span, message)
        .label(format!("sent as `{event}`"))
        .note("only brackets make a guard")
        .fix(
            Applicability::Unsafe,
            format!("write `[{}]` to make it a guard", text.value),
            text.span,
            format!("[{}]", text.value),
        )
}
