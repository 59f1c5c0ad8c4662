//! SM212: two machines with one id.

use crate::diag::{Code, Diagnostic};
use crate::source::{Span, Spanned};

/// Two sections of a document make machines of the same id.
pub(crate) fn duplicate_machine(id: &Spanned<String>, first: Span) -> Diagnostic {
    let message = format!("a second machine is called `{}`", id.value);
    Diagnostic::new(Code::DuplicateMachine, id.span, message)
        .label("called the same")
        .related(first, "called so first here")
        .help("name each section: `## STATE-MACHINE: name`")
}
