//! SM101: a heading that looks as if it was meant to start a machine's section, and doesn't.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// Why a heading is none of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Its words are others.
    Words,
    /// Its level is another.
    Level,
    /// It has no blank behind its `##`, so that it isn't even a heading.
    Blank,
}

/// The heading at `heading` was probably meant as `right`.
pub(crate) fn near_miss_heading(
    heading: Span,
    flaw: Flaw,
    right: &str,
    applicability: Applicability,
) -> Diagnostic {
    let note = match flaw {
        Flaw::Words => {
            "the words must be exactly `STATE-MACHINE`, in capitals, with a colon before a name"
        }
        Flaw::Level => "only a heading of level 2 starts a section",
        Flaw::Blank => "Markdown wants a blank behind the `##` of a heading",
    };
    let message = if flaw == Flaw::Blank {
        "this line is no heading, and starts no state machine"
    } else {
        "this heading starts no state machine"
    };
    Diagnostic::new(Code::NearMissHeading, heading, message)
        .label("nearly the heading of a section")
        .note(note)
        .help(format!("for a state machine write `{right}`"))
        .fix(applicability, format!("write `{right}`"), heading, right)
}
