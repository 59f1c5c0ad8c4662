//! Lists in sentences.

/// Joins items as `a, b and c`, with a word before the last.
///
/// ```
/// use statemark_text::list::join;
///
/// assert_eq!(join(&["a".into(), "b".into(), "c".into()], "or"), "a, b or c");
/// assert_eq!(join(&["a".into()], "or"), "a");
/// assert_eq!(join(&[], "or"), "");
/// ```
#[must_use]
pub fn join(items: &[String], word: &str) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} {word} {last}", first.join(", ")),
        _ => items.concat(),
    }
}
