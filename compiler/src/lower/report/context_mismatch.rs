//! SM517: an initial context that its own schema doesn't allow.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

fn mismatch(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::ContextMismatch, span, message)
        .note("the schema is `context_schema`; expressions are checked against it")
}

/// A value of another type.
pub(in crate::lower) fn wrong_kind(
    path: &str,
    is_item: bool,
    wanted: &str,
    found: &str,
    span: Span,
) -> Diagnostic {
    let subject = match (path, is_item) {
        ("", _) => "the context".to_owned(),
        (path, true) => format!("an item of `{path}`"),
        (path, false) => format!("`{path}`"),
    };
    let message = format!("{subject} begins as {found}, and its schema says {wanted}");
    let diagnostic = mismatch(span, message).label(format!("is {found}"));
    match (wanted, found) {
        ("an integer", "a float") => {
            diagnostic.help("write a whole number without a fraction: `3`, not `3.0`")
        }
        _ => diagnostic.help("change the value or the schema"),
    }
}

/// A value that isn't one of those allowed.
pub(in crate::lower) fn not_among(path: &str, values: &[String], span: Span) -> Diagnostic {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let allowed = crate::diag::quoted_list(&values);
    mismatch(span, format!("`{path}` begins as none of {allowed}"))
        .help("change the value or the schema")
}

/// A field that must be there.
pub(in crate::lower) fn missing(path: &str, span: Span) -> Diagnostic {
    mismatch(
        span,
        format!("the context has no `{path}`, which its schema requires"),
    )
    .help(format!(
        "give `{path}` a first value, or leave it out of `required`"
    ))
}

/// A field that the schema has no place for.
pub(in crate::lower) fn undeclared(path: &str, span: Span) -> Diagnostic {
    mismatch(
        span,
        format!("`{path}` isn't among the properties of the schema"),
    )
    .label("the schema allows no others")
    .help("declare it under `properties`, or remove it")
}
