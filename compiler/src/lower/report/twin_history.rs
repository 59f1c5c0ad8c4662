//! SM331: one sign for the histories of two composites.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// `[H]` stands in two bodies. `span`: the second one.
pub(in crate::lower) fn twin_history(
    [first, second]: [&str; 2],
    deep: bool,
    first_span: Span,
    span: Span,
) -> Diagnostic {
    let sign = if deep { "[H*]" } else { "[H]" };
    let message = format!("`{sign}` stands for the history of `{first}` and of `{second}`");
    Diagnostic::new(Code::TwinHistory, span, message)
        .label(format!("the history of `{second}`"))
        .related(first_span, format!("the history of `{first}`"))
        .note(format!("Mermaid draws one `{sign}` for the whole diagram"))
        .fix(
            Applicability::Safe,
            "say whose history it is",
            span,
            format!("{second}{sign}"),
        )
}
