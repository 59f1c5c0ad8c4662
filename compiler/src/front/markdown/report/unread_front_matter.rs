//! SM108: front matter that can't be read.

use crate::diag::{Code, Diagnostic};
use crate::front::yaml::Trouble;
use crate::source::Span;

/// The YAML can't be read at that place.
pub(crate) fn unread_front_matter(place: Span, trouble: &Trouble) -> Diagnostic {
    Diagnostic::new(
        Code::UnreadFrontMatter,
        place,
        format!("the front matter can't be read: {}", trouble.reason),
    )
    .note("without it, the machine takes its name from the heading, the definition, or the file")
    .help(trouble.help)
}
