//! SM108: front matter that can't be read.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The YAML can't be read at that place; `reason` is what its reader said.
pub(crate) fn unread_front_matter(place: Span, reason: &str) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadFrontMatter,
        place,
        format!("the front matter can't be read: {}", plain(reason)),
    )
    .note("without it, the machine takes its name from the heading, the definition, or the file")
    .help("a text that holds `: ` or begins with a sign such as `*`, `[` or `{` needs quotes")
}

/// The reader's words without its own place and without advice to programmers.
fn plain(reason: &str) -> &str {
    let line = reason.lines().next().unwrap_or_default();
    let line = line.rsplit_once(" at line ").map_or(line, |(words, _)| words);
    line.split(", set ").next().unwrap_or(line)
}
