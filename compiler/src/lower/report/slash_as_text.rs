//! SM132: a slash that doesn't separate actions.

use std::ops::Range;

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

/// A guard stands behind the actions, where the grammar has no place for one. `slash` and `guard` are bytes of the label.
pub(in crate::lower) fn late_guard(
    label: &Spanned<String>,
    slash: &Range<usize>,
    guard: Range<usize>,
    span: Span,
    declares: impl Fn(&str) -> bool,
) -> Diagnostic {
    let text = |range: Range<usize>| label.value.get(range).unwrap_or("").trim();
    let condition = text(guard.clone());
    let list: Vec<String> = text(slash.end..guard.start)
        .split(',')
        .map(str::trim)
        .map(|item| {
            if item.ends_with("()") || declares(item) {
                item.to_owned()
            } else {
                format!("{item}()")
            }
        })
        .collect();
    let parts = [text(0..slash.start), condition, "/", &list.join(", ")];
    let mended = parts.join(" ").trim_start().to_owned();
    let message = "this slash is text, because a guard stands behind the actions";
    Diagnostic::new(Code::SlashAsText, span, message)
        .label("read as part of the event")
        .note("a guard stands before the slash: `event [guard] / action()`")
        .fix(
            Applicability::Unsafe,
            format!("write `{mended}`"),
            label.span,
            mended,
        )
}
