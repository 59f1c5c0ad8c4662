//! SM103: a section without a machine.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A `## STATE-MACHINE` section has neither a diagram nor a definition. `fence`: one that may have been meant as the diagram.
pub(in crate::lower) fn empty_section(span: Span, fence: Option<Span>) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::EmptySection,
        span,
        "this section has neither a diagram nor a definition",
    )
    .label("no machine below this heading")
    .help("add a `mermaid` fence that holds a `stateDiagram-v2`, or a `json definition` fence");
    match fence {
        Some(fence) => diagnostic.related(fence, "not a `mermaid` fence with a state diagram"),
        None => diagnostic,
    }
}

/// A diagram without a state.
pub(in crate::lower) fn no_state(span: Span) -> Diagnostic {
    Diagnostic::new(Code::EmptySection, span, "this machine has no state")
        .label("nothing to be in")
        .help("draw a first one, `[*] --> first_state`, or declare it under `states` in the definition")
}
