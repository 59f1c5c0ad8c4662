//! `SM106` `missing-header`: a text that Mermaid doesn't take for a state diagram.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// The code's only use.
fn missing(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::MissingHeader, span, message)
        .help("begin the diagram with a line `stateDiagram-v2`")
}

/// The words with which Mermaid's other diagrams begin.
const OTHERS: [&str; 14] = [
    "flowchart",
    "graph",
    "sequenceDiagram",
    "classDiagram",
    "erDiagram",
    "gantt",
    "pie",
    "journey",
    "gitGraph",
    "mindmap",
    "timeline",
    "quadrantChart",
    "requirementDiagram",
    "block-beta",
];

/// The kind of diagram that a first word announces, if it isn't one of states.
pub(in crate::front::mermaid) fn other_diagram(word: &str) -> Option<&'static str> {
    OTHERS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(word))
}

/// No header at all.
pub(in crate::front::mermaid) fn none(place: Span) -> Diagnostic {
    missing(place, "this diagram doesn't begin with `stateDiagram-v2`").label("expected here")
}

/// An empty diagram.
pub(in crate::front::mermaid) fn nothing(place: Span) -> Diagnostic {
    missing(place, "this diagram is empty")
}

/// Another kind of diagram.
pub(in crate::front::mermaid) fn another(word: Span, kind: &str) -> Diagnostic {
    missing(word, format!("`{kind}` is not a state diagram")).label("expected `stateDiagram-v2`")
}

/// `stateDiagram-v3`, `stateDiagram;`.
pub(in crate::front::mermaid) fn misspelt(word: Span, written: &str) -> Diagnostic {
    missing(
        word,
        format!("`{}` is no header of a state diagram", quote(written)),
    )
    .fix(
        Applicability::Safe,
        "write `stateDiagram-v2`",
        word,
        "stateDiagram-v2",
    )
}

/// A header that is there, but isn't found: capital letters, or something in front of it.
pub(in crate::front::mermaid) fn not_detected(header: Span, written: &str) -> Diagnostic {
    if written.starts_with("stateDiagram") {
        return missing(header, "the header must come before everything else")
            .label("something stands in front of it");
    }
    misspelt(header, written)
}

/// `stateDiagram-v2 direction LR`.
pub(in crate::front::mermaid) fn swallowed(line: Span) -> Diagnostic {
    missing(line, "the header needs a line of its own")
        .label("Mermaid reads this line as a direction and nothing else")
        .help("put the direction on the next line")
}
