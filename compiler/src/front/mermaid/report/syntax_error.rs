//! `SM105` `syntax-error`: a statement that Mermaid doesn't read. One for each statement, in the words of what was meant.

pub(in crate::front::mermaid) mod arrow;
pub(in crate::front::mermaid) mod class;
pub(in crate::front::mermaid) mod click;
pub(in crate::front::mermaid) mod declaration;
pub(in crate::front::mermaid) mod label;
pub(in crate::front::mermaid) mod name;
pub(in crate::front::mermaid) mod note;

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::{Span, Spanned};

/// The code's only use.
fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::SyntaxError, span, message)
}

/// Whatever has no better words.
pub(in crate::front::mermaid) fn other(span: Span, text: &str) -> Diagnostic {
    let text = quote(text);
    error(span, format!("`{text}` can't stand here"))
        .label("no statement goes on like this")
        .help("a statement is a state, `a : text`, `a --> b : label`, `state a { … }` or a note")
}

/// `stateDiagram` once more.
pub(in crate::front::mermaid) fn second_header(span: Span) -> Diagnostic {
    error(span, "a diagram has one header")
        .label("a second header")
        .help("put another machine into a section and a fence of its own")
}

/// `--` outside of braces, or a sign like it inside.
pub(in crate::front::mermaid) fn divider(span: Span, inside: bool) -> Diagnostic {
    if inside {
        return error(span, "regions are divided by exactly `--`").fix(
            Applicability::Safe,
            "write `--`",
            span,
            "--",
        );
    }
    error(
        span,
        "`--` divides the regions of a composite, and here is none",
    )
    .label("outside of braces")
    .help("put the regions between the braces of a `state name { … }`")
}

/// A `{` behind nothing that can have a body.
pub(in crate::front::mermaid) fn brace(span: Span, behind_statement: bool) -> Diagnostic {
    let message = if behind_statement {
        "a body can't stand behind this statement"
    } else {
        "a body needs `state` and a name in front of its `{`, on the same line"
    };
    error(span, message).help("write `state name {`")
}

/// `a {` where `state a {` was meant.
pub(in crate::front::mermaid) fn composite_without_state(
    span: Span,
    id: &Spanned<String>,
    alone: bool,
) -> Diagnostic {
    let name = quote(&id.value);
    let finding = error(span, format!("a body needs `state` in front of `{name}`"))
        .label("this opens a body")
        .related(id.span, "of this state");
    if alone {
        finding.fix(
            Applicability::Safe,
            format!("write `state {name} {{`"),
            id.span.before(),
            "state ",
        )
    } else {
        finding.help(format!(
            "end the transition's line, and open `state {name} {{` on the next"
        ))
    }
}

/// More braces than the tree keeps.
pub(in crate::front::mermaid) fn too_deep(span: Span, most: usize) -> Diagnostic {
    error(span, format!("composites are nested deeper than {most}"))
        .label("what stands inside is read as if it stood outside")
        .help("flatten the machine, or split it")
}
