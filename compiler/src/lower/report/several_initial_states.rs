//! SM303: a scope begins in two places.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// Two `[*] -->` of one scope lead to different states.
pub(in crate::lower) fn several_initial_states(
    (first, other): (&str, &str),
    first_span: Span,
    other_span: Span,
) -> Diagnostic {
    let message = format!("`{first}` and `{other}` can't both be the beginning");
    Diagnostic::new(Code::SeveralInitialStates, other_span, message)
        .label(format!("begins at `{other}` here"))
        .related(first_span, format!("begins at `{first}` here"))
        .help("keep one; if an event decides, begin at a state that waits for it and leads to both")
}
