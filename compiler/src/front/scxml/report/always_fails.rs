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
