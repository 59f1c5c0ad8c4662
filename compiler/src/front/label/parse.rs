//! The text after a colon, taken apart.

use std::ops::Range;

use super::ast::{
    Action, Description, DescriptionKind, Flaw, Guard, Item, Label, Parts, Trigger, span_of,
};
use super::duration::milliseconds;
use crate::front::expression::GuardText;
use crate::front::words::{is_identifier, slug};
use crate::source::Spanned;

/// Parses the label of a transition. `is_verbatim`: the text is in the file byte for byte.
#[must_use]
pub fn parse(text: Spanned<String>, is_verbatim: bool) -> Label {
    let (parts, parts_if_declared) = Parser {
        text: &text,
        is_verbatim,
    }
    .readings();
    Label {
        parts: Box::new(parts),
        parts_if_declared: parts_if_declared.map(Box::new),
        text,
    }
}

/// Parses the text of `state : text`. `is_verbatim`: the text is in the file byte for byte.
#[must_use]
pub fn parse_description(text: Spanned<String>, is_verbatim: bool) -> Description {
    let kind = state_actions(&text)
        .unwrap_or_else(|| DescriptionKind::Label(parse(text.clone(), is_verbatim)));
    Description { text, kind }
}

/// Parses `entry / x, y()` and its kin; `None` for any other text.
fn state_actions(text: &Spanned<String>) -> Option<DescriptionKind> {
    for (keyword, entry) in [("entry", true), ("exit", false)] {
        let rest = text.value.strip_prefix(keyword).map(str::trim_start);
        let Some(rest) = rest else { continue };
        if let Some(list) = rest.strip_prefix('/') {
            let items = items(text, list);
            return Some(DescriptionKind::Actions { entry, items });
        }
        if rest.ends_with("()") && text.value.len() > keyword.len() + rest.len() {
            let slash = span_of(text, keyword.len()..keyword.len());
            return Some(DescriptionKind::MissingSlash { keyword, slash });
        }
    }
    None
}

/// Parses the items of a list at the end of a text: separated by commas, with or without `()`.
fn items(text: &Spanned<String>, list: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut start = text.value.len() - list.len();
    for item in list.split(',') {
        let word = item.trim();
        let at = start + (item.len() - item.trim_start().len());
        start += item.len() + 1;
        let bare = word.strip_suffix("()").unwrap_or(word);
        let name = if is_identifier(bare) {
            bare.to_owned()
        } else {
            slug(bare)
        };
        if name.is_empty() {
            continue;
        }
        let span = span_of(text, at..at + word.len());
        items.push(if bare.contains(['/', '(', ')', '[', ']']) {
            Item::Unnamed(Spanned::new(word.to_owned(), span))
        } else {
            Item::Action(Spanned::new(name, span))
        });
    }
    items
}

struct Parser<'t> {
    text: &'t Spanned<String>,
    is_verbatim: bool,
}

