//! The grammar of labels: `trigger [guard] / actions`.
//!
//! ```text
//! label    = [ trigger ] [ "[" guard "]" ] [ " / " action { "," action } ]
//! trigger  = event { ("," | "|") event } | "after" duration | text
//! duration = number ( "ms" | "s" | "m" | "h" | "d" )
//! ```
//!
//! Diagrams were drawn for people first, so nothing here fails: what doesn't fit the grammar is text. A `[` opens a guard
//! only at the start or behind a blank; ` / ` separates actions only if each item behind it is `name()` or an action that
//! the definition declares, because `load timeout / error` means *or*.

use std::ops::Range;

use super::delay::milliseconds;
use super::words::is_identifier;

/// A label, taken apart. Ranges are bytes of the label's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Label {
    /// What triggers the transition.
    pub(super) trigger: Trigger,
    /// The text between the brackets, trimmed.
    pub(super) guard: Option<Range<usize>>,
    /// The names of the actions.
    pub(super) actions: Vec<Range<usize>>,
    /// A ` / ` that doesn't separate actions, if there is one.
    pub(super) slash: Option<Range<usize>>,
    /// A guard behind the actions, with its brackets: `step / count() [small]`. It makes the actions text.
    pub(super) late_guard: Option<Range<usize>>,
    /// Brackets behind a blank that aren't the guard: `a [b] c`.
    pub(super) misplaced_guard: Option<Range<usize>>,
    /// What stands behind a ` / ` that doesn't separate actions although it holds a call.
    pub(super) unread_calls: Option<Range<usize>>,
    /// Brackets with nothing between them.
    pub(super) empty_guard: Option<Range<usize>>,
    /// A bracket that would open a guard and is never closed.
    pub(super) unclosed: Option<Range<usize>>,
}

impl Label {
    /// Whether nothing of the label is left over that another finding speaks of.
    pub(super) fn is_whole(&self) -> bool {
        self.slash.is_none() && self.unclosed.is_none() && self.misplaced_guard.is_none()
    }
}

/// What triggers a transition, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The label says nothing of it.
    #[default]
    Missing,
    /// One or several identifiers.
    Events(Vec<Range<usize>>),
    /// An identifier or prose, and a parenthesis behind it that is a comment: `created (success)`, `enter(height)`.
    Commented {
        /// The text before the parenthesis, trimmed.
        name: Range<usize>,
        /// The parenthesis.
        comment: Range<usize>,
    },
    /// `after 30s`.
    Delay(Range<usize>),
    /// A comparison without brackets: `players < 4`.
    Condition(Range<usize>),
    /// Anything else.
    Prose(Range<usize>),
}

/// Takes a label apart. `declares` tells whether the definition declares an action of that name.
pub(super) fn parse(text: &str, declares: impl Fn(&str) -> bool) -> Label {
    let mut label = Label::default();
    let mut head = trim(text, 0..text.len());
    if let Some((before, slash, after)) = split_slash(text, head.clone()) {
        match actions(text, after.clone(), declares) {
            Some(actions) => {
                label.actions = actions;
                head = before;
            }
            None => {
                label.slash = Some(slash);
                label.late_guard = late_guard(text, before, after.clone());
                let has_call = slice(text, after.clone()).contains("()");
                label.unread_calls = Some(after).filter(|_| has_call && label.late_guard.is_none());
            }
        }
    }
    if let Some((before, guard)) = split_guard(text, head.clone()) {
        head = before;
        let inner = trim(text, guard.start + 1..guard.end - 1);
        if inner.is_empty() {
            label.empty_guard = Some(guard);
        } else {
            label.guard = Some(inner);
        }
    } else {
        label.unclosed = unclosed_bracket(text, head.clone());
    }
    label.trigger = if label.late_guard.is_some() {
        Trigger::Prose(head.clone())
    } else {
        trigger(text, head.clone())
    };
    if matches!(label.trigger, Trigger::Prose(_) | Trigger::Condition(_))
        && label.late_guard.is_none()
    {
        label.misplaced_guard = bracket_group(text, head);
    }
    label
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or("")
}

fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = slice(text, range.clone());
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}

