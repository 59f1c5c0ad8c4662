//! SM202: a guard that nobody declares.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::Span;

/// A guard is used by name, and the definition doesn't declare it.
pub(in crate::lower) fn unknown_guard<'k>(
    name: &str,
    span: Span,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("guard `{name}` isn't declared");
    let diagnostic = Diagnostic::new(Code::UnknownGuard, span, message)
        .label("not among the `guards` of the definition")
        .note(
            "a guard that can't be answered never holds, so this transition would never be taken",
        );
    match nearest(name, known) {
        Some(near) => {
            // A label holds the bare name, the definition has it in quotes.
            let quote = if span.range().len() > name.len() { "\"" } else { "" };
            diagnostic.help(format!("did you mean `{near}`?")).fix(
                Applicability::Unsafe,
                format!("write `{near}`"),
                span,
                format!("{quote}{near}{quote}"),
            )
        }
        None => diagnostic.help(format!(
            "declare it: `\"guards\": {{ \"{name}\": {{ \"field\": …, \"op\": …, \"value\": … }} }}`"
        )),
    }
}

/// A declared guard needs itself for its answer.
pub(in crate::lower) fn circular(name: &str, declared: Span, used: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnknownGuard,
        used,
        format!("guard `{name}` refers to itself"),
    )
    .label("needs its own answer")
    .related(declared, "declared here")
    .help("say what it depends on without naming it again")
}
