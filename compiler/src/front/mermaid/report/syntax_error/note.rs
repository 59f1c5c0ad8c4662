//! Notes.

use super::error;
use crate::diag::{Applicability, Diagnostic, Edit};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// `note over a`.
pub(in crate::front::mermaid) fn side(span: Span, word: &str) -> Diagnostic {
    let word = quote(word);
    error(span, format!("a note can't stand `{word}`"))
        .label("expected `left of` or `right of`")
        .help("write `note right of name : text`")
}

/// `note right of` and no name.
pub(in crate::front::mermaid) fn no_state(line: Span) -> Diagnostic {
    error(line, "expected a state's name behind the note's side")
        .help("write `note right of name : text`")
}

/// A note without a text, or without its end.
pub(in crate::front::mermaid) fn no_text(line: Span) -> Diagnostic {
    error(line, "this note has no text, or no `end note`")
        .help("write `note right of name : text`, or the text on lines of its own and `end note` on the last")
}

/// A colon inside of a note's text on one line.
pub(in crate::front::mermaid) fn colon(span: Span) -> Diagnostic {
    error(span, "a colon can't stand in a note of one line")
        .label("the note ends here")
        .fix(
            Applicability::Safe,
            "write the colon as `#58;`",
            span,
            "#58;",
        )
        .help("or write the text on lines of its own, with `end note` on the last")
}

/// `note "text"` without `as name`, or with a text that begins with `as`.
pub(in crate::front::mermaid) fn floating(line: Span) -> Diagnostic {
    error(line, "a floating note is a text in quotes, `as` and a name")
        .help("write `note \"text\" as name`; the text can't begin with `as`")
}

/// `end note` where no note is open. `removal` takes the line away.
pub(in crate::front::mermaid) fn nothing_to_end(span: Span, removal: Option<Edit>) -> Diagnostic {
    let finding = error(span, "no note is open here")
        .label("ends nothing")
        .note("a note with its text behind a colon ends with its line");
    match removal {
        Some(edit) => finding.fix_all(Applicability::Safe, "remove this `end note`", vec![edit]),
        None => finding.help("remove this `end note`"),
    }
}
