//! SM341: what a state has contradicts its type.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A state that can't have states inside has some.
pub(in crate::lower) fn with_states(id: &str, kind: &str, at: Span, child: Span) -> Diagnostic {
    let message = format!("`{id}` can't be {kind}: it has states inside");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("contradicts its `states`")
        .related(child, format!("stands inside `{id}`"))
        .help(match kind {
            "final" => format!("drop the type, and end `{id}` with a final state inside it"),
            _ => "drop the type, or move the states out".to_owned(),
        })
}

/// A state that lives by the states inside it has none.
pub(in crate::lower) fn without_states(id: &str, kind: &str, at: Span) -> Diagnostic {
    let (needs, help) = match kind {
        "parallel" => (
            "no region inside",
            "give it a `states` with one state for each region, or drop the type",
        ),
        _ => (
            "no states inside",
            "give it `states` and an `initial`, or drop the type",
        ),
    };
    let message = format!("`{id}` can't be {kind}: it has {needs}");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("contradicts the rest of the state")
        .help(help)
}

/// A parallel state begins in all its regions; `initial` names one.
pub(in crate::lower) fn with_initial(id: &str, at: Span, kind: Span) -> Diagnostic {
    let message = format!("parallel state `{id}` begins in all its regions, not at one of them");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("a parallel state has no `initial`")
        .related(kind, format!("`{id}` is parallel"))
        .help("drop `initial`, and say in each region where it begins")
}

/// A history is entered only to lead on: it has nothing of a state's own.
pub(in crate::lower) fn active_history(id: &str, key: &str, at: Span) -> Diagnostic {
    let message = format!("history `{id}` is never active, so that it can't have `{key}`");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("a history only leads back")
        .help(format!(
            "drop `{key}`, or move it into a state that is active"
        ))
}

/// A history of the machine itself, which is never left.
pub(in crate::lower) fn history_of_all(id: &str, at: Span) -> Diagnostic {
    let message = format!("history `{id}` stands in the machine itself, which is never left");
    Diagnostic::new(Code::ContradictoryType, at, message)
        .label("would never remember anything")
        .help("put it into the `states` of the state whose last child it shall remember")
}
