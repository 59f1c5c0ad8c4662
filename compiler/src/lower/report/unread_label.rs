//! SM328: an event on a way that waits for none.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A label behind a fork or a join. `word`: `fork` or `join`.
pub(in crate::lower) fn unread_label(word: &str, id: &str, text: Span) -> Diagnostic {
    let waits = match word {
        "fork" => "takes all its ways at once",
        _ => "goes on as soon as every branch has reached it",
    };
    let message = format!("the {word} `{id}` {waits}, without an event");
    Diagnostic::new(Code::UnreadLabel, text, message)
        .label("triggers nothing")
        .help("remove the label, or write it on a transition that waits for it")
}
