//! SM325: a choice that decides nothing.

use crate::diag::{Code, Diagnostic, quoted_list};
use crate::source::Span;

/// A choice that nothing leads out of.
pub(in crate::lower) fn no_way_out(id: &str, span: Span) -> Diagnostic {
    let message = format!("nothing leads out of the choice `{id}`");
    Diagnostic::new(Code::BrokenChoice, span, message)
        .label("a choice without a way out")
        .help(format!(
            "add a way for each case, such as `{id} --> done : [ready]` and `{id} --> again : [else]`"
        ))
}

/// Choices that lead to each other without an event. `places`: the transitions, in their order.
pub(in crate::lower) fn circle(ids: &[&str], places: &[Span]) -> Option<Diagnostic> {
    let (first, others) = places.split_first()?;
    let message = format!("the choices {} lead to each other", quoted_list(ids));
    let mut diagnostic = Diagnostic::new(Code::BrokenChoice, *first, message)
        .label("from one choice to the next")
        .help("lead out of the circle, or give one of these ways an event to wait for");
    for place in others.iter().take(4) {
        diagnostic = diagnostic.related(*place, "then this way");
    }
    Some(diagnostic)
}
