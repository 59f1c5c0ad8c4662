//! `SM109` `broken-diagram-front-matter`: the `---` block of a diagram can't be read, and Mermaid draws nothing.

use crate::diag::{Code, Diagnostic};
use crate::front::yaml::Trouble;
use crate::source::Span;

/// The code's only use.
fn broken(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::BrokenDiagramFrontMatter, span, message)
}

/// A block that isn't closed.
pub(in crate::front::mermaid) fn unclosed(fence: Span) -> Diagnostic {
    broken(fence, "the diagram's front matter isn't closed")
        .label("expected a second `---`, indented like this one")
        .help("close it with a line `---`, or remove this line")
}

/// A block that doesn't stand at the very start.
pub(in crate::front::mermaid) fn not_first(fence: Span) -> Diagnostic {
    broken(
        fence,
        "a diagram's front matter must begin on its first line",
    )
    .help("remove the blank lines in front of `---`")
}

/// YAML that is none.
pub(in crate::front::mermaid) fn not_yaml(place: Span, trouble: &Trouble) -> Diagnostic {
    broken(
        place,
        format!("the diagram's front matter is not YAML: {}", trouble.reason),
    )
    .note("Mermaid draws nothing of a diagram whose front matter it can't read")
    .help(trouble.help)
}