/// The text before the first ` / `, the slash, the text behind it. A label may also begin with `/ `.
fn split_slash(
    text: &str,
    range: Range<usize>,
) -> Option<(Range<usize>, Range<usize>, Range<usize>)> {
    let inner = slice(text, range.clone());
    let at = if inner.starts_with("/ ") {
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

/// Where the first ` / ` is that doesn't stand in a guard, where it divides.
fn slash_outside_brackets(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let slash = from + text.get(from..)?.find(" / ")? + 1;
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

/// The names behind a slash, if each item is an action.
fn actions(
    text: &str,
    range: Range<usize>,
    declares: impl Fn(&str) -> bool,
) -> Option<Vec<Range<usize>>> {
    let mut names = Vec::new();
    for item in split(text, range, &[',']) {
        let word = slice(text, item.clone());
        if let Some(name) = word
            .strip_suffix("()")
            .map(str::trim_end)
            .filter(|name| is_identifier(name))
        {
            names.push(item.start..item.start + name.len());
        } else if declares(word) {
            names.push(item);
        } else {
            return None;
        }
    }
    (!names.is_empty()).then_some(names)
}

/// The guard behind what look like actions, if none stands before the slash.
fn late_guard(text: &str, before: Range<usize>, after: Range<usize>) -> Option<Range<usize>> {
    let (list, guard) = split_guard(text, after)?;
    let looks_like_actions = split(text, list, &[',']).into_iter().all(|item| {
        let word = slice(text, item);
        is_identifier(word.strip_suffix("()").unwrap_or(word))
    });
    let is_first = split_guard(text, before).is_none();
    (looks_like_actions && is_first && guard.len() > 2).then_some(guard)
}

/// The trimmed parts between separators; an empty range has one empty part.
fn split(text: &str, range: Range<usize>, separators: &[char]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for (at, c) in slice(text, range.clone()).char_indices() {
        if separators.contains(&c) {
            parts.push(trim(text, start..range.start + at));
            start = range.start + at + c.len_utf8();
        }
    }
    parts.push(trim(text, start..range.end));
    parts
}

/// The text before a guard, and the guard with its brackets, if the text ends with one.
fn split_guard(text: &str, range: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
    let inner = slice(text, range.clone());
    if !inner.ends_with(']') {
        return None;
    }
    let mut behind_blank = true;
    for (at, c) in inner.char_indices() {
        if c == '[' && behind_blank {
            let end = closing_bracket(slice(text, range.start + at..range.end))?;
            let guard = range.start + at..range.start + at + end;
            return (guard.end == range.end).then(|| (trim(text, range.start..guard.start), guard));
        }
        behind_blank = c.is_whitespace();
    }
    None
}

/// A bracket at the start or behind a blank with no closing one behind it.
fn unclosed_bracket(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let at = opening_bracket(text, &range)?;
    let is_open = !slice(text, at..range.end).contains(']');
    is_open.then_some(at..at + 1)
}

/// Where the first bracket at the start or behind a blank is.
fn opening_bracket(text: &str, range: &Range<usize>) -> Option<usize> {
    let inner = slice(text, range.clone());
    let at = if inner.starts_with('[') {
        0
    } else {
        inner.find(" [")? + 1
    };
    Some(range.start + at)
}

/// The first brackets at the start or behind a blank, with what they hold.
fn bracket_group(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let at = opening_bracket(text, &range)?;
    let length = closing_bracket(slice(text, at..range.end))?;
    Some(at..at + length)
}

/// One past the bracket that closes the first one; brackets inside quotes don't count.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => {
                // An apostrophe in prose (`user's turn`) opens nothing: a quote needs its partner.
                let rest = text.get(at + 1..).unwrap_or("");
                quote = rest.contains(c).then_some(c);
            }
            (None, '[') => depth += 1,
            (None, ']') => {
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

fn trigger(text: &str, range: Range<usize>) -> Trigger {
    let inner = slice(text, range.clone());
    if inner.is_empty() {
        return Trigger::Missing;
    }
    let parts = split(text, range.clone(), &[',', '|']);
    if parts
        .iter()
        .all(|part| is_identifier(slice(text, part.clone())))
    {
        return Trigger::Events(parts);
    }
    if inner
        .strip_prefix("after ")
        .is_some_and(|duration| milliseconds(duration).is_some())
    {
        return Trigger::Delay(range);
    }
    if let Some((name, comment)) = split_comment(text, range.clone()) {
        return Trigger::Commented { name, comment };
    }
    if is_condition(inner) {
        Trigger::Condition(range)
    } else {
        Trigger::Prose(range)
    }
}

/// The text before a parenthesis at the end, and that parenthesis.
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

/// A comparison of an identifier with something: `players < 4`, `status == ok`.
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

    /// The label in one line, its parts by name.
    fn parts(text: &str) -> String {
        let label = parse(text, |name| name == "count");
        let word = |range: &Range<usize>| slice(text, range.clone()).to_owned();
        let mut parts = vec![match &label.trigger {
            Trigger::Missing => "-".to_owned(),
            Trigger::Events(list) => list.iter().map(word).collect::<Vec<_>>().join("+"),
            Trigger::Commented { name, comment } => format!("{} #{}", word(name), word(comment)),
            Trigger::Delay(range) => format!("@{}", word(range)),
            Trigger::Condition(range) => format!("?{}", word(range)),
            Trigger::Prose(range) => format!("\"{}\"", word(range)),
        }];
        parts.extend(label.guard.iter().map(|guard| format!("[{}]", word(guard))));
        parts.extend(label.empty_guard.iter().map(|_| "[!]".to_owned()));
        parts.extend(
            label
                .actions
                .iter()
                .map(|action| format!("/{}", word(action))),
        );
        parts.extend(
            label
                .misplaced_guard
                .iter()
                .map(|range| format!("lost{}", word(range))),
        );
        parts.extend(label.unread_calls.iter().map(|_| "calls".to_owned()));
        parts.extend(label.unclosed.iter().map(|_| "open".to_owned()));
        parts.extend(label.slash.iter().map(|_| "slash".to_owned()));
        parts.extend(label.late_guard.iter().map(|_| "late".to_owned()));
        parts.join(" ")
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
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
