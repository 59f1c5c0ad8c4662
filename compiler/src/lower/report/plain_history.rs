//! SM332: what looks like a history is a plain state.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// `X[H]` without a composite `X`.
pub(in crate::lower) fn plain_history(id: &str, of: &str, span: Span) -> Diagnostic {
    let message = format!("`{id}` is a state of that name, not a history");
    Diagnostic::new(Code::PlainHistory, span, message)
        .label(format!("no state `{of}` has a body"))
        .help(format!(
            "give `{of}` a body with states, or the state a name without brackets"
        ))
}
