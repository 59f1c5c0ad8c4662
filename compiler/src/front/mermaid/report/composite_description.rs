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

/// A composite that is the start or the end of a scope as well, and has a text in both roles.
pub(in crate::front::mermaid) fn of_an_end(composite: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    Diagnostic::new(
        Code::CompositeDescription,
        composite,
        format!("the composite `{id}` has a text already, as a `[*]`"),
    )
    .label("Mermaid takes this and a `[*]` for one state")
    .help("give it another name, or take the text from `[*]`")
}
