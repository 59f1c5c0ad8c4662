//! Bounds of replies, and how values are cut to them.

use serde::Serialize;
use serde_json::Value;
pub(crate) use statemark_runs::json_size as size;

/// Most bytes of a reply. Why: it enters a model's context whole.
pub const MAX_REPLY: usize = 16 << 10;

/// Bytes that a reply needs around and after the items of a list: the envelope and a cursor.
pub(crate) const ENVELOPE: usize = 512;

/// Returns the room that a reply has after a value and some bytes more.
pub(crate) fn room_after(value: &impl Serialize, more: usize) -> usize {
    MAX_REPLY.saturating_sub(size(value)).saturating_sub(more)
}

/// Takes as many items as there is room for; at least one.
pub fn take_fitting<T: Serialize>(items: Vec<T>, mut room: usize) -> Vec<T> {
    let mut fitting = Vec::new();
    for item in items {
        let size = size(&item).saturating_add(1);
        if size > room && !fitting.is_empty() {
            break;
        }
        room = room.saturating_sub(size);
        fitting.push(item);
    }
    fitting
}

/// Cuts a string to so many bytes, at a character's end. Returns whether something was cut off as well.
pub fn truncate(text: &str, max: usize) -> (&str, bool) {
    if text.len() <= max {
        return (text, false);
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    (text.get(..end).unwrap_or_default(), true)
}

/// The longest string and the most items that an oversize reply keeps, from one attempt to the next.
const ATTEMPTS: [(usize, usize); 5] = [(4096, 128), (1024, 64), (256, 32), (128, 8), (64, 2)];

/// Cuts long strings, lists and objects of a reply until it fits, and returns its JSON as well.
///
/// Each says what it has lost.
///
/// Tools page what they know to be large. This is for what nobody thought of.
pub(crate) fn enforce(mut reply: Value) -> (Value, String) {
    let mut text = reply.to_string();
    for (bytes, items) in ATTEMPTS {
        if text.len() <= MAX_REPLY {
            break;
        }
        trim(&mut reply, bytes, items);
        text = reply.to_string();
    }
    (reply, text)
}

fn trim(value: &mut Value, bytes: usize, items: usize) {
    match value {
        Value::String(text) => {
            if let (kept, true) = truncate(text, bytes) {
                let lost = text.len().saturating_sub(kept.len());
                *text = format!("{kept}… ({lost} more bytes)");
            }
        }
        Value::Array(all) => {
            let lost = all.len().saturating_sub(items);
            all.truncate(items);
            all.iter_mut().for_each(|it| trim(it, bytes, items));
            if lost > 0 {
                all.push(Value::String(format!("… ({lost} more)")));
            }
        }
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().skip(items).cloned().collect();
            keys.iter().for_each(|key| drop(map.remove(key)));
            map.values_mut().for_each(|it| trim(it, bytes, items));
            if !keys.is_empty() {
                map.insert(
                    "…".to_owned(),
                    Value::String(format!("{} more", keys.len())),
                );
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_that_do_not_fit_are_left_for_the_next_page() {
        let long = json!("x".repeat(MAX_REPLY));
        assert_eq!(
            take_fitting(vec![long.clone(), json!(1)], MAX_REPLY).len(),
            1
        );
        assert_eq!(take_fitting(vec![json!(1), long], MAX_REPLY).len(), 1);
        assert_eq!(take_fitting(vec![json!(1), json!(2)], 0).len(), 1);
        let large = json!({"a": "ä".repeat(MAX_REPLY), "b": vec![1; MAX_REPLY], "c": {"d": vec!["x".repeat(999); 999]}});
        let (cut, text) = enforce(large);
        assert_eq!(cut.to_string(), text);
        assert!(text.len() <= MAX_REPLY);
        assert!(cut["b"].as_array().unwrap().last().unwrap().is_string());
        assert_eq!(enforce(json!({"a": [1]})).0, json!({"a": [1]}));
        assert_eq!(truncate("aä", 2), ("a", true));
        assert_eq!(truncate("aä", 3), ("aä", false));
    }
}
