//! SM210: instructions for a state that doesn't exist.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Spanned;

/// A heading in backticks names no state.
pub(in crate::lower) fn unknown_instructions(
    name: &Spanned<String>,
    near: Option<&str>,
) -> Diagnostic {
    let message = format!("instructions for `{}`, which is no state", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownInstructions, name.span, message)
        .label("no such state")
        .note("nobody will be told what stands below this heading");
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            name.span,
            near,
        ),
        None => diagnostic
            .help("name a state, or take the backticks away if this is an ordinary heading"),
    }
}
