//! SM704: a text that isn't JSON, not even leniently.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// At that place something else was expected; `message` says what, and what was found.
pub(crate) fn json_syntax(place: Span, message: &str) -> Diagnostic {
    finding(place, message).help("mend the JSON; nothing of the definition is read until then")
}

/// What opens there is never closed.
pub(crate) fn unclosed(opening: Span, open: &str, close: &str) -> Diagnostic {
    finding(opening, format!("`{open}` is never closed"))
        .label("opened here")
        .help(format!("write `{close}` where it ends"))
}

/// A text that begins there isn't closed on its line.
pub(crate) fn unclosed_text(line: Span) -> Diagnostic {
    finding(line, "this text isn't closed on its line")
        .help("close it with `\"`; a line break in a text is written `\\n`, a quote `\\\"`")
}

/// Objects and lists are nested deeper than anybody reads.
pub(crate) fn too_deep(opening: Span, most: usize) -> Diagnostic {
    finding(
        opening,
        format!("objects and lists are nested deeper than {most} levels here"),
    )
    .help("nest less deeply")
}

fn finding(place: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::JsonSyntax, place, message)
}
