//! SM703: a key that stands twice in one object.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The key `name` at `second` was there at `first` already, or an old spelling of it was.
pub(crate) fn duplicate_key(second: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::DuplicateKey,
        second,
        format!("the key `{name}` stands twice in this object"),
    )
    .label("the second one")
    .related(first, "the first one")
    .note("readers of JSON differ in which of the two they take")
    .help("drop one of them, or rename it")
}
