//! SM602: `requires` names what isn't declared.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::Span;

/// No artifact, check or field of the context is called so; `known` are those that there are.
pub(crate) fn unknown_requirement(at: Span, name: &str, known: &[String]) -> Diagnostic {
    let message = format!("`requires` names `{name}`, which is no artifact, check or field");
    let found = Diagnostic::new(Code::UnknownRequirement, at, message)
        .note("it is taken for an artifact that has no contract");
    let Some(meant) = nearest(name, known.iter().map(String::as_str)) else {
        return found.help(format!(
            "declare it: `\"artifacts\": {{\"{name}\": {{}}}}`, or a check of that name in `checks`"
        ));
    };
    found.help(format!("did you mean `{meant}`?")).fix(
        Applicability::Unsafe,
        format!("write `\"{meant}\"`"),
        at,
        format!("\"{meant}\""),
    )
}
