//! Messages about labels and descriptions.

use std::ops::Range;

use super::ast::{Flaw, Label, Parts, Trigger};
use crate::diag::{Code, Diagnostic, Diags, Severity};
use crate::front::label::duration;
use crate::front::words::{is_identifier, slug};
use crate::source::{Span, Spanned};

const GRAMMAR: &str = "a label is `event [guard] / action(), action()`, in that order";

/// Reports brackets that hold no guard, and a bracket that isn't closed.
pub(crate) fn report_brackets(label: &Label, parts: &Parts, diags: &mut Diags) {
    for flaw in &parts.flaws {
        match flaw {
            Flaw::EmptyGuard(brackets) => diags.push(empty_guard(label.span(brackets.clone()))),
            Flaw::UnclosedGuard(bracket) => diags.push(unclosed_guard(label, bracket)),
            Flaw::StrayBracket(bracket) => diags.push(stray_bracket(label, bracket)),
            Flaw::MisplacedGuard { .. }
            | Flaw::LateGuard { .. }
            | Flaw::UnlistedActions(_)
            | Flaw::LostCall(_)
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
        Flaw::LostCall(call) => Some(lost_call(label, call)),
        Flaw::Slash(slash) => Some(slash_as_text(label, parts, slash)),
        Flaw::EmptyGuard(_) | Flaw::UnclosedGuard(_) | Flaw::StrayBracket(_) => None,
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

/// Reports a bracket that closes nothing.
///
/// If one word is before the text that it ends, that is the event, and the text is the guard.
fn stray_bracket(label: &Label, bracket: &Range<usize>) -> Diagnostic {
    let place = label.span(bracket.clone());
    let diagnostic = Diagnostic::new(Code::BrokenLabel, place, "this bracket isn't opened")
        .label("closes nothing");
    let before = label.text.value.get(..bracket.start).unwrap_or("");
    let guard = before
        .split_once(char::is_whitespace)
        .filter(|(event, guard)| {
            is_identifier(event) && !guard.trim().is_empty() && !guard.contains('[')
        });
    let Some((event, guard)) = guard else {
        return diagnostic.help("write a guard, such as `[ready]`, or remove the bracket");
    };
    let blanks = guard.len() - guard.trim_start().len();
    let start = before.len() - guard.len() + blanks;
    let start = label.span(start..start);
    let title = format!("write `{event} [{}]`", guard.trim());
    diagnostic.unsafe_fix(title, start, "[")
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
    let is_before_slash = text(bracket.end..trigger.end).starts_with('/');
    let message = match is_before_slash {
        true => {
            "these brackets aren't read as a guard, because what follows the slash is no action"
        }
        false => "these brackets aren't read as a guard",
    };
    let diagnostic = Diagnostic::new(Code::UnreadPart, label.span(bracket.clone()), message)
        .label("would be part of the event's name")
        .note(GRAMMAR);
    // `pay [in_stock] / ship it`: what is missing is the action's form.
    let tail = text(bracket.end..trigger.end);
    // `pay [in_stock], ship()`: what is missing is the slash.
    if let Some(list) = calls_at_end(tail) {
        let event = text(trigger.start..bracket.start);
        let mended = format!("{event} {guard} / {list}").trim_start().to_owned();
        return diagnostic.unsafe_fix(format!("write `{mended}`"), label.text.span, mended);
    }
    if let Some(action) = tail
        .strip_prefix('/')
        .map(name_of_action)
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

/// Returns the name that a text could be as an action: `ship` of `ship(1)`, and `ship_it` of `ship it`.
fn name_of_action(text: &str) -> String {
    let text = text.trim();
    match text.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') && is_identifier(name) => name.to_owned(),
        _ => slug(text),
    }
}

/// Returns the calls that a text has after something else than letters.
///
/// Such are `, ship()` and `-> ship(), count()`.
fn calls_at_end(text: &str) -> Option<&str> {
    let text = text.strip_prefix("<br>").unwrap_or(text);
    let list = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let mut items = list.split(',').map(str::trim);
    let is_call = |item: &str| item.strip_suffix("()").is_some_and(is_identifier);
    items.all(is_call).then_some(list)
}

/// Reports a call that would be part of the event's name, since no slash is before it.
fn lost_call(label: &Label, call: &Range<usize>) -> Diagnostic {
    let text = &label.text.value;
    let before = text.get(..call.start).unwrap_or("");
    let event = before.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let call_text = text.get(call.clone()).unwrap_or("");
    let message = format!("`{call_text}` isn't read as an action, because no ` / ` is before it");
    let mended = format!("{event} / {call_text}");
    Diagnostic::new(Code::UnreadPart, label.span(call.clone()), message)
        .label("would be part of the event's name")
        .note(GRAMMAR)
        .unsafe_fix(format!("write `{mended}`"), label.text.span, mended)
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

/// Reports a slash that separates no actions.
///
/// What follows it is meant as another event or as an action if it is a list of names, and else perhaps as text.
fn slash_as_text(label: &Label, parts: &Parts, slash: &Range<usize>) -> Diagnostic {
    let message = "this slash is text: what follows it isn't an action";
    let diagnostic = Diagnostic::new(Code::SlashAsText, label.span(slash.clone()), message)
        .label("read as part of the event")
        .help("an action is `name()`, or a name that the definition declares under `actions`");
    let trigger = match &parts.trigger {
        Some(Trigger::Prose(words) | Trigger::Condition(words)) => words,
        Some(Trigger::Commented { whole, .. }) => whole,
        Some(Trigger::Events(_) | Trigger::Delay { .. }) | None => return diagnostic,
    };
    let items = split_items(&trigger.value);
    let after_slash = items.iter().skip(1);
    let diagnostic = match after_slash.clone().all(|item| is_identifier(item)) {
        true => diagnostic.with_severity(Severity::Warning),
        false => diagnostic,
    };
    let events: Vec<String> = items.iter().map(|item| slug(item)).collect();
    // The text of a label that isn't in the file as it is has one place for all of its parts.
    let is_part = trigger.span != label.text.span || trigger.value == label.text.value;
    // A time isn't a name: there is nothing that it could be *or*.
    let is_delay = items.first().and_then(|it| it.strip_prefix("after "));
    let is_delay = is_delay.is_some_and(|it| duration::milliseconds(it).is_some());
    if events.len() < 2 || events.iter().any(String::is_empty) || !is_part || is_delay {
        return diagnostic;
    }
    let list = events.join(", ");
    diagnostic.unsafe_fix(
        format!("if it means *or*, write `{list}`"),
        trigger.span,
        list,
    )
}

/// Splits a text at each ` / ` and `,` that isn't inside brackets or quotes.
fn split_items(text: &str) -> Vec<&str> {
    let (mut depth, mut is_quoted, mut start) = (0_usize, false, 0);
    let mut items = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' | '/' if depth == 0 && !is_quoted => {
                let before = text.get(..at).unwrap_or_default();
                let after = text.get(at + 1..).unwrap_or_default();
                let is_between = before.is_empty() || before.ends_with(' ');
                if c == ',' || (is_between && after.starts_with(' ')) {
                    items.push(text.get(start..at).unwrap_or_default().trim());
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    items.push(text.get(start..).unwrap_or_default().trim());
    items
}
