//! Messages that several files send, and helpers for messages.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// Longest quotation in a message.
/// Unit: characters. Why: a message is read on one line.
const MAX_QUOTE: usize = 48;

/// Returns the start of a text on one line, as a message quotes it.
pub(super) fn quote(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    if line.chars().count() <= MAX_QUOTE {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(MAX_QUOTE - 1).collect();
    short.push('…');
    short
}

/// Turns a text into a name: everything that a name can't hold becomes `_`.
pub(super) fn slug(text: &str) -> String {
    let mut name = String::new();
    for c in text.trim().chars() {
        if c.is_alphanumeric() || c == '_' {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() {
        "state_1".to_owned()
    } else {
        name.to_owned()
    }
}

/// Completes a report of a comment that begins as in another language.
///
/// `report` gets what is wrong; the fix is the sign that is right.
pub(super) fn foreign_comment(
    sign: Span,
    written: &str,
    report: impl FnOnce(String) -> Diagnostic,
) -> Diagnostic {
    let message = format!("a comment begins with `%%`, not `{}`", quote(written));
    report(message).unsafe_fix("write `%%`", sign, "%%")
}

/// Creates an `SM122` diagnostic (`swallowed-line`).
///
/// A keyword that lacks something takes the lines after it.
fn swallowed_line(keyword: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SwallowedLine, keyword, message)
}

/// Reports `classDef a` without styles, `accTitle:` without a text.
pub(super) fn swallows_line(keyword: Span, word: &str, line: Span, text: &str) -> Diagnostic {
    let message = format!("`{word}` takes the line `{}` for its own", quote(text));
    swallowed_line(keyword, message)
        .related(line, "it isn't read as anything else")
        .help(format!("complete the line of `{word}`, or remove it"))
}

/// Reports a note without `end note` before one that has it.
pub(super) fn note_swallows_note(keyword: Span, text: Span) -> Diagnostic {
    let message = "this note continues up to the `end note` of another";
    swallowed_line(keyword, message)
        .related(text, "all this is its text")
        .help("put an `end note` where it should end")
}

/// Reports `accDescr {` without its `}`.
pub(super) fn unclosed_description(keyword: Span, text: Span) -> Diagnostic {
    let message = "this description continues up to the end of the diagram";
    swallowed_line(keyword, message)
        .related(text, "all this is its text")
        .help("close it with `}`")
}

/// Reports `%%{init: …` without its `}%%`.
pub(super) fn unclosed_directive(sign: Span, directive: Span) -> Diagnostic {
    swallowed_line(sign, "this directive isn't closed")
        .related(directive, "Mermaid draws none of this")
        .help("close it with `}%%`; a comment begins with `%%` and no brace")
}

/// Reports `%%{ two words }%%`, which Mermaid reads as far as the first.
pub(super) fn cut_directive(sign: Span, directive: Span) -> Diagnostic {
    swallowed_line(sign, "this directive ends before its `}%%`")
        .related(directive, "Mermaid reads only this as the directive")
        .help("write `%%{init: {…}}%%`; a comment begins with `%%` and no brace")
}
