//! Shortening of strings for messages.

/// Shortens a string to at most `max` characters.
///
/// A shortened string ends with `…`, which isn't counted.
///
/// ```
/// use statemark_text::shorten::shorten;
///
/// assert_eq!(shorten("é line", 2), "é …");
/// assert_eq!(shorten("é line", 6), "é line");
/// ```
#[must_use]
pub fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
