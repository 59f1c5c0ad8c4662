//! `SM119` `bare-declaration`: `state x` without braces, of which Mermaid makes nothing.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn bare(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BareDeclaration, span, message)
}

/// `state x`, and `x` nowhere else.
pub(in crate::front::mermaid) fn undrawn(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    bare(span, format!("Mermaid doesn't draw `{id}`"))
        .note("`state name` without braces declares nothing there; here it declares the state")
        .fix(
            Applicability::Safe,
            format!("write `{id}` alone"),
            keyword,
            "",
        )
}

/// `state x : Title`.
pub(in crate::front::mermaid) fn untitled(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    bare(span, format!("Mermaid doesn't show this title of `{id}`"))
        .note("`state name : title` means nothing there; here it gives the title")
        .fix(
            Applicability::Unsafe,
            format!("write `{id} : …`"),
            keyword,
            "",
        )
}

/// `state x` in front of a line with a `{`.
pub(in crate::front::mermaid) fn refused(span: Span, keyword: Span, id: &str) -> Diagnostic {
    let id = quote(id);
    bare(
        span,
        format!("Mermaid doesn't draw a diagram with `state {id}` here"),
    )
    .note("since 11.16 it takes the word, the next line and its `{` for one name")
    .fix(
        Applicability::Safe,
        format!("write `{id}` alone"),
        keyword,
        "",
    )
}
