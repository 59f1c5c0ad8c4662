//! SM136: a guard or an action that would be read as plain text.

use std::ops::Range;

use crate::diag::{Applicability, Code, Diagnostic};
use crate::lower::words::slug;
use crate::source::{Span, Spanned};

const GRAMMAR: &str = "a label is `event [guard] / action(), action()`, in that order";

/// Brackets stand where no guard can. `bracket` and `words` are bytes of the label: the brackets, and all of its trigger.
pub(in crate::lower) fn misplaced_guard(
    label: &Spanned<String>,
    bracket: &Range<usize>,
    trigger: &Range<usize>,
    span: Span,
) -> Diagnostic {
    let text = |range: Range<usize>| label.value.get(range).unwrap_or("").trim();
    let guard = text(bracket.clone());
    let event = [
        text(trigger.start..bracket.start),
        text(bracket.end..trigger.end),
    ];
    let event = event.join(" ").trim().to_owned();
    let diagnostic = Diagnostic::new(
        Code::UnreadPart,
        span,
        "these brackets aren't read as a guard",
    )
    .label("would be part of the event's name")
    .note(GRAMMAR);
    // `pay [in_stock] / ship it`: what is missing is the action's form.
    let tail = text(bracket.end..trigger.end);
    if let Some(action) = tail
        .strip_prefix('/')
        .map(slug)
        .filter(|action| !action.is_empty())
    {
        let event = text(trigger.start..bracket.start);
        let mended = format!("{event} {guard} / {action}()")
            .trim_start()
            .to_owned();
        return diagnostic
            .help("an action is `name()`, or a name that the definition declares under `actions`")
            .fix(
                Applicability::Unsafe,
                format!("write `{mended}`"),
                label.span,
                mended,
            );
    }
    if event.is_empty() || event.contains(['[', ',', '/']) {
        return diagnostic
            .help("put one guard behind the event, and give each event a line of its own");
    }
    let rest = text(trigger.end..label.value.len());
    let mended = format!("{event} {guard} {rest}").trim_end().to_owned();
    diagnostic.fix(
        Applicability::Unsafe,
        format!("write `{mended}`"),
        label.span,
        mended,
    )
}

/// Calls stand behind the slash, but not as a list. `tail` is what stands behind it.
pub(in crate::lower) fn no_list(tail: &str, span: Span) -> Diagnostic {
    let calls: Vec<&str> = tail
        .split_whitespace()
        .filter(|word| word.ends_with("()"))
        .collect();
    let list = calls.join(", ");
    Diagnostic::new(
        Code::UnreadPart,
        span,
        "these actions aren't read as a list of actions",
    )
    .label("would be part of the event's name")
    .note(GRAMMAR)
    .help(format!(
        "separate actions with commas, and nothing else: `/ {list}`"
    ))
}

/// An item behind `entry /` or `exit /` is no action.
pub(in crate::lower) fn no_action(item: &str, span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadPart,
        span,
        format!("`{item}` isn't the name of an action"),
    )
    .label("expected a name")
    .help("separate actions with commas, and write `entry /` and `exit /` on lines of their own")
}

/// `a : entry act()`. `slash` is where the slash belongs.
pub(in crate::lower) fn no_slash(keyword: &str, span: Span, slash: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadPart,
        span,
        format!("`{keyword}` needs a slash before its actions"),
    )
    .label("would be a title")
    .fix(
        Applicability::Unsafe,
        format!("write `{keyword} /`"),
        slash,
        " /",
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
    Diagnostic::new(
        Code::UnreadPart,
        span,
        "a guard can't stand behind the actions",
    )
    .label("neither the guard nor the actions would be read")
    .note(GRAMMAR)
    .fix(
        Applicability::Unsafe,
        format!("write `{mended}`"),
        label.span,
        mended,
    )
}
