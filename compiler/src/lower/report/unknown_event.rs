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

/// No event of the machine begins as a pattern says.
pub(in crate::lower) fn nothing_matches<'k>(
    pattern: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("no event of the machine matches `{}`", pattern.value);
    let diagnostic = Diagnostic::new(Code::UnknownEvent, pattern.span, message)
        .label("would never be taken")
        .note("`*` stands for the other events of the machine, `job.*` for those that begin with `job.`");
    let begins = pattern.value.trim_end_matches('*').trim_end_matches('.');
    let heads: std::collections::BTreeSet<&str> = known
        .filter_map(|event| event.split_once('.').map(|(head, _)| head))
        .collect();
    match nearest(begins, heads) {
        Some(near) if near != begins => diagnostic.help(format!("did you mean `{near}.*`?")),
        _ => diagnostic.help(
            "declare the events that may come in `events`, or name one that a transition takes",
        ),
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
