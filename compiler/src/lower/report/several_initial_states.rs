//! SM303: a scope begins in two places.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// Two `[*] -->` of one scope lead to different states.
pub(in crate::lower) fn several_initial_states(
    (first, other): (&str, &str),
    first_span: Span,
    other_span: Span,
) -> Diagnostic {
    let message = format!("the same scope begins at `{first}` and at `{other}`");
    Diagnostic::new(Code::SeveralInitialStates, other_span, message)
        .label(format!("begins at `{other}` here"))
        .related(first_span, format!("begins at `{first}` here"))
        .help("keep one; to let an event decide, begin at a state that waits for it")
}
