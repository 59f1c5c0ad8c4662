//! `SM114` `invisible-character`: a name holds characters that nobody sees.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A state's name that looks like another one.
pub(in crate::front::mermaid) fn in_name(span: Span, name: &str, visible: &str) -> Diagnostic {
    let shown: Vec<String> = super::super::invisible::found(name)
        .map(|c| format!("U+{:04X}", u32::from(c)))
        .collect();
    let shown = shown.join(", ");
    let visible = quote(visible);
    Diagnostic::new(
        Code::InvisibleCharacter,
        span,
        format!("a name that looks like `{visible}` holds what can't be seen"),
    )
    .label(shown)
    .note("names that differ in it are different states")
    .fix(
        Applicability::Unsafe,
        format!("write `{visible}`"),
        span,
        visible,
    )
}
