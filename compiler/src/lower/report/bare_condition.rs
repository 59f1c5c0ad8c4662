//! SM133: a condition without brackets.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::expression::mended;
use crate::source::Spanned;

/// A comparison stands where an event is expected.
pub(in crate::lower) fn bare_condition(text: &Spanned<String>, event: &str) -> Diagnostic {
    let message = format!("this is the event `{event}`, not a condition");
    let diagnostic = Diagnostic::new(Code::BareCondition, text.span, message)
        .label(format!("sent as `{event}`"))
        .note("only brackets make a guard");
    match mended(text) {
        Some(guard) => diagnostic.fix(
            Applicability::Unsafe,
            format!("write `[{guard}]` to make it a guard"),
            text.span,
            format!("[{guard}]"),
        ),
        None => {
            diagnostic.help("write an expression in brackets to make it a guard: `[attempts < 3]`")
        }
    }
}
