//! Masks for the parts of answers that may change.
//!
//! Masked are wording (sentences under keys such as `message` and `help`, and any sentence that quotes something in
//! backticks), ids that were minted, hashes, tokens, paths of programs and measured times. All else is compared as it is.

use serde_json::{Map, Value, json};
use statemark_harness::script::Minted;

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
pub(super) fn masked(value: &Value, minted: &mut Minted) -> Value {
    under("", value, minted)
}

fn under(key: &str, value: &Value, minted: &mut Minted) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            // Where names are the author's own, a key says nothing about its value.
            let is_schema = key == "properties";
            let is_found = FOUND.contains(&key);
            let is_search = map.contains_key("hits");
            // Where a machine has its programs is the machine's affair.
            let is_program = key == "program";
            let masked = entries.into_iter().map(|(name, value)| {
                let about = match name.as_str() {
                    name if MEASURED.contains(&name) => name,
                    _ if is_schema => "",
                    _ if is_found => key,
                    "path" if is_program => "program.path",
                    "total" if is_search => "score",
                    name => name,
                };
                (string(name, minted), under(about, value, minted))
            });
            Value::Object(masked.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| under(key, item, minted)).collect(),
        Value::String(_) if FOUND.contains(&key) => json!(MASK),
        Value::String(_) if key == "program.path" => json!(MASK),
        Value::Number(_) if MEASURED.contains(&key) => json!(MASK),
        Value::String(text) if is_message(key, text) => json!(MASK),
        Value::String(text) => json!(string(text, minted)),
        other => other.clone(),
    }
}

fn is_message(key: &str, text: &str) -> bool {
    ALWAYS.contains(&key) || text.contains(' ') && (WORDING.contains(&key) || text.contains('`'))
}

/// Returns a string in which ids, hashes and tokens have other names.
pub(super) fn string(text: &str, minted: &mut Minted) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        if let Some((name, after)) = minted.mask_first(rest) {
            masked += &name;
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

fn is_hash(word: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit() || ('a'..='f').contains(&letter);
    ([12, 16, 40, 64].contains(&word.len()) || word.len() > 200)
        && word.chars().all(is_digit)
        && word.contains(|letter: char| letter.is_ascii_digit())
        && word.contains(|letter: char| letter.is_ascii_lowercase())
}
