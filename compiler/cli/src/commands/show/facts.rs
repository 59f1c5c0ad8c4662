//! What a state says to hosts, in words.

use serde_json::Value;

use crate::wording::{self, Meta};

/// What a state says of tools, in the order and the words of the page.
pub(super) const TOOLS: [(&str, &str); 4] = [
    ("allowed_tools", "tools"),
    ("capabilities", "may"),
    ("disallowed_tools", "not tools"),
    ("allowed_commands", "commands"),
];

/// What a state limits, with what is counted.
const LIMITS: [(&str, &str); 4] = [
    ("max_iterations", "iterations"),
    ("max_edit_lines", "edited lines"),
    ("max_files_per_state", "files"),
    ("context_budget_bytes", "bytes of context"),
];

/// Whether a line of its own, or the title, tells what stands under the key.
pub(super) fn is_shown_elsewhere(key: &str) -> bool {
    [
        "title",
        "description",
        "instructions",
        "implied",
        "on_max_iterations",
    ]
    .contains(&key)
        || TOOLS.iter().chain(&LIMITS).any(|(other, _)| *other == key)
}

/// `15 iterations (then not_reproducible), 5 files`.
pub(super) fn limits(meta: &Meta) -> String {
    let limits: Vec<String> = LIMITS
        .iter()
        .filter_map(|(key, what)| {
            let limit = format!("{} {what}", value_text(meta.get(*key)?));
            let then =
                wording::text(meta, "on_max_iterations").filter(|_| *key == "max_iterations");
            Some(match then {
                Some(event) => format!("{limit} (then {event})"),
                None => limit,
            })
        })
        .collect();
    limits.join(", ")
}

/// A value without the punctuation of JSON where it can do without.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_object() && !item.is_array()) =>
        {
            let items: Vec<String> = items.iter().map(value_text).collect();
            items.join(", ")
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key} = {value}"));
            fields.collect::<Vec<String>>().join(", ")
        }
        other => other.to_string(),
    }
}
