//! SM301: nothing says where a scope begins.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A machine (`scope` is `None`) or a compound state has no initial state, and none can be inferred. `first`: the one that
/// stands first in the text.
pub(in crate::lower) fn no_initial_state(
    scope: Option<&str>,
    span: Span,
    candidates: &[&str],
    first: &str,
) -> Diagnostic {
    let message = match scope {
        Some(scope) => format!("nothing says where {scope} begins"),
        None => "nothing says where the machine begins".to_owned(),
    };
    let example = candidates.first().copied().unwrap_or(first);
    let diagnostic = Diagnostic::new(Code::NoInitialState, span, message)
        .label("no `[*] -->` in here")
        .help(format!("write, for example, `[*] --> {example}` in the diagram, or `\"initial\": \"{example}\"` in the definition"));
    match candidates {
        [] => diagnostic
            .note("something leads to each of its states, so none is the obvious first one"),
        names => {
            let list: Vec<String> = names
                .iter()
                .take(4)
                .map(|name| format!("`{name}`"))
                .collect();
            let more = if names.len() > 4 { ", …" } else { "" };
            diagnostic.note(format!(
                "nothing leads to {}{more}: each could be the first",
                list.join(", ")
            ))
        }
    }
}
