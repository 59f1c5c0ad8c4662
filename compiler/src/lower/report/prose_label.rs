//! SM130: a label in prose.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Spanned;

/// Free text became an event.
pub(in crate::lower) fn prose_label(text: &Spanned<String>, event: &str) -> Diagnostic {
    let message = format!("this text is the event `{event}`");
    Diagnostic::new(Code::ProseLabel, text.span, message)
        .label(format!("sent as `{event}`"))
        .fix(
            Applicability::Safe,
            format!("write `{event}`"),
            text.span,
            event,
        )
}
