//! SM101: a heading that looks as if it was meant to start a machine's section, and doesn't.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// The heading at `heading`, of that level, was probably meant as `right`.
pub(crate) fn near_miss_heading(
    heading: Span,
    level: u8,
    right: &str,
    applicability: Applicability,
) -> Diagnostic {
    let note = if level == 2 {
        "the words must be exactly `STATE-MACHINE`, in capitals, with a colon before a name"
    } else {
        "only a heading of level 2 starts a section"
    };
    Diagnostic::new(
        Code::NearMissHeading,
        heading,
        "this heading starts no state machine",
    )
    .label("nearly the heading of a section")
    .note(note)
    .help(format!("for a state machine write `{right}`"))
    .fix(applicability, format!("write `{right}`"), heading, right)
}
