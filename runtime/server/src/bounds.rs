//! Replies are bounded: what doesn't fit is told by a cursor.

use serde_json::Value;

/// Most bytes of a reply. Why: it goes into a model's context as a whole.
pub(crate) const MOST: usize = 16 << 10;

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
        assert_eq!(cut("aä", 2), ("a", true));
        assert_eq!(cut("aä", 3), ("aä", false));
    }
}