impl Parser<'_> {
    /// Parses the label in the reading that needs no declaration, and in the one that does.
    fn readings(&self) -> (Parts, Option<Parts>) {
        let text = self.text.value.as_str();
        let whole = trim(text, 0..text.len());
        let Some((before, slash, after)) = split_slash(text, whole.clone()) else {
            return (self.parts(whole, Vec::new(), Vec::new()), None);
        };
        let actions = self.actions(after.clone());
        let is_list = actions.iter().all(|action| action.is_call);
        let acting = self.parts(before.clone(), actions, Vec::new());
        if is_list {
            return (acting, None);
        }
        let mut flaws = Vec::new();
        if let Some(bracket) = late_guard(text, before, after.clone()) {
            let slash = slash.clone();
            flaws.push(Flaw::LateGuard { slash, bracket });
        } else if slice(text, after.clone()).contains("()") {
            flaws.push(Flaw::UnlistedActions(after));
        }
        flaws.push(Flaw::Slash(slash));
        (self.parts(whole, Vec::new(), flaws), Some(acting))
    }

    /// Parses trigger and guard of a label, or of its part before ` / `.
    fn parts(&self, head: Range<usize>, actions: Vec<Action>, mut flaws: Vec<Flaw>) -> Parts {
        let text = self.text.value.as_str();
        let mut head = head;
        let mut guard = None;
        let mut unclosed = None;
        if let Some((before, brackets)) = split_guard(text, head.clone()) {
            head = before;
            let inner = trim(text, brackets.start + 1..brackets.end - 1);
            if inner.is_empty() {
                flaws.push(Flaw::EmptyGuard(brackets));
            } else {
                guard = Some(self.guard(inner));
            }
        } else {
            unclosed = unclosed_bracket(text, head.clone());
        }
        let stray = stray_bracket(text, head.clone());
        let has_late_guard = flaws.iter().any(|it| matches!(it, Flaw::LateGuard { .. }));
        let mut trigger = if has_late_guard {
            Some(Trigger::Prose(self.part(head.clone())))
        } else {
            self.trigger(head.clone())
        };
        let is_text = matches!(
            trigger,
            Some(Trigger::Prose(_) | Trigger::Condition(_) | Trigger::Commented { .. })
        );
        if is_text && !has_late_guard && stray.is_none() {
            let lost = match bracket_group(text, head.clone()) {
                Some(bracket) => Some(Flaw::MisplacedGuard {
                    bracket,
                    trigger: head.clone(),
                }),
                None if flaws.is_empty() => lost_call(text, head.clone()).map(Flaw::LostCall),
                None => None,
            };
            if let Some(lost) = lost {
                // A parenthesis at its end is no comment then.
                trigger = Some(Trigger::Prose(self.part(head)));
                flaws.insert(0, lost);
            }
        }
        flaws.extend(unclosed.map(Flaw::UnclosedGuard));
        flaws.extend(stray.map(Flaw::StrayBracket));
        Parts {
            trigger,
            guard,
            actions,
            flaws,
        }
    }

    fn part(&self, range: Range<usize>) -> Spanned<String> {
        let value = slice(&self.text.value, range.clone()).to_owned();
        Spanned::new(value, span_of(self.text, range))
    }

    fn guard(&self, range: Range<usize>) -> Guard {
        let text = self.part(range);
        if text.value == "else" {
            return Guard::Else;
        }
        Guard::Text(GuardText {
            text,
            is_verbatim: self.is_verbatim,
        })
    }

    fn actions(&self, range: Range<usize>) -> Vec<Action> {
        let text = self.text.value.as_str();
        let action = |item: Range<usize>| {
            let name = slice(text, item.clone()).strip_suffix("()");
            match name.map(str::trim_end).filter(|name| is_identifier(name)) {
                Some(name) => Action {
                    name: self.part(item.start..item.start + name.len()),
                    is_call: true,
                },
                None => Action {
                    name: self.part(item),
                    is_call: false,
                },
            }
        };
        split(text, range, &[',']).map(action).collect()
    }

    fn trigger(&self, range: Range<usize>) -> Option<Trigger> {
        let text = self.text.value.as_str();
        let inner = slice(text, range.clone());
        if inner.is_empty() {
            return None;
        }
        let mut parts = split(text, range.clone(), &[',', '|']);
        let is_event = |part: Range<usize>| is_identifier(slice(text, part));
        let events = parts.clone();
        if parts.all(is_event) {
            let events = events.map(|part| self.part(part));
            return Some(Trigger::Events(events.collect()));
        }
        if let Some(duration) = inner.strip_prefix("after ")
            && milliseconds(duration).is_some()
        {
            let duration = trim(text, range.end - duration.len()..range.end);
            return Some(Trigger::Delay {
                duration: self.part(duration),
                span: span_of(self.text, range),
            });
        }
        if let Some((name, comment)) = split_comment(text, range.clone()) {
            return Some(Trigger::Commented {
                whole: self.part(name.start..comment.end),
                name: self.part(name),
                comment: span_of(self.text, comment),
            });
        }
        let words = self.part(range);
        Some(if is_condition(&words.value) {
            Trigger::Condition(words)
        } else {
            Trigger::Prose(words)
        })
    }
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or("")
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = slice(text, range.clone());
    let kept = inner.trim_start();
    let start = range.start + (inner.len() - kept.len());
    start..start + kept.trim_end().len()
}

