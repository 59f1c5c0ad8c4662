//! SM705: the definition says something that the diagram doesn't.

use crate::diag::{Applicability, Code, Diagnostic, nearest};
use crate::source::{Span, Spanned};

const WHY: &str =
    "with both, the diagram owns the states and transitions, and the definition adds to them";

/// A state of the definition isn't in the diagram.
pub(in crate::lower) fn state<'k>(
    name: &Spanned<String>,
    diagram: Span,
    known: impl Iterator<Item = &'k str>,
) -> Diagnostic {
    let message = format!("state `{}` isn't in the diagram", name.value);
    let diagnostic = Diagnostic::new(Code::OnlyInDefinition, name.span, message)
        .label("only in the definition")
        .related(diagram, "the diagram below this heading doesn't have it")
        .note(WHY);
    match nearest(&name.value, known) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            name.span,
            format!("\"{near}\""),
        ),
        None => diagnostic.help("draw it, or remove it from the definition"),
    }
}

/// A branch of the definition has no transition in the diagram.
pub(in crate::lower) fn transition(
    source: &str,
    event: &str,
    target: Option<&str>,
    span: Span,
    drawn: Span,
) -> Diagnostic {
    let on = if event.is_empty() {
        String::new()
    } else {
        format!(" on `{event}`")
    };
    let to = target.map_or_else(String::new, |target| format!(" to `{target}`"));
    let label = if event.is_empty() {
        String::new()
    } else {
        format!(" : {event}")
    };
    let line = target.map_or_else(
        || format!("{source}{label} / action()"),
        |target| format!("{source} --> {target}{label}"),
    );
    let message = format!("the diagram has no transition from `{source}`{on}{to}");
    Diagnostic::new(Code::OnlyInDefinition, span, message)
        .label("only in the definition")
        .related(drawn, format!("`{source}` in the diagram"))
        .note(WHY)
        .help(format!("draw `{line}`, or remove this branch"))
}

/// The definition guards a transition with something else than the guard that the diagram names.
pub(in crate::lower) fn guard(defined: Span, drawn: &Spanned<String>) -> Diagnostic {
    let message = format!(
        "the diagram guards this transition with `{}`, the definition with another guard",
        drawn.value
    );
    Diagnostic::new(Code::OnlyInDefinition, defined, message)
        .label("differs from the diagram")
        .related(drawn.span, format!("guarded by `{}` here", drawn.value))
        .note("one guard can't hide another: the transition is taken when what it says holds")
        .help(format!(
            "name the same guard in both places, or remove `[{}]` from the label",
            drawn.value
        ))
}

/// The definition calls a composite of the diagram final.
pub(in crate::lower) fn end(id: &str, kind: Span, drawn: Span) -> Diagnostic {
    let message = format!("`{id}` can't be final: the diagram draws states inside it");
    Diagnostic::new(Code::OnlyInDefinition, kind, message)
        .label("differs from the diagram")
        .related(drawn, format!("`{id}` has a body"))
        .help(format!("remove the type, and lead from `{id}` to `[*]`"))
}

/// The definition gives a state another type than the diagram draws.
pub(in crate::lower) fn kind(id: &str, kind: &str, span: Span, drawn: Span) -> Diagnostic {
    let (why, help) = match kind {
        "parallel" => (
            "draws no regions in it",
            "separate its regions by a line `--`, or drop the type".to_owned(),
        ),
        "compound" => (
            "draws no states inside it",
            format!("draw its states inside `state {id} {{`, or drop the type"),
        ),
        "a history" => (
            "draws it as a state",
            "draw `[H]` in the state that it remembers, or drop the type".to_owned(),
        ),
        "atomic" => ("draws states inside it", "drop the type".to_owned()),
        _ => ("draws it as a history", "drop the type".to_owned()),
    };
    let message = format!("`{id}` can't be {kind}: the diagram {why}");
    Diagnostic::new(Code::OnlyInDefinition, span, message)
        .label("differs from the diagram")
        .related(drawn, format!("`{id}` in the diagram"))
        .note(WHY)
        .help(help)
}

/// A fork of the definition beside a diagram, which draws its own.
pub(in crate::lower) fn fork(span: Span, source: &str, from: Span) -> Diagnostic {
    Diagnostic::new(
        Code::OnlyInDefinition,
        span,
        format!("a fork from `{source}` has to be drawn"),
    )
    .label("only in the definition")
    .related(from, format!("`{source}` in the diagram"))
    .note(WHY)
    .help(format!(
        "draw `state split <<fork>>`, lead from `{source}` to it and from it to each branch, and remove this `fork`"
    ))
}

/// `initial` of the definition isn't where the diagram begins.
pub(in crate::lower) fn initial(
    initial: Span,
    target: &str,
    drawn: &str,
    span: Span,
) -> Diagnostic {
    let message = format!("the diagram begins at `{drawn}`, the definition at `{target}`");
    Diagnostic::new(Code::OnlyInDefinition, initial, message)
        .label("differs from the diagram")
        .related(span, format!("begins at `{drawn}`"))
        .note(WHY)
        .help("remove `initial`, or change the diagram")
}
