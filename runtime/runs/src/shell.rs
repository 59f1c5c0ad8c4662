//! Quoting of proposed commands for a shell.
//!
//! Names come from others: event and artifact names, and choices that an agent offers a person. Pasting a command must run
//! that command, and nothing that a name contains.

use std::borrow::Cow;

/// Returns a string as one word of a POSIX shell's command line, quoted if anything in it is special.
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
