//! SM514: an assignment that can't be carried out.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A key under `assign` that is no field of the context.
pub(in crate::lower) fn no_field(name: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::BadAssignment,
        span,
        format!("`{name}` is no field that can be assigned"),
    );
    if name == "event" || name.starts_with("event.") {
        return diagnostic
            .label("the data of an event stays as it was sent")
            .help("assign a field of the context");
    }
    diagnostic
        .label("a field is a name, or names with dots between them")
        .help("use the letters `a` to `z`, digits and `_`")
}

/// A value of another kind than the field's.
pub(in crate::lower) fn wrong_kind(
    field: &str,
    wanted: &str,
    found: &str,
    span: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::BadAssignment,
        span,
        format!("`{field}` holds {wanted}, found {found}"),
    )
    .label(format!("is {found}"));
    if (wanted, found) == ("a float", "an integer") {
        return diagnostic.help("write it with a fraction: `1.0`");
    }
    diagnostic.help("change the value, or what the context or its schema says of the field")
}

/// A field and one inside it, in one action.
pub(in crate::lower) fn overlapping(inner: &str, outer: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::BadAssignment,
        span,
        format!("`{inner}` is part of `{outer}`, which the same action assigns"),
    )
    .label("what of it would stay?")
    .help("assign the one or the other")
}
