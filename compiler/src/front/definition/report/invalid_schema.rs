//! SM713: a JSON Schema in a definition that isn't one.

use crate::diag::{Code, Diagnostic, nearest};
use crate::front::definition::shape::quoted;
use crate::source::Span;

/// What a schema's `keyword` has is something else than it wants.
pub(crate) fn invalid_schema(at: Span, keyword: &str, wants: &str, found: &str) -> Diagnostic {
    let message = format!("in a JSON Schema `{keyword}` is {wants}, not {found}");
    Diagnostic::new(Code::InvalidSchema, at, message)
        .note("nothing can be checked against a schema that isn't one")
        .help(format!("write {wants}"))
}

/// A `type` that JSON doesn't have.
pub(crate) fn unknown_type(at: Span, text: &str, types: &[&str]) -> Diagnostic {
    let message = format!("JSON has no type `{text}`");
    let found = Diagnostic::new(Code::InvalidSchema, at, message)
        .note(format!("a schema's `type` may be {}", quoted(types)));
    match nearest(text, types.iter().copied()) {
        Some(meant) => found.help(format!("did you mean `{meant}`?")),
        None => found.help("write one of those"),
    }
}
