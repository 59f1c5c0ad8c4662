//! SM212: two machines with one id, or with one name in Rust.

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

/// The ids of two sections differ, but not as names of Rust modules.
pub(crate) fn same_module(
    id: &Spanned<String>,
    first: &Spanned<String>,
    module: &str,
) -> Diagnostic {
    let message = format!(
        "machines `{}` and `{}` would both be the module `{module}` in Rust",
        first.value, id.value
    );
    Diagnostic::new(Code::DuplicateMachine, id.span, message)
        .label(format!("becomes `{module}`"))
        .related(first.span, format!("becomes `{module}`, too"))
        .help("rename one of them: `## STATE-MACHINE: name`")
}
