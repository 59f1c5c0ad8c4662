//! `SM121` `composite-description`: a composite has a title and no further text.

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A second text of a composite. Mermaid refuses the whole diagram.
pub(in crate::front::mermaid) fn second(
    text: Span,
    first: Span,
    composite: Span,
    id: &str,
) -> Diagnostic {
    Diagnostic::new(
        Code::CompositeDescription,
        text,
        format!("the composite `{}` has a text already", quote(id)),
    )
    .label("a second text")
    .related(first, "the first")
    .related(composite, "the composite")
    .help("keep the one that is its title; put a composite's entry and exit actions into the definition")
}
