//! Messages about labels and descriptions.

use std::ops::Range;

use super::ast::{Flaw, Label, Parts};
use crate::diag::{Code, Diagnostic, Diags};
use crate::front::words::slug;
use crate::source::{Span, Spanned};

const GRAMMAR: &str = "a label is `event [guard] / action(), action()`, in that order";

/// Reports brackets that hold no guard, and a bracket that isn't closed.
pub(crate) fn report_brackets(label: &Label, parts: &Parts, diags: &mut Diags) {
    for flaw in &parts.flaws {
        match flaw {
            Flaw::EmptyGuard(brackets) => diags.push(empty_guard(label.span(brackets.clone()))),
            Flaw::UnclosedGuard(bracket) => diags.push(unclosed_guard(label, bracket)),
            Flaw::MisplacedGuard { .. }
            | Flaw::LateGuard { .. }
            | Flaw::UnlistedActions(_)
            | Flaw::Slash(_) => {}
        }
    }
}

/// Reports the first guard or action that would be lost in the name of the event.
pub(crate) fn lost_part(
    label: &Label,
    parts: &Parts,
    declares: impl Fn(&str) -> bool,
) -> Option<Diagnostic> {
    parts.flaws.iter().find_map(|flaw| match flaw {
        Flaw::LateGuard { slash, bracket } => Some(late_guard(label, slash, bracket, &declares)),
        Flaw::MisplacedGuard { bracket, trigger } => Some(misplaced_guard(label, bracket, trigger)),
        Flaw::UnlistedActions(list) => Some(unlisted_actions(label, list)),
        Flaw::Slash(slash) => Some(slash_as_text(&label.text, label.span(slash.clone()))),
        Flaw::EmptyGuard(_) | Flaw::UnclosedGuard(_) => None,
    })
}

pub(crate) fn empty_guard(span: Span) -> Diagnostic {
    Diagnostic::new(Code::BrokenLabel, span, "these brackets hold no guard")
        .label("expected a name or a condition")
        .help("write a guard, such as `[ready]`, or remove the brackets")
}

pub(crate) fn actions_without_event(span: Span) -> Diagnostic {
    Diagnostic::new(Code::BrokenLabel, span, "no event triggers these actions")
        .label("has actions, but neither an event nor a guard")
        .help("write `event / action()`, or `entry / action` and `exit / action`")
}

fn unclosed_guard(label: &Label, bracket: &Range<usize>) -> Diagnostic {
    let place = label.span(bracket.clone());
    let diagnostic = Diagnostic::new(Code::BrokenLabel, place, "this bracket isn't closed")
        .label("a guard begins here");
    // The guard ends where the actions begin.
    let rest = label.text.value.get(bracket.end..).unwrap_or("");
    let guard = rest.split(" / ").next().unwrap_or("").trim_end();
    if guard.trim().is_empty() {
        return diagnostic.help("write a guard, such as `[ready]`, or remove the bracket");
    }
    let end = bracket.end + guard.len();
    let end = label.span(end..end);
    diagnostic.unsafe_fix("close it", end, "]")
}

pub(crate) fn unnamed_action(item: &Spanned<String>) -> Diagnostic {
    let message = format!("`{}` isn't the name of an action", item.value);
    Diagnostic::new(Code::UnreadPart, item.span, message)
        .label("expected a name")
        .help(
            "separate actions with commas, and write `entry /` and `exit /` on lines of their own",
        )
}

pub(crate) fn missing_slash(keyword: &str, span: Span, slash: Span) -> Diagnostic {
    let message = format!("`{keyword}` needs a slash before its actions");
    Diagnostic::new(Code::UnreadPart, span, message)
        .label("would be a title")
        .unsafe_fix(format!("write `{keyword} /`"), slash, " /")
}

fn late_guard(
    label: &Label,
    slash: &Range<usize>,
    bracket: &Range<usize>,
    declares: impl Fn(&str) -> bool,
) -> Diagnostic {
    let text = |range: Range<usize>| label.text.value.get(range).unwrap_or("").trim();
    let guard = text(bracket.clone());
    let list: Vec<String> = text(slash.end..bracket.start)
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
    let parts = [text(0..slash.start), guard, "/", &list.join(", ")];
    let mended = parts.join(" ").trim_start().to_owned();
    let message = "a guard can't follow the actions";
    Diagnostic::new(Code::UnreadPart, label.span(slash.clone()), message)
        .label("neither the guard nor the actions would be read")
        .note(GRAMMAR)
        .unsafe_fix(format!("write `{mended}`"), label.text.span, mended)
}

fn misplaced_guard(label: &Label, bracket: &Range<usize>, trigger: &Range<usize>) -> Diagnostic {
    let text = |range: Range<usize>| label.text.value.get(range).unwrap_or("").trim();
    let guard = text(bracket.clone());
    let event = [
        text(trigger.start..bracket.start),
        text(bracket.end..trigger.end),
    ];
    let event = event.join(" ").trim().to_owned();
    let message = "these brackets aren't read as a guard";
    let diagnostic = Diagnostic::new(Code::UnreadPart, label.span(bracket.clone()), message)
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
            .unsafe_fix(format!("write `{mended}`"), label.text.span, mended);
    }
    if event.is_empty() || event.contains(['[', ',', '/']) {
        return diagnostic
            .help("put one guard after the event, and give each event a line of its own");
    }
    let rest = text(trigger.end..label.text.value.len());
    let mended = format!("{event} {guard} {rest}").trim_end().to_owned();
    diagnostic.unsafe_fix(format!("write `{mended}`"), label.text.span, mended)
}

fn unlisted_actions(label: &Label, list: &Range<usize>) -> Diagnostic {
    let text = label.text.value.get(list.clone()).unwrap_or("");
    let calls: Vec<&str> = text
        .split_whitespace()
        .filter(|word| word.ends_with("()"))
        .collect();
    let calls = calls.join(", ");
    let message = "these actions aren't read as a list of actions";
    Diagnostic::new(Code::UnreadPart, label.span(list.clone()), message)
        .label("would be part of the event's name")
        .note(GRAMMAR)
        .help(format!(
            "separate actions with commas, and nothing else: `/ {calls}`"
        ))
}

fn slash_as_text(label: &Spanned<String>, slash: Span) -> Diagnostic {
    let message = "this slash is text: what follows it isn't an action";
    let diagnostic = Diagnostic::new(Code::SlashAsText, slash, message)
        .label("read as part of the event")
        .help("an action is `name()`, or a name that the definition declares under `actions`");
    let parts: Vec<String> = label.value.split(" / ").map(slug).collect();
    if parts.len() < 2 || parts.iter().any(String::is_empty) {
        return diagnostic;
    }
    let list = parts.join(", ");
    diagnostic.unsafe_fix(
        format!("if it means *or*, write `{list}`"),
        label.span,
        list,
    )
}
