//! Patterns of answers.
//!
//! A pattern says what has to be in an answer; there may be more.
//!
//! - Of an object the given fields are compared, and `"(absent)"` is a field that isn't there.
//! - A list has these items in this order; `"…"` among them stands for any number of others.
//! - `…` in a text stands for any text.
//! - Before the pattern of a failure stands `error` (tools and the protocol), `exit 1` or `status 404`. A call without a
//!   pattern must succeed.
//! - Minted ids are `minted-1`, `minted-2` and so on, in the order in which they were first seen, in calls as well.
//! - Of a command, the JSON of its standard output is compared, or the text of both outputs.
//! - The result of a request of the protocol stands without `{"result": …}`, and its error without `{"error": …}`.

use serde_json::Value;
use statemark_harness::script::pretty;

use crate::session::Answer;

/// Stands for anything.
const ANY: &str = "…";

/// Stands for a field that isn't there.
const ABSENT: &str = "(absent)";

/// Width of a line of an answer that is shown. Unit: characters.
const WIDTH: usize = 120;

/// Compares an answer with a pattern; a fault shows both.
///
/// `shown` masks what differs at each run.
pub(super) fn check(
    pattern: &str,
    answer: Answer,
    shown: &mut impl FnMut(&str) -> String,
) -> Result<(), String> {
    let (mark, text, json) = parts(answer);
    let text = shown(&text);
    let json = json.map(|json| {
        let masked = shown(&json.to_string());
        serde_json::from_str(&masked).unwrap_or(json)
    });
    let pattern = pattern.trim();
    let (first, rest) = pattern.split_once('\n').unwrap_or((pattern, ""));
    let is_number = |word: &str| word.parse::<u16>().is_ok();
    let mut numbered = ["exit ", "status "].into_iter();
    let is_mark =
        first == "error" || numbered.any(|word| first.strip_prefix(word).is_some_and(is_number));
    let (expected, pattern) = if is_mark {
        (first, rest)
    } else {
        ("", pattern)
    };
    let fits = match serde_json::from_str::<Value>(pattern) {
        _ if pattern.is_empty() => true,
        Ok(pattern) => json.as_ref().is_some_and(|json| is_like(&pattern, json)),
        Err(_) => is_text_like(pattern, text.trim()),
    };
    if fits && expected == mark {
        return Ok(());
    }
    let text = json.map_or(text, |json| pretty(&json, WIDTH));
    let line = if mark.is_empty() { "" } else { "\n" };
    Err(format!(
        "answers:\n{mark}{line}{text}\n\nexpected:\n{expected}\n{pattern}"
    ))
}

/// Returns the mark of a failure, the text, and the JSON if it is some.
fn parts(answer: Answer) -> (String, String, Option<Value>) {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    match answer {
        Answer::Nothing => Default::default(),
        Answer::Ended(code) => (format!("exit {code}"), String::new(), None),
        Answer::Names(names) => (String::new(), names.join(" "), None),
        Answer::Protocol(outcome) => {
            let mark = if outcome.get("error").is_some() {
                "error"
            } else {
                ""
            };
            let part = outcome
                .as_object()
                .and_then(|outcome| outcome.values().next());
            let part = part.cloned().unwrap_or_default();
            (mark.to_owned(), part.to_string(), Some(part))
        }
        Answer::Tool {
            is_error,
            structured,
            texts,
        } => {
            let mark = if is_error { "error" } else { "" };
            let text = texts.join("\n");
            let json = structured.or_else(|| parsed(&text));
            (mark.to_owned(), text, json)
        }
        Answer::Http { status, body } => {
            let mark = match status {
                200..300 => String::new(),
                status => format!("status {status}"),
            };
            let json = parsed(&body);
            (mark, body, json)
        }
        Answer::Command(said) => {
            let mark = match said.code {
                0 => String::new(),
                code => format!("exit {code}"),
            };
            let json = parsed(&said.stdout);
            (mark, said.stdout + &said.stderr, json)
        }
    }
}

/// Reports whether a value has all that a pattern asks for.
fn is_like(pattern: &Value, value: &Value) -> bool {
    match (pattern, value) {
        (Value::Object(pattern), Value::Object(value)) => {
            let mut fields = pattern.iter();
            fields.all(|(name, pattern)| match value.get(name) {
                None => pattern == ABSENT,
                Some(value) => is_like(pattern, value),
            })
        }
        (Value::Array(pattern), Value::Array(value)) => are_like(pattern, value),
        (Value::String(pattern), _) if pattern == ANY => true,
        (Value::String(pattern), Value::String(value)) => is_text_like(pattern, value),
        (pattern, value) => pattern == value,
    }
}

/// Reports whether a list has these items; [`ANY`] stands for any number.
fn are_like(pattern: &[Value], value: &[Value]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return value.is_empty();
    };
    if first == ANY {
        return (0..=value.len()).any(|skipped| are_like(rest, &value[skipped..]));
    }
    let Some((item, others)) = value.split_first() else {
        return false;
    };
    is_like(first, item) && are_like(rest, others)
}

/// Reports whether a text is a pattern in which [`ANY`] stands for any text.
fn is_text_like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split(ANY);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some((_, after)) = rest.split_once(before) else {
                return false;
            };
            rest = after;
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}
