//! SM305: a state that nothing leads out of.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// A leaf without a way out that takes the event of an implied way out itself.
pub(in crate::lower) fn takes_done(id: &str, event: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code::DeadEnd, span, format!("nothing leads out of `{id}`"))
        .label("a dead end")
        .note(format!("`{id}` takes the event `{event}` itself and stays"))
        .help("lead on from it, or to `[*]`, on another event")
}

/// A leaf of a diagram without a way out. `line`: the break between lines, and what a new line behind `statement` begins with.
pub(in crate::lower) fn dead_end(
    (id, event): (&str, &str),
    span: Span,
    statement: Span,
    line: Option<(&str, &str)>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::DeadEnd, span, format!("nothing leads out of `{id}`"))
        .label("a dead end")
        .note(format!(
            "the machine is made as if it said `{id} --> [*] : {event}`"
        ));
    match line {
        Some((line_break, prefix)) => diagnostic.fix(
            Applicability::Safe,
            format!("say that `{id}` is the end"),
            statement.after(),
            format!("{line_break}{prefix}{id} --> [*] : {event}"),
        ),
        None => diagnostic.help(format!("add `{id} --> [*] : {event}`, or lead on from it")),
    }
}