/// Reports whether a text begins with a blank, whatever kind it is of.
fn begins_blank(text: &str) -> bool {
    text.starts_with(char::is_whitespace)
}

/// Returns the offset of the first `/` between blanks.
fn slash_between_blanks(text: &str) -> Option<usize> {
    let mut before = None;
    text.char_indices().find_map(|(at, c)| {
        let is_after_blank = before.replace(c).is_some_and(char::is_whitespace);
        let is_slash = c == '/' && is_after_blank && begins_blank(text.get(at + 1..)?);
        is_slash.then_some(at)
    })
}

/// Returns a call at the end of a text, with an event before it: it isn't read as an action.
fn lost_call(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inner = slice(text, range.clone());
    let name = inner.strip_suffix("()")?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let begin = name.trim_end_matches(is_part).len();
    let has_event = name.get(..begin)?.contains(char::is_alphanumeric);
    (has_event && begin < name.len()).then(|| range.start + begin..range.end)
}

/// Splits a text at its first ` / ` into the text before it, the slash and the text after it.
///
/// A label may also begin with `/ `.
fn split_slash(
    text: &str,
    range: Range<usize>,
) -> Option<(Range<usize>, Range<usize>, Range<usize>)> {
    let inner = slice(text, range.clone());
    let at = if inner.strip_prefix('/').is_some_and(begins_blank) {
        0
    } else {
        slash_outside_brackets(inner)?
    } + range.start;
    Some((
        trim(text, range.start..at),
        at..at + 1,
        trim(text, at + 1..range.end),
    ))
}

/// Returns the offset of the first `/` between blanks that isn't in a guard, where it divides.
fn slash_outside_brackets(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let slash = from + slash_between_blanks(text.get(from..)?)?;
        let closed = opening_bracket(text, &(from..slash)).and_then(|open| {
            let length = closing_bracket(text.get(open..)?)?;
            Some(open + length)
        });
        match closed {
            Some(end) if end > slash => from = end,
            _ => return Some(slash),
        }
    }
}

/// Returns the brackets after what look like actions, unless a guard is before the slash.
fn late_guard(text: &str, before: Range<usize>, after: Range<usize>) -> Option<Range<usize>> {
    let (list, guard) = split_guard(text, after)?;
    let looks_like_actions = split(text, list, &[',']).all(|item| {
        let word = slice(text, item);
        is_identifier(word.strip_suffix("()").unwrap_or(word))
    });
    let is_first = split_guard(text, before).is_none();
    (looks_like_actions && is_first && guard.len() > 2).then_some(guard)
}

/// Splits a range at separators and trims the parts; an empty range has one empty part.
///
/// Separators are one byte long.
fn split<'t>(
    text: &'t str,
    range: Range<usize>,
    separators: &'static [char],
) -> impl Iterator<Item = Range<usize>> + Clone + 't {
    let mut start = range.start;
    slice(text, range).split(separators).map(move |part| {
        let end = start + part.len();
        let part = trim(text, start..end);
        start = end + 1;
        part
    })
}

/// Splits a text that ends with a guard: the text before it, and the guard with its brackets.
fn split_guard(text: &str, range: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let inner = slice(text, range.clone());
    if !inner.ends_with(']') {
        return None;
    }
    let mut after_blank = true;
    for (at, c) in inner.char_indices() {
        if c == '[' && after_blank {
            let end = closing_bracket(slice(text, range.start + at..range.end))?;
            let guard = range.start + at..range.start + at + end;
            return (guard.end == range.end).then(|| (trim(text, range.start..guard.start), guard));
        }
        after_blank = c.is_whitespace();
    }
    None
}

