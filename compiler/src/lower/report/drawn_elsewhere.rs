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
        ROOT => "to no other state".to_owned(),
        owner => format!("to `{}`", draft.get(owner).id),
    };
    let drawn_in = &draft.get(drawn.scope).id;
    let message = format!("`{id}` belongs {owner}, but is drawn inside `{drawn_in}`");
    Diagnostic::new(Code::DrawnElsewhere, drawn.span, message)
        .label(format!("the last body that mentions `{id}`"))
        .help(format!(
            "move this line out of `{drawn_in}`, to where `{id}` belongs"
        ))
}
