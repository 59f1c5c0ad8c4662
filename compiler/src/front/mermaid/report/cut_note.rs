//! `SM120` `cut-note`: Mermaid shows another text in a note than its author wrote.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn cut(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::CutNote, span, message)
}

/// `note right of a:text` and `note right of a  : text`.
pub(in crate::front::mermaid) fn line(
    colon: Span,
    text: Span,
    lost_letter: bool,
    glued: bool,
) -> Diagnostic {
    let mended = if glued { " : " } else { " :" };
    let message = if lost_letter {
        "Mermaid drops the first letter of this note"
    } else {
        "Mermaid shows the colon of this note"
    };
    cut(colon, message)
        .related(text, "this note")
        .note("Mermaid cuts off two characters behind the name, whatever they are")
        .fix(Applicability::Safe, "write ` : `", colon, mended)
}

/// `note right of my-state` on several lines.
pub(in crate::front::mermaid) fn dash(name: Span, read: &str) -> Diagnostic {
    cut(name, format!("this note stands beside `{}`", quote(read)))
        .label("a dash ends the name, and the text begins there")
        .help("a state's name can't hold a dash: write `_`")
}

/// `note "text" as name`, of which Mermaid draws nothing.
pub(in crate::front::mermaid) fn floating(note: Span) -> Diagnostic {
    cut(note, "Mermaid doesn't show this note")
        .note("it reads a note that stands beside no state, and passes over it")
        .help("put it beside a state: `note right of name : text`")
}
