//! SM160: an action that SCXML lets fail whenever it is done.

use crate::diag::{Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

fn finding(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::AlwaysFails, place, message)
        .label("always fails")
        .note("SCXML raises `error.execution` here, and does nothing behind it in the same block")
}

/// An event is sent to what isn't a place, or by what isn't a way.
pub(in crate::front::scxml) fn nowhere(value: &Spanned<String>, name: &str) -> Diagnostic {
    finding(
        value.span,
        format!("`{name}` can't be `{}`, so nothing is sent", value.value),
    )
    .help(format!("leave `{name}` out to send to this machine"))
}

/// A value is assigned to what isn't declared.
pub(crate) fn no_location<'k>(
    location: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let found = finding(
        location.span,
        format!(
            "`{}` is no place in the data, so nothing is assigned",
            location.value
        ),
    );
    match nearest(&location.value, known) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None => found.help("declare it: `<data id=\"…\"/>` in a `<datamodel>`"),
    }
}

/// A value is to be computed by what is no expression.
pub(crate) fn no_expression(place: Span) -> Diagnostic {
    finding(
        place,
        "this is no expression, so it has no value".to_owned(),
    )
    .help("write an expression: a value, or what computes one")
}

/// An initial value is no expression.
pub(crate) fn no_value(place: Span) -> Diagnostic {
    Diagnostic::new(
        Code::AlwaysFails,
        place,
        "this is no expression, so there is no value at first",
    )
    .label("always fails")
    .note("SCXML raises `error.execution` here when the machine starts")
    .help("write a value, or leave it out")
}

/// A condition is no expression.
pub(crate) fn no_condition(place: Span) -> Diagnostic {
    Diagnostic::new(
        Code::AlwaysFails,
        place,
        "this is no expression, so the transition is never taken",
    )
    .label("always fails")
    .note("SCXML takes such a condition for false")
    .help("write a condition, or remove the transition")
}
