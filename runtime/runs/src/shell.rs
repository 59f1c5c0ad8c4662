//! Words of commands that are proposed, as a shell takes them.
//!
//! Names are other people's: of events, of artifacts, choices that an agent has put to a person. Whoever pastes a command
//! must run that command and nothing that a name says.

use std::borrow::Cow;

/// A text as one word of a command line, for shells as POSIX has them: quoted if anything in it could mean something.
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
