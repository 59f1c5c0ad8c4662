//! SM311: Mermaid draws a state in another place than it belongs to.

use crate::diag::{Code, Diagnostic};
use crate::lower::draft::{Draft, ROOT, StateIndex};
use crate::lower::scope::Claim;

/// The last body that mentions a state, where Mermaid draws it, isn't the one that it belongs to.
pub(in crate::lower) fn drawn_elsewhere(
    draft: &Draft,
    state: StateIndex,
    owner: StateIndex,
    drawn: &Claim,
) -> Diagnostic {
    let id = &draft.get(state).id;
    let owner = match owner {
        ROOT => "outside of it".to_owned(),
        owner => format!("to {}", draft.place_name(owner)),
    };
    let drawn_in = draft.place_name(drawn.scope);
    let message = format!("`{id}` is drawn inside {drawn_in}, but belongs {owner}");
    Diagnostic::new(Code::DrawnElsewhere, drawn.span, message)
        .label("mentioned last here")
        .note("Mermaid draws a state inside the last body that mentions it")
        .help(format!(
            "move this line out of {drawn_in}; the machine stays the same"
        ))
}
