//! SM102: a further state diagram in a section.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The fence at `second` holds a state diagram, but that at `first` is the section's diagram.
pub(crate) fn several_diagrams(second: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::SeveralDiagrams,
        second,
        "the section has another state diagram already, so this one is ignored",
    )
    .label("ignored")
    .related(first, "this is the section's diagram")
    .help("give it a section of its own, `## STATE-MACHINE: name`, or draw both as one")
}
