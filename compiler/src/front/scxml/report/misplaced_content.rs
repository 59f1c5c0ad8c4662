//! SM154: an element, or a text, where it means nothing.

use super::choices;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;

fn finding(place: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MisplacedContent, place, message)
}

/// The document's root is another element.
pub(in crate::front::scxml) fn root(tag: Span, name: &str) -> Diagnostic {
    finding(tag, format!("`<{name}>` is no SCXML document"))
        .label("must be `scxml`")
        .help("write `<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">`")
}

/// An element that means something elsewhere.
pub(in crate::front::scxml) fn element(
    tag: Span,
    name: &str,
    around: &str,
    allowed: &[&str],
) -> Diagnostic {
    let found =
        finding(tag, format!("`<{name}>` can't stand in `<{around}>`")).label("means nothing here");
    if allowed.is_empty() {
        return found.help(format!("`<{around}>` has nothing inside: move it out"));
    }
    found.help(format!("`<{around}>` may hold {}", choices(allowed)))
}

/// Words between elements.
pub(in crate::front::scxml) fn text(place: Span, around: &str) -> Diagnostic {
    finding(place, format!("`<{around}>` holds no text"))
        .label("would be lost")
        .help("remove it, or make it a comment: `<!-- … -->`")
}

/// One is enough.
pub(in crate::front::scxml) fn second(place: Span, name: &str, around: &str) -> Diagnostic {
    finding(place, format!("a second `<{name}>` of one `<{around}>`"))
        .label("which of them counts?")
        .help("remove one of them")
}

/// Nothing comes after `<else>`.
pub(in crate::front::scxml) fn behind_else(tag: Span, name: &str) -> Diagnostic {
    finding(tag, format!("`<{name}>` can't stand behind `<else>`"))
        .label("never done")
        .help("put `<else/>` last")
}

/// A block of actions that stands behind one that may fail.
pub(crate) fn second_block(place: Span, element: &str) -> Diagnostic {
    finding(
        place,
        format!("a second `<{element}>` behind one that may fail"),
    )
    .label("would be skipped with it")
    .note("SCXML goes on with the next block where one fails; here they are one list")
    .help("put what may fail last")
}
