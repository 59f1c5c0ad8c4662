//! SM303: a scope begins in two places.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// Two `[*] -->` of one scope lead to different states, so it begins in a decision, `start`.
pub(in crate::lower) fn several_initial_states(
    (first, other): (&str, &str),
    start: &str,
    first_span: Span,
    other_span: Span,
) -> Diagnostic {
    let message = format!("`{first}` and `{other}` can't both be the beginning");
    Diagnostic::new(Code::SeveralInitialStates, other_span, message)
        .label(format!("begins at `{other}` here"))
        .related(first_span, format!("begins at `{first}` here"))
        .note(format!(
            "the machine is made as if a state `{start}` waited there for the event that decides: what the arrow says, else `to_` and the state"
        ))
        .help("keep one, or draw the state that waits, with an event for each way")
}
