//! SM512: a field that nothing declares.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// A field of the context that isn't declared.
pub(in crate::lower) fn unknown_field(path: &str, span: Span, near: Option<&str>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownField,
        span,
        format!("field `{path}` isn't declared"),
    )
    .label("neither in the context nor in its schema")
    .note("a field that isn't there has no value, and whatever asks for it is false");
    if let Some(near) = near {
        return diagnostic.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            span,
            near,
        );
    }
    let name = path.split('.').next().unwrap_or(path);
    diagnostic
        .help(format!(
            "declare it: with its first value under `context`, or under `context_schema` if it may be absent; data of the event is `event.{path}`"
        ))
        .help(format!("if `{name}` is a text, write it in quotes: `'{name}'`"))
}

/// A field of the event's data that none of the events declares.
pub(in crate::lower) fn unknown_data(
    path: &str,
    span: Span,
    events: &str,
    near: Option<&str>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::UnknownField,
        span,
        format!("the data of {events} has no `{path}`"),
    )
    .label("not among the properties that the event declares");
    match near {
        Some(near) => diagnostic
            .help(format!("did you mean `event.{near}`?"))
            .fix(
                Applicability::Unsafe,
                format!("write `event.{near}`"),
                span,
                format!("event.{near}"),
            ),
        None => diagnostic.help("declare it under `data` of the event"),
    }
}

/// `event` without a field.
pub(in crate::lower) fn event_alone(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownField,
        span,
        "`event` is the data of an event: name one of its fields",
    )
    .help("write `event.` and the field's name")
}
