//! `state …`.

use super::error;
use crate::diag::{Applicability, Diagnostic};
use crate::front::mermaid::report::{quote, slug};
use crate::source::Span;

/// `state Two words {`.
pub(in crate::front::mermaid) fn several_words(span: Span, words: &str) -> Diagnostic {
    let id = slug(words);
    let words = quote(words);
    error(
        span,
        format!("a composite's name is one word, not `{words}`"),
    )
    .label("several words")
    .fix(
        Applicability::Unsafe,
        format!("write `state \"{words}\" as {id} {{`"),
        span,
        format!("\"{words}\" as {id}"),
    )
}

/// `state a : The title {`.
pub(in crate::front::mermaid) fn composite_title(span: Span, id: &str, title: &str) -> Diagnostic {
    let shown = quote(title);
    error(
        span,
        format!("the title `{shown}` can't stand behind the composite's name"),
    )
    .fix(
        Applicability::Safe,
        format!("write `state \"{shown}\" as {} {{`", quote(id)),
        span,
        format!("\"{title}\" as {id}"),
    )
}

/// `state Title as id`.
pub(in crate::front::mermaid) fn title_without_quotes(
    span: Span,
    title: &str,
    id: &str,
) -> Diagnostic {
    let title = quote(title);
    error(span, format!("the title `{title}` needs quotes"))
        .help(format!("write `state \"{title}\" as {}`", quote(id)))
}

/// `state "title"` without `as id`.
pub(in crate::front::mermaid) fn title_without_id(
    span: Span,
    title: &str,
    braced: bool,
) -> Diagnostic {
    let brace = if braced { " {" } else { "" };
    let shown = quote(title);
    error(
        span,
        format!("expected `as` and a name behind the title `{shown}`"),
    )
    .label("only a title")
    .help(format!(
        "write `state \"{shown}\" as {}{brace}`",
        slug(title)
    ))
}

/// `state "title` without its second quote.
pub(in crate::front::mermaid) fn unclosed_title(span: Span) -> Diagnostic {
    error(span, "this title has no second quote").help("write `state \"title\" as name`")
}

/// `state "" as id`, `state as id`.
pub(in crate::front::mermaid) fn nothing_before_as(span: Span) -> Diagnostic {
    error(span, "expected a title between `state` and `as`")
        .help("write `state \"title\" as name`; a state named `as` can't be declared")
}
