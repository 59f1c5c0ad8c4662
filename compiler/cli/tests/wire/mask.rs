//! Masks for the parts of answers that may change.
//!
//! Masked are wording (sentences under keys such as `message` and `help`, and any sentence that quotes something in
//! backticks), ids that were minted, hashes, tokens and measured times. All else is compared as it is.

use serde_json::{Map, Value, json};

/// Replaces a value that may change.
const MASK: &str = "…";

/// Keys of wording, whatever it says.
const ALWAYS: [&str; 3] = ["description", "help", "message"];

/// Keys under which sentences are wording. A single word there is a code, and is compared.
const WORDING: [&str; 18] = [
    "assumes",
    "blocker",
    "error",
    "hint",
    "label",
    "notes",
    "problem",
    "prompt",
    "reason",
    "said",
    "snippet",
    "summary",
    "text",
    "title",
    "unblocker",
    "vcsError",
    "what",
    "why",
];

/// Keys of numbers that are measured, or that depend on the length of the wording.
const MEASURED: [&str; 3] = ["milliseconds", "score", "seconds"];

/// Keys of what a search has found, which changes with every page of the documentation.
const FOUND: [&str; 2] = ["hits", "results"];

/// Masks an answer, and sorts its keys. `minted` holds the ids that were seen before.
pub(super) fn masked(value: &Value, minted: &mut Vec<String>) -> Value {
    under("", value, minted)
}

fn under(key: &str, value: &Value, minted: &mut Vec<String>) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            // Where names are the author's own, a key says nothing about its value.
            let is_schema = key == "properties";
            let is_found = FOUND.contains(&key);
            let is_search = map.contains_key("hits");
            let masked = entries.into_iter().map(|(name, value)| {
                let about = match name.as_str() {
                    name if MEASURED.contains(&name) => name,
                    _ if is_schema => "",
                    _ if is_found => key,
                    "total" if is_search => "score",
                    name => name,
                };
                (string(name, minted), under(about, value, minted))
            });
            Value::Object(masked.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| under(key, item, minted)).collect(),
        Value::String(_) if FOUND.contains(&key) => json!(MASK),
        Value::Number(_) if MEASURED.contains(&key) => json!(MASK),
        Value::String(text) if is_wording(key, text) => json!(MASK),
        Value::String(text) => json!(string(text, minted)),
        other => other.clone(),
    }
}

fn is_wording(key: &str, text: &str) -> bool {
    ALWAYS.contains(&key) || text.contains(' ') && (WORDING.contains(&key) || text.contains('`'))
}

/// Returns a string in which ids, hashes and tokens have other names.
pub(super) fn string(text: &str, minted: &mut Vec<String>) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if is_uuid(rest.as_bytes()) {
            let (id, after) = rest.split_at(UUID.len());
            if !minted.iter().any(|known| known == id) {
                minted.push(id.to_owned());
            }
            let number = minted.iter().position(|known| known == id).unwrap() + 1;
            masked += &format!("minted-{number}");
            rest = after;
            continue;
        }
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        masked += match word {
            word if is_hash(word) => "HASH",
            word if word.starts_with("smk_") => "TOKEN",
            word => word,
        };
        let mut letters = after.chars();
        masked.extend(letters.next());
        rest = letters.as_str();
    }
    masked
}

const UUID: &str = "01234567-89ab-7cde-f012-3456789abcde";

fn is_uuid(text: &[u8]) -> bool {
    let fits = |(is, like): (&u8, u8)| match like {
        b'-' => *is == b'-',
        _ => is.is_ascii_digit() || (b'a'..=b'f').contains(is),
    };
    text.len() >= UUID.len() && text.iter().zip(UUID.bytes()).all(fits)
}

fn is_hash(word: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit() || ('a'..='f').contains(&letter);
    ([12, 16, 40, 64].contains(&word.len()) || word.len() > 200)
        && word.chars().all(is_digit)
        && word.contains(|letter: char| letter.is_ascii_digit())
        && word.contains(|letter: char| letter.is_ascii_lowercase())
}

/// Width of a line that an object or list may fill.
const WIDTH: usize = 160;

/// Writes JSON for people: each value that fits on a line stands on one.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    lay(value, 0, 0, &mut text);
    text
}

/// Writes a value after `used` characters of a line.
fn lay(value: &Value, depth: usize, used: usize, text: &mut String) {
    let line = flat(value);
    let items: Vec<(String, &Value)> = match value {
        _ if depth * 2 + used + line.len() <= WIDTH => Vec::new(),
        Value::Object(map) => {
            let items = map.iter();
            items
                .map(|(key, value)| (format!("{}: ", json!(key)), value))
                .collect()
        }
        Value::Array(items) => items.iter().map(|value| (String::new(), value)).collect(),
        _ => Vec::new(),
    };
    if items.is_empty() {
        return text.push_str(&line);
    }
    let [open, close] = if value.is_array() {
        ['[', ']']
    } else {
        ['{', '}']
    };
    text.push(open);
    let count = items.len();
    for (number, (key, item)) in (1..).zip(items) {
        *text += &format!("\n{}{key}", "  ".repeat(depth + 1));
        lay(item, depth + 1, key.len() + 1, text);
        if number < count {
            text.push(',');
        }
    }
    *text += &format!("\n{}{close}", "  ".repeat(depth));
}

/// Writes JSON on one line, with spaces after commas and colons.
fn flat(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| format!("{}: {}", json!(key), flat(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items = items.iter().map(flat);
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
