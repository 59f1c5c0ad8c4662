//! Links and widths.

use super::error;
use crate::diag::{Applicability, Diagnostic};
use crate::source::Span;

/// `click a` without both of its texts.
pub(in crate::front::mermaid) fn incomplete(line: Span) -> Diagnostic {
    error(line, "a link needs an address and a text in quotes")
        .help("write `click name \"address\" \"text\"` or `click name href \"address\"`")
}

/// More than a link has.
pub(in crate::front::mermaid) fn too_much(line: Span, href: bool) -> Diagnostic {
    let message = if href {
        "a link with `href` has an address and nothing more"
    } else {
        "nothing can stand behind a link's text"
    };
    error(line, message)
        .help("write `click name \"address\" \"text\"` or `click name href \"address\"`")
}

/// Blanks behind a link, which swallow the line end that it needs.
pub(in crate::front::mermaid) fn blanks(blanks: Span) -> Diagnostic {
    error(blanks, "a link's line must end right behind its last quote").fix(
        Applicability::Safe,
        "remove the blanks",
        blanks,
        "",
    )
}

/// `scale 350`.
pub(in crate::front::mermaid) fn scale(place: Span) -> Diagnostic {
    error(place, "a scale is a number and `width`")
        .help("write `scale 350 width`, or remove the line")
}
