//! `SM125` `note-before-state`: Mermaid draws no diagram in which a note is what mentions a state first.

use crate::diag::{Applicability, Code, Diagnostic, Edit};
use crate::front::mermaid::ast::Note;
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn undrawn(note: &Note, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NoteBeforeState, note.state.span, message)
        .note("Mermaid gives no shape to a state that a note mentions first, and draws nothing at all: `No such shape`")
}

/// A note above the first use of its state. `edits` move it.
pub(in crate::front::mermaid) fn early(
    note: &Note,
    first: Span,
    edits: Option<Vec<Edit>>,
) -> Diagnostic {
    let id = quote(&note.state.value);
    let finding = undrawn(note, format!("this note comes before its state `{id}`"))
        .related(first, "the state");
    let title = format!("put the note below the first use of `{id}`");
    match edits {
        Some(edits) => finding.fix_all(Applicability::Safe, title, edits),
        None => finding.help(title),
    }
}

/// A note beside a state that is nowhere else. `near` is one with a similar name.
pub(in crate::front::mermaid) fn alone(note: &Note, near: Option<&str>) -> Diagnostic {
    let id = quote(&note.state.value);
    let finding = undrawn(
        note,
        format!("this note stands beside `{id}`, and no state has that name"),
    );
    match near {
        Some(near) => finding.fix(
            Applicability::Safe,
            format!("write `{}`", quote(near)),
            note.state.span,
            near,
        ),
        None => finding.help("name a state of the diagram, or remove the note"),
    }
}
