//! Phrases that messages and proposed commands have in common.

use std::borrow::Cow;

/// Returns names in backticks, with commas between them.
pub(crate) fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Returns a text, followed by the reason if there is one.
pub(crate) fn with_reason(text: impl Into<String>, reason: Option<&String>) -> String {
    let text = text.into();
    match reason.map(String::as_str) {
        None | Some("") => text,
        Some(reason) => format!("{text}: {reason}"),
    }
}

/// Returns a string as one word of a POSIX shell's command line, quoted if anything in it is special.
///
/// Names come from others: event and artifact names, and choices that an agent offers a person. Pasting a command must run
/// that command, and nothing that a name contains.
///
/// ```
/// assert_eq!(statemark_runs::shell_word("r/job/1:2"), "r/job/1:2");
/// assert_eq!(statemark_runs::shell_word("it's $(here)"), r"'it'\''s $(here)'");
/// ```
#[must_use]
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@:%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
    }
}
