//! `SM118` `semicolon-in-label`: a `;` separates nothing. It ends a text, and elsewhere it is part of a name.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A text that a `;` cuts; what follows becomes states.
pub(in crate::front::mermaid) fn cut(mark: Span, rest: Span, lost: &str) -> Diagnostic {
    let finding = Diagnostic::new(
        Code::SemicolonInLabel,
        mark,
        "the text ends at this `;`, and the `;` is read as a state",
    );
    if lost.is_empty() {
        return finding.fix(Applicability::Unsafe, "remove the `;`", mark, "");
    }
    finding
        .related(rest, "each word here is read as a state")
        .fix(
            Applicability::Unsafe,
            format!("write `#59;` in front of `{}`", quote(lost)),
            mark,
            "#59;",
        )
}

/// A name that ends in `;`.
pub(in crate::front::mermaid) fn in_name(mark: Span, name: &str) -> Diagnostic {
    let name = quote(name);
    Diagnostic::new(
        Code::SemicolonInLabel,
        mark,
        format!("the `;` is part of the name `{name}`"),
    )
    .note("a statement ends with its line, and needs no `;`")
    .fix(Applicability::Unsafe, "remove the `;`", mark, "")
}
