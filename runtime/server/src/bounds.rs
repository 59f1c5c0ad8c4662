//! Replies are bounded: what doesn't fit is told by a cursor.

use serde_json::Value;

/// Most bytes of a reply. Why: it goes into a model's context as a whole.
pub(crate) const MOST: usize = 16 << 10;

/// Room for what is around and behind the items of a list: the envelope, a cursor.
pub(crate) const ENVELOPE: usize = 512;

/// As many items as fit beside what a reply has else, at least one, and how many those are.
pub(crate) fn fitting(items: Vec<Value>, beside: usize) -> Vec<Value> {
    let mut room = MOST.saturating_sub(beside);
    let mut kept = Vec::new();
    for item in items {
        let size = item.to_string().len().saturating_add(1);
        if size > room && !kept.is_empty() {
            break;
        }
        room = room.saturating_sub(size);
        kept.push(item);
    }
    kept
}

/// A text that fits, and whether something was cut off.
pub(crate) fn cut(text: &str, most: usize) -> (&str, bool) {
    if text.len() <= most {
        return (text, false);
    }
    let mut at = most;
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    (text.get(..at).unwrap_or_default(), true)
}

/// Longest texts, longest lists and most fields that are left in a reply that is too large, from one try to the next.
const TRIES: [(usize, usize); 5] = [(4096, 128), (1024, 64), (256, 32), (128, 8), (64, 2)];

/// The same reply if it fits; else with long texts, lists and objects cut, which say so themselves. Tools page what they
/// know to be large; this is for what nobody thought of.
pub(crate) fn enforced(mut reply: Value) -> Value {
    for (text, items) in TRIES {
        if reply.to_string().len() <= MOST {
            break;
        }
        trim(&mut reply, text, items);
    }
    reply
}

fn trim(value: &mut Value, most: usize, items: usize) {
    match value {
        Value::String(text) => {
            if let (kept, true) = cut(text, most) {
                let left = text.len().saturating_sub(kept.len());
                let told = format!("{kept}… ({left} more bytes)");
                *text = told;
            }
        }
        Value::Array(all) => {
            let left = all.len().saturating_sub(items);
            all.truncate(items);
            all.iter_mut().for_each(|it| trim(it, most, items));
            if left > 0 {
                all.push(Value::String(format!("… ({left} more)")));
            }
        }
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().skip(items).cloned().collect();
            keys.iter().for_each(|key| drop(map.remove(key)));
            map.values_mut().for_each(|it| trim(it, most, items));
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
    fn what_does_not_fit_is_left_for_the_next_page() {
        let long = json!("x".repeat(MOST));
        assert_eq!(fitting(vec![long.clone(), json!(1)], 0).len(), 1);
        assert_eq!(fitting(vec![json!(1), long], 0).len(), 1);
        assert_eq!(fitting(vec![json!(1), json!(2)], MOST).len(), 1);
        let large = json!({"a": "ä".repeat(MOST), "b": vec![1; MOST], "c": {"d": vec!["x".repeat(999); 999]}});
        let told = enforced(large);
        assert!(told.to_string().len() <= MOST);
        assert!(told["b"].as_array().unwrap().last().unwrap().is_string());
        assert_eq!(enforced(json!({"a": [1]})), json!({"a": [1]}));
        assert_eq!(cut("aä", 2), ("a", true));
        assert_eq!(cut("aä", 3), ("aä", false));
    }
}
