//! SM210: instructions for a state that doesn't exist.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::markdown::document::Heading;
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

/// A heading is a state's name, but not in the form that makes what stands below it that state's instructions.
pub(in crate::lower) fn not_read(heading: &Heading) -> Diagnostic {
    let name = &heading.text.value;
    Diagnostic::new(
        Code::UnknownInstructions,
        heading.text.span,
        format!("what stands below this heading isn't read as the instructions of `{name}`"),
    )
    .label("a state's name")
    .note("a heading of level 3 that is a state's name in backticks begins its instructions")
    .fix(
        Applicability::Unsafe,
        format!("write ``### `{name}` ``"),
        heading.line,
        format!("### `{name}`"),
    )
}
