//! SM201: a name that is no state.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

/// The definition names a state that doesn't exist.
pub(in crate::lower) fn unknown_state<'k>(
    name: &Spanned<String>,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("state `{}` doesn't exist", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownState, name.span, message).label("no such state");
    match nearest(&name.value, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            name.span,
            format!("\"{near}\""),
        ),
        None => diagnostic.help("declare the state, or name one that exists"),
    }
}

/// The initial state of a scope lies outside of it.
pub(in crate::lower) fn outside_scope(
    name: &Spanned<String>,
    scope: &str,
    declared: Span,
) -> Diagnostic {
    let message = format!(
        "`{scope}` can't begin at `{}`, which isn't inside it",
        name.value
    );
    Diagnostic::new(Code::UnknownState, name.span, message)
        .label(format!("must be a state inside `{scope}`"))
        .related(declared, format!("`{}` stands here", name.value))
        .help(format!(
            "begin at a state inside `{scope}`, or move `{}` into it",
            name.value
        ))
}

/// A list of targets names a state that doesn't exist.
pub(in crate::lower) fn unknown_target(name: &Spanned<String>, near: Option<&str>) -> Diagnostic {
    let message = format!("state `{}` doesn't exist", name.value);
    let diagnostic = Diagnostic::new(Code::UnknownState, name.span, message).label("no such state");
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            name.span,
            near,
        ),
        None => diagnostic.help("give a state that id, or name one that exists"),
    }
}
