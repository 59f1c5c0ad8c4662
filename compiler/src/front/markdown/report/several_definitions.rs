//! SM111: a further definition in a section.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The fence at `second` is marked as a definition, but that at `first` is the section's definition.
pub(crate) fn several_definitions(second: Span, first: Span) -> Diagnostic {
    Diagnostic::new(
        Code::SeveralDefinitions,
        second,
        "the section has another definition already, so this one is ignored",
    )
    .label("ignored")
    .related(first, "this is the section's definition")
    .help("move its keys into the first one, or drop the word `definition` if it is an example")
}