/// Returns the first bracket at the start or after a blank if no closing one follows.
fn unclosed_bracket(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let at = opening_bracket(text, &range)?;
    let is_open = !slice(text, at..range.end).contains(']');
    is_open.then_some(at..at + 1)
}

/// Returns the first closing bracket that no bracket before it opens.
///
/// That of a half-open interval, `(0, 1]`, closes what a parenthesis opened.
fn stray_bracket(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inner = slice(text, range.clone());
    if !inner.contains(']') {
        return None;
    }
    let (mut brackets, mut parentheses) = (0_usize, 0_usize);
    for (at, c) in unquoted(inner) {
        match c {
            '[' => brackets += 1,
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            ']' if brackets > 0 => brackets -= 1,
            ']' if parentheses > 0 => parentheses -= 1,
            ']' => return Some(range.start + at..range.start + at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the offset of the first bracket at the start or after a blank.
fn opening_bracket(text: &str, range: &Range<usize>) -> Option<usize> {
    let inner = slice(text, range.clone());
    let mut is_after_blank = true;
    let at = inner.char_indices().find_map(|(at, c)| {
        let opens = c == '[' && is_after_blank;
        is_after_blank = c.is_whitespace();
        opens.then_some(at)
    })?;
    Some(range.start + at)
}

/// Returns the first brackets at the start or after a blank, with their contents.
fn bracket_group(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let at = opening_bracket(text, &range)?;
    let length = closing_bracket(slice(text, at..range.end))?;
    Some(at..at + length)
}

/// Returns the characters of a text that aren't inside quotes, with their offsets.
fn unquoted(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    text.char_indices().filter(move |&(at, c)| match quote {
        Some(open) => {
            quote = quote.filter(|_| c != open);
            false
        }
        None if c == '"' || c == '\'' => {
            // An apostrophe in prose (`user's turn`) opens nothing: a quote needs its partner.
            let rest = text.get(at + 1..).unwrap_or("");
            quote = rest.contains(c).then_some(c);
            quote.is_none()
        }
        None => true,
    })
}

/// Returns the end of the bracket that closes the first one; brackets inside quotes don't count.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in unquoted(text) {
        match c {
            '[' => depth += 1,
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Splits a text that ends with a parenthesis: the text before it, and the parenthesis.
fn split_comment(text: &str, range: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let inner = slice(text, range.clone());
    let open = inner
        .find('(')
        .filter(|&open| open > 0 && inner.ends_with(')'))?;
    let closes_early = slice(inner, open..inner.len() - 1).contains(')');
    if closes_early {
        return None;
    }
    Some((
        trim(text, range.start..range.start + open),
        range.start + open..range.end,
    ))
}

/// Returns whether a text compares an identifier with something: `players < 4`, `status == ok`.
fn is_condition(text: &str) -> bool {
    ["<=", ">=", "==", "!=", "<", ">"].iter().any(|operator| {
        text.split_once(operator).is_some_and(|(left, right)| {
            is_identifier(left.trim())
                && !right.trim().is_empty()
                && !right.contains(['<', '>'])
                && right.split_whitespace().count() <= 2
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Sources, Span, narrow};

    /// The label in one line, its parts by name.
    fn parts(text: &str) -> String {
        let mut sources = Sources::new();
        let file = sources.add("label", text);
        let end = narrow(text.len());
        let span = Span {
            file,
            start: 0,
            end,
        };
        let label = parse(Spanned::new(text.to_owned(), span), true);
        let parts = label.parts(|name| name == "count");
        let word = |range: &Range<usize>| slice(text, range.clone()).to_owned();
        let mut words = vec![match &parts.trigger {
            None => "-".to_owned(),
            Some(Trigger::Events(list)) => {
                let events: Vec<&str> = list.iter().map(|event| event.value.as_str()).collect();
                events.join("+")
            }
            Some(Trigger::Commented { name, comment, .. }) => {
                format!("{} #{}", name.value, sources.text(*comment))
            }
            Some(Trigger::Delay { span, duration }) => {
                assert_eq!(sources.text(duration.span), duration.value);
                format!("@{}", sources.text(*span))
            }
            Some(Trigger::Condition(words)) => format!("?{}", words.value),
            Some(Trigger::Prose(words)) => format!("\"{}\"", words.value),
        }];
        let has = |wanted: fn(&Flaw) -> bool| parts.flaws.iter().any(wanted);
        words.extend(
            parts
                .guard
                .iter()
                .map(|guard| format!("[{}]", guard.text())),
        );
        if has(|it| matches!(it, Flaw::EmptyGuard(_))) {
            words.push("[!]".to_owned());
        }
        words.extend(parts.actions.iter().map(|it| format!("/{}", it.name.value)));
        for flaw in &parts.flaws {
            if let Flaw::MisplacedGuard { bracket, .. } = flaw {
                words.push(format!("lost{}", word(bracket)));
            }
        }
        for (name, is_there) in [
            ("calls", has(|it| matches!(it, Flaw::UnlistedActions(_)))),
            ("open", has(|it| matches!(it, Flaw::UnclosedGuard(_)))),
            ("stray", has(|it| matches!(it, Flaw::StrayBracket(_)))),
            ("slash", has(|it| matches!(it, Flaw::Slash(_)))),
            ("late", has(|it| matches!(it, Flaw::LateGuard { .. }))),
        ] {
            if is_there {
                words.push(name.to_owned());
            }
        }
        words.join(" ")
    }

    #[test]
    fn labels_come_apart() {
        for (text, expected) in [
            ("", "-"),
            ("paid", "paid"),
            ("planReady [steps > 0]", "planReady [steps > 0]"),
            (
                "failed [attempts < 3] / count",
                "failed [attempts < 3] /count",
            ),
            ("failed / count, stop()", "failed /count /stop"),
            ("/ stop()", "- /stop"),
            ("[ready]", "- [ready]"),
            (
                "[status in [\"a]\", \"b\"]]",
                "- [status in [\"a]\", \"b\"]]",
            ),
            ("[user's turn]", "- [user's turn]"),
            ("load timeout / error", "\"load timeout / error\" slash"),
            ("go [a / 2 > b] / act()", "go [a / 2 > b] /act"),
            ("a / b", "\"a / b\" slash"),
            ("a / count [b]", "\"a / count\" [b] slash late"),
            ("/ stop() [b]", "\"/ stop()\" [b] slash late"),
            ("a / b or c [b]", "\"a / b or c\" [b] slash"),
            ("a / count []", "\"a / count\" [!] slash"),
            ("a, b", "a+b"),
            ("a | b", "a+b"),
            ("after 30s", "@after 30s"),
            ("after 1.5 h", "@after 1.5 h"),
            ("after hours", "\"after hours\""),
            ("leaf_output[3:2] == 2'b00", "\"leaf_output[3:2] == 2'b00\""),
            ("players < 4", "?players < 4"),
            ("created (success)", "created #(success)"),
            ("enter_new_height()", "enter_new_height #()"),
            ("User submits request", "\"User submits request\""),
            ("a []", "a [!]"),
            ("a [b] c", "\"a [b] c\" lost[b]"),
            ("[b] c", "\"[b] c\" lost[b]"),
            ("a [b], c [d]", "\"a [b], c [d]\" lost[b]"),
            ("a [b] / c d", "\"a [b] / c d\" lost[b] slash"),
            ("a / b() / c()", "\"a / b() / c()\" calls slash"),
            ("a [b", "\"a [b\" open"),
            ("[b", "\"[b\" open"),
            ("a b]", "\"a b]\" stray"),
            ("a] / b()", "\"a]\" /b stray"),
            ("a b] [c]", "\"a b]\" [c] stray"),
            ("x in (0, 1]", "\"x in (0, 1]\""),
            ("a[0]", "\"a[0]\""),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
