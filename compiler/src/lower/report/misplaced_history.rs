//! SM330: a history of nothing, or one with two ways to begin.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// `[H]` at the root: the machine itself is never left and entered again.
pub(in crate::lower) fn at_the_root(sign: &str, span: Span) -> Diagnostic {
    let message = format!("`{sign}` stands outside of any composite");
    Diagnostic::new(Code::MisplacedHistory, span, message)
        .label("whose history?")
        .note("the machine itself is never left and entered again, so it remembers nothing")
        .help(format!(
            "write `X{sign}` for the history of a composite `X`"
        ))
}

/// Two default transitions lead to different states.
pub(in crate::lower) fn two_defaults(id: &str, first: Span, other: Span) -> Diagnostic {
    let message = format!("`{id}` leads to two places while nothing is remembered");
    Diagnostic::new(Code::MisplacedHistory, other, message)
        .label("the second one")
        .related(first, "the first one")
        .help("keep one; an event of the composite itself can lead to the other")
}

/// A history with actions of its own.
pub(in crate::lower) fn with_actions(id: &str, span: Span) -> Diagnostic {
    let message = format!("`{id}` is never active, so it can't act");
    Diagnostic::new(Code::MisplacedHistory, span, message)
        .label("an action of a history")
        .help("give the action to the transition that leads to it, or to the composite")
}
