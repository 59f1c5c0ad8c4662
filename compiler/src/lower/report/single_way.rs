//! SM326: a choice, fork or join with one way.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A pseudo-state that has only one way. `word`: what it is; `side`: `out of` or `to`.
pub(in crate::lower) fn single_way(word: &str, id: &str, side: &str, span: Span) -> Diagnostic {
    let message = format!("only one way leads {side} the {word} `{id}`");
    Diagnostic::new(Code::SingleWay, span, message)
        .label("the only one")
        .note(format!("the machine is made as if `{id}` weren't there"))
        .help("add the other ways, or lead past it")
}
