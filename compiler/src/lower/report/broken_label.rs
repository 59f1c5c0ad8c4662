//! SM135: a label whose parts don't fit.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// Brackets without a guard.
pub(in crate::lower) fn empty_guard(span: Span) -> Diagnostic {
    Diagnostic::new(Code::BrokenLabel, span, "these brackets hold no guard")
        .label("expected a name or a condition")
        .help("write a guard, such as `[ready]`, or remove the brackets")
}

/// An internal transition that no event triggers.
pub(in crate::lower) fn no_event(span: Span) -> Diagnostic {
    Diagnostic::new(Code::BrokenLabel, span, "no event triggers these actions")
        .label("has actions, but neither an event nor a guard")
        .help("write `event / action()`, or `entry / action` and `exit / action`")
}

/// A guard that isn't closed. `end`: where its closing bracket belongs; `None` where it holds nothing.
pub(in crate::lower) fn unclosed(bracket: Span, end: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::BrokenLabel, bracket, "this bracket isn't closed")
        .label("a guard begins here");
    match end {
        Some(end) => diagnostic.fix(Applicability::Unsafe, "close it", end, "]"),
        None => diagnostic.help("write a guard, such as `[ready]`, or remove the bracket"),
    }
}
