//! SM132: a slash that doesn't separate actions.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::{Span, Spanned};

/// What stands behind ` / ` is no action, so the slash is text.
pub(in crate::lower) fn slash_as_text(label: &Spanned<String>, slash: Span) -> Diagnostic {
    let message = "this slash is text: what follows it isn't an action";
    let diagnostic = Diagnostic::new(Code::SlashAsText, slash, message)
        .label("read as part of the event")
        .help("an action is `name()`, or a name that the definition declares under `actions`");
    let parts: Vec<String> = label
        .value
        .split(" / ")
        .map(crate::lower::words::slug)
        .collect();
    if parts.len() < 2 || parts.iter().any(String::is_empty) {
        return diagnostic;
    }
    let list = parts.join(", ");
    diagnostic.fix(
        Applicability::Unsafe,
        format!("if it means *or*, write `{list}`"),
        label.span,
        list,
    )
}
