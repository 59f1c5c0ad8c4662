//! SM130: a label in prose.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Spanned;

/// Free text became an event.
pub(in crate::lower) fn prose_label(text: &Spanned<String>, event: &str) -> Diagnostic {
    let message = format!("this text is the event `{event}`");
    let diagnostic =
        Diagnostic::new(Code::ProseLabel, text.span, message).label(format!("sent as `{event}`"));
    let brackets = text
        .value
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'));
    match brackets.map(|(guard, rest)| (guard.trim(), rest.trim())) {
        // Writing the identifier would lose what its author meant by the brackets.
        Some((guard, rest)) if !guard.is_empty() && !rest.is_empty() => {
            diagnostic.note("a guard stands behind the event").fix(
                Applicability::Unsafe,
                format!("write `{rest} [{guard}]` to make the brackets a guard"),
                text.span,
                format!("{rest} [{guard}]"),
            )
        }
        _ => diagnostic.fix(
            Applicability::Safe,
            format!("write `{event}`"),
            text.span,
            event,
        ),
    }
}
