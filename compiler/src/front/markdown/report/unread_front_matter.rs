//! SM108: front matter that can't be read.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The YAML can't be read at that place; `reason` is what its reader said.
pub(crate) fn unread_front_matter(place: Span, reason: &str) -> Diagnostic {
    let (reason, help) = plain(reason);
    Diagnostic::new(
        Code::UnreadFrontMatter,
        place,
        format!("the front matter can't be read: {reason}"),
    )
    .note("without it, the machine takes its name from the heading, the definition, or the file")
    .help(help)
}

/// The reader's words as an author would say them, and how to mend it.
fn plain(reason: &str) -> (String, &'static str) {
    let line = reason.lines().next().unwrap_or_default();
    let line = line
        .rsplit_once(" at line ")
        .map_or(line, |(words, _)| words);
    if let Some(key) = line.strip_prefix("duplicate mapping key: ") {
        let key = key.split(", set ").next().unwrap_or(key);
        return (
            format!("the key `{key}` stands twice"),
            "drop one of the two",
        );
    }
    let quotes =
        "a text that holds `: ` or begins with a sign such as `*`, `[` or `{` needs quotes";
    match line {
        "mapping values are not allowed in this context" => {
            ("`: ` in a text without quotes".to_owned(), quotes)
        }
        "expected string scalar" => ("expected a text".to_owned(), quotes),
        "expected mapping start" => (
            "expected keys with values".to_owned(),
            "write a key on each line: `name: …`",
        ),
        other => (other.to_owned(), quotes),
    }
}
