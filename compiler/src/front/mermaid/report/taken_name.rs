//! `SM127` `taken-name`: a state is named as Mermaid names something of its own.

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A state named as Mermaid names a `[*]`.
pub(in crate::front::mermaid) fn star(span: Span, id: &str, star: Span) -> Diagnostic {
    let id = quote(id);
    Diagnostic::new(
        Code::TakenName,
        span,
        format!("Mermaid draws `{id}` and a `[*]` as one"),
    )
    .label("Mermaid's own name for that `[*]`")
    .related(star, "this `[*]`")
    .help("give the state another name")
}

/// A composite named `root`.
pub(in crate::front::mermaid) fn root(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::TakenName,
        span,
        "Mermaid takes a composite `root` for the whole diagram, and draws no transition to it",
    )
    .help("give the composite another name")
}
