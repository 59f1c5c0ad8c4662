//! SM203: a name that is no event, or one that the state doesn't handle.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

/// A key names an event that the machine doesn't have.
pub(in crate::lower) fn unknown_event<'k>(
    name: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("event `{}` doesn't exist", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownEvent, name.span, message)
        .label("no transition is triggered by it");
    match nearest(&name.value, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            name.span,
            format!("\"{near}\""),
        ),
        None => {
            diagnostic.help("name an event that some transition of the machine is triggered by")
        }
    }
}

/// `on_max_iterations` names an event that nothing in that state takes.
pub(in crate::lower) fn unhandled(event: &Spanned<String>, state: &str, at: Span) -> Diagnostic {
    let message = format!("state `{state}` has no transition for `{}`", event.value);
    Diagnostic::new(Code::UnknownEvent, event.span, message)
        .label("would be sent in vain")
        .related(
            at,
            format!("neither `{state}` nor a state around it handles the event"),
        )
        .help(format!(
            "add a transition from `{state}` for `{}`",
            event.value
        ))
}
