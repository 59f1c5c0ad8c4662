//! Scripts: fences in documents whose lines after `> ` are calls, each followed by its answer.

use std::mem;

use serde_json::{Value, json};

/// Returns a document with the answers of today.
///
/// `fences` are the lines that open and close a script. `answer` makes a call; an answer that is empty leaves no line.
///
/// # Panics
///
/// A script has no end, or the document has no script.
pub fn play(
    document: &str,
    fences: (&str, &str),
    mut answer: impl FnMut(&str) -> String,
) -> String {
    let (open, close) = (format!("{}\n", fences.0), format!("\n{}", fences.1));
    let mut played = String::new();
    let mut rest = document;
    while let Some((before, begun)) = rest.split_once(&open) {
        let (script, after) = begun.split_once(&close).unwrap_or((begun, ""));
        assert!(script.len() < begun.len(), "a script has no end: {script}");
        played = played + before + &open;
        for (call, _) in calls(script) {
            played += &format!("> {call}\n");
            let answer = answer(&call);
            played += &answer;
            if !answer.is_empty() && !answer.ends_with('\n') {
                played.push('\n');
            }
        }
        played += fences.1;
        rest = after;
    }
    assert!(!played.is_empty(), "no fence `{}`", fences.0);
    played + rest
}

/// Returns the calls of a script, each with all lines of its arguments, and with the answer that follows it.
pub fn calls(script: &str) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for line in script.lines() {
        match calls.last_mut() {
            Some((call, _)) if is_open => {
                call.push('\n');
                call.push_str(line);
                is_open = !is_whole(call);
            }
            last => {
                if let Some(begun) = line.strip_prefix("> ") {
                    calls.push((begun.to_owned(), String::new()));
                    is_open = !is_whole(begun);
                } else if let Some((_, answer)) = last {
                    answer.push_str(line);
                    answer.push('\n');
                }
            }
        }
    }
    calls
}

/// Reports whether the JSON at the end of a call is complete. The words of a command aren't JSON.
fn is_whole(call: &str) -> bool {
    let Some((before, arguments)) = call.split_once(" {") else {
        return true;
    };
    let parsed = serde_json::from_str::<Value>(&format!("{{{arguments}"));
    before.contains("statemark ") || !parsed.is_err_and(|error| error.is_eof())
}

/// Parses a length of time, as `after 10s` has it: `s`, `m` or `h`.
///
/// Unit: milliseconds.
pub fn milliseconds(length: &str) -> Option<u64> {
    let factor = match length.chars().last()? {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        _ => return None,
    };
    let number = length.strip_suffix(['s', 'm', 'h'])?.parse::<u64>().ok()?;
    number.checked_mul(factor)
}

/// The ids that a program has minted, numbered in the order in which they were first seen.
#[derive(Debug, Default)]
pub struct Minted(Vec<String>);

/// An id as programs mint them: a UUID.
const UUID: &str = "01234567-89ab-7cde-f012-3456789abcde";

impl Minted {
    /// Replaces each minted id in a text by `minted-1`, `minted-2` and so on.
    pub fn mask(&mut self, text: &str) -> String {
        let mut masked = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some((id, after)) = split_id(rest) {
                masked += &self.name(id);
                rest = after;
                continue;
            }
            let mut letters = rest.chars();
            masked.extend(letters.next());
            rest = letters.as_str();
        }
        masked
    }

    /// Replaces the minted id at the beginning of a text, and returns its name and the rest.
    pub fn mask_first<'t>(&mut self, text: &'t str) -> Option<(String, &'t str)> {
        let (id, after) = split_id(text)?;
        Some((self.name(id), after))
    }

    /// Replaces each name in a text by its id.
    pub fn unmask(&self, text: &str) -> String {
        // `minted-1` begins `minted-12`.
        let numbered = self.0.iter().enumerate().rev();
        numbered.fold(text.to_owned(), |text, (index, id)| {
            text.replace(&format!("minted-{}", index + 1), id)
        })
    }

    fn name(&mut self, id: &str) -> String {
        let known = self.0.iter().position(|known| known == id);
        let number = known.unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        });
        format!("minted-{}", number + 1)
    }
}

fn split_id(text: &str) -> Option<(&str, &str)> {
    let (id, after) = text.split_at_checked(UUID.len())?;
    let fits = |(is, like): (u8, u8)| match like {
        b'-' => is == b'-',
        _ => is.is_ascii_digit() || (b'a'..=b'f').contains(&is),
    };
    id.bytes()
        .zip(UUID.bytes())
        .all(fits)
        .then_some((id, after))
}

/// Writes JSON for people: each value that fits on a line of that width stands on one.
pub fn pretty(value: &Value, width: usize) -> String {
    let mut text = String::new();
    write_value(value, width, (0, 0), &mut text);
    text
}

/// Writes a value that is nested `depth` deep, after `used` characters of its line.
fn write_value(value: &Value, width: usize, (depth, used): (usize, usize), text: &mut String) {
    let line = flat(value);
    let is_short = depth * 2 + used + line.len() <= width;
    let items: Vec<(String, &Value)> = match value {
        Value::Object(map) if !is_short => {
            let items = map.iter();
            let key = |key: &String| format!("{}: ", json!(key));
            items.map(|(name, value)| (key(name), value)).collect()
        }
        Value::Array(items) if !is_short => {
            items.iter().map(|value| (String::new(), value)).collect()
        }
        _ => Vec::new(),
    };
    if items.is_empty() {
        return text.push_str(&line);
    }
    let [open, close] = if value.is_array() {
        ["[", "]"]
    } else {
        ["{", "}"]
    };
    let mut before = open;
    for (key, item) in items {
        *text += mem::replace(&mut before, ",");
        *text += &format!("\n{}{key}", "  ".repeat(depth + 1));
        write_value(item, width, (depth + 1, key.len() + 1), text);
    }
    *text += &format!("\n{}{close}", "  ".repeat(depth));
}

/// Writes JSON on one line, with spaces after commas and colons.
fn flat(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries = map.iter();
            let entry = |(key, value)| format!("{}: {}", json!(key), flat(value));
            format!("{{{}}}", entries.map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items = items.iter().map(flat);
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
