//! SM155: an element without what gives it a meaning.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

fn finding(tag: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MissingPart, tag, message)
}

/// An attribute is missing.
pub(crate) fn attribute(tag: Span, element: &str, name: &str) -> Diagnostic {
    finding(tag, format!("`<{element}>` has no `{name}`"))
        .label(format!("needs `{name}=\"…\"`"))
        .help(format!("write `{name}=\"…\"`"))
}

/// An element inside is missing.
pub(in crate::front::scxml) fn element(tag: Span, element: &str, name: &str) -> Diagnostic {
    finding(tag, format!("`<{element}>` has no `<{name}>` inside"))
        .label(format!("needs a `<{name}>`"))
        .help(format!("write `<{name} target=\"…\"/>` inside"))
}

/// A history doesn't say where it leads while nothing is recorded.
pub(in crate::front::scxml) fn default_transition(tag: Span) -> Diagnostic {
    finding(tag, "this history has no default transition".to_owned())
        .label("leads nowhere the first time")
        .help("write `<transition target=\"…\"/>` inside, with a state beside the history")
}

/// A document, or a state that only a history stands in, has no state to be in.
pub(crate) fn states(tag: Span, element: &str) -> Diagnostic {
    finding(tag, format!("`<{element}>` has no state inside"))
        .label("nothing can be active here")
        .help("write `<state id=\"…\"/>` inside")
}
