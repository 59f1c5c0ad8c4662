//! Labels and descriptions.

use super::error;
use crate::diag::{Applicability, Diagnostic};
use crate::source::Span;

/// `a --> b : std::x`.
pub(in crate::front::mermaid) fn double_colon(span: Span) -> Diagnostic {
    let first = Span {
        end: span.start + 1,
        ..span
    };
    error(span, "`::` can't stand in a text")
        .label("the text ends here")
        .fix(
            Applicability::Safe,
            "write the first colon as `#58;`",
            first,
            "#58;",
        )
}

/// `a --> b : label:`.
pub(in crate::front::mermaid) fn trailing_colon(span: Span) -> Diagnostic {
    error(span, "a text can't end in a colon").fix(
        Applicability::Safe,
        "remove the colon",
        span,
        "",
    )
}

/// `a --> b :`.
pub(in crate::front::mermaid) fn empty(span: Span) -> Diagnostic {
    error(span, "expected a text behind the colon").fix(
        Applicability::Safe,
        "remove the colon",
        span,
        "",
    )
}

/// `: text` with nothing in front of it.
pub(in crate::front::mermaid) fn without_state(span: Span) -> Diagnostic {
    error(
        span,
        "expected a state or a transition in front of the colon",
    )
    .label("whose text is this?")
    .help("write `a : text` or `a --> b : label` on one line")
}

/// `state x <<choice>> : text`, `state "t" as x` and a text on a line of its own.
pub(in crate::front::mermaid) fn behind_declaration(span: Span) -> Diagnostic {
    error(span, "a text can't stand behind this declaration")
        .help("describe the state on a line of its own: `name : text`")
}
