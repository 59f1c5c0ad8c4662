//! States' names.

use super::error;
use crate::diag::{Applicability, Diagnostic};
use crate::front::mermaid::report::{quote, slug};
use crate::source::Span;

/// `my-state`.
pub(in crate::front::mermaid) fn dash(span: Span, name: &str) -> Diagnostic {
    let better = name.trim_matches('-').replace('-', "_");
    error(span, "a dash can't stand in a state's name")
        .label(format!(
            "read as far as `{}`",
            quote(name.split('-').next().unwrap_or(""))
        ))
        .fix(
            Applicability::Unsafe,
            format!("write `{}`", quote(&better)),
            span,
            better,
        )
}

/// A keyword where a name is expected.
pub(in crate::front::mermaid) fn keyword(span: Span, word: &str) -> Diagnostic {
    error(
        span,
        format!("`{word}` is a keyword and can't name a state here"),
    )
    .help(format!("name the state otherwise: `{word}_`, `my_{word}`"))
}

/// `"a title"` where a name is expected.
pub(in crate::front::mermaid) fn quoted(span: Span, text: &str) -> Diagnostic {
    let title = text.trim().trim_matches('"');
    let id = slug(title);
    error(span, "a state's name can't stand in quotes")
        .label("a title")
        .help(format!(
            "declare `state \"{}\" as {id}` and use `{id}` here",
            quote(title)
        ))
}
