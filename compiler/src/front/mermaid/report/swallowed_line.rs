//! `SM122` `swallowed-line`: a keyword that lacks something takes the following lines for it.

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn swallowed(keyword: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SwallowedLine, keyword, message)
}

/// `classDef a` without styles, `accTitle:` without a text.
pub(in crate::front::mermaid) fn by(
    keyword: Span,
    word: &str,
    line: Span,
    text: &str,
) -> Diagnostic {
    swallowed(
        keyword,
        format!("`{word}` takes the line `{}` for its own", quote(text)),
    )
    .related(line, "nothing else is made of it")
    .help(format!("complete the line of `{word}`, or remove it"))
}

/// A note without `end note`, in front of one that has it.
pub(in crate::front::mermaid) fn by_note(keyword: Span, text: Span) -> Diagnostic {
    swallowed(keyword, "this note goes on up to the `end note` of another")
        .related(text, "all this is its text")
        .help("put an `end note` where it should end")
}

/// `accDescr {` without its `}`.
pub(in crate::front::mermaid) fn unclosed(keyword: Span, text: Span) -> Diagnostic {
    swallowed(
        keyword,
        "this description goes on up to the end of the diagram",
    )
    .related(text, "all this is its text")
    .help("close it with `}`")
}

/// `%%{init: …` without its `}%%`.
pub(in crate::front::mermaid) fn unclosed_directive(sign: Span, directive: Span) -> Diagnostic {
    swallowed(sign, "this directive isn't closed")
        .related(directive, "nothing is drawn of all this")
        .help("close it with `}%%`; a comment begins with `%%` and no brace")
}

/// `%%{ two words }%%`, which Mermaid reads as far as the first.
pub(in crate::front::mermaid) fn cut_directive(sign: Span, directive: Span) -> Diagnostic {
    swallowed(sign, "this directive ends in front of its `}%%`")
        .related(directive, "Mermaid reads only this as the directive")
        .help("write `%%{init: {…}}%%`; a comment begins with `%%` and no brace")
}
