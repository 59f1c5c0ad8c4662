//! SM310: a state that two bodies claim.

use crate::diag::{Code, Diagnostic};
use crate::lower::draft::{Draft, StateIndex};
use crate::lower::scope::Claim;

/// Two bodies, neither inside the other, declare or leave from one state.
pub(in crate::lower) fn two_owners(
    draft: &Draft,
    state: StateIndex,
    first: &Claim,
    other: &Claim,
) -> Diagnostic {
    let id = &draft.get(state).id;
    let (one, two) = (draft.place_name(first.scope), draft.place_name(other.scope));
    Diagnostic::new(
        Code::TwoOwners,
        other.span,
        format!("`{id}` can't be inside {one} and inside {two}"),
    )
    .label(format!("inside {two} here"))
    .related(first.span, format!("inside {one} here"))
    .help(format!(
        "keep what `{id}` does in one body; other bodies may only lead to it"
    ))
}
