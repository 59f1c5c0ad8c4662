//! SM206: two states with one id.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A state is declared in two places of the definition.
pub(in crate::lower) fn duplicate_state(id: &str, again: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::DuplicateState,
        again,
        format!("state `{id}` is declared twice"),
    )
    .label("declared again here")
    .related(first, "declared first here")
    .help("ids are unique in a machine, across all its states: rename one of them")
}
