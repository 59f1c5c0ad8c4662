//! SM211: an event that belongs to the engine.

use crate::diag::{Code, Diagnostic};
use crate::lower::words::word_key;
use crate::source::Span;

/// A transition is triggered by a name that only the engine may raise.
pub(in crate::lower) fn reserved_event(name: &str, span: Span) -> Diagnostic {
    let message = format!("only the machine itself may raise `{name}`");
    let diagnostic = Diagnostic::new(Code::ReservedEvent, span, message).label("a reserved name");
    if word_key(name).starts_with("done.state.") {
        return diagnostic.help(
            "to go on when a state is done, leave its transition without a label, or use `on_done` in the definition",
        );
    }
    diagnostic.help(
        "names that begin with `done.state.`, `after.` or `error.` are reserved: choose another",
    )
}
