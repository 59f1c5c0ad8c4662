//! SM157: targets that can't all be entered.

use crate::diag::{Code, Diagnostic};
use crate::source::{Span, Spanned};

/// Two states of one list can't be active together, or one of them implies the other.
pub(crate) fn together(one: &Spanned<String>, other: &Spanned<String>, within: bool) -> Diagnostic {
    let found = Diagnostic::new(
        Code::IllegalTargets,
        other.span,
        format!(
            "`{}` and `{}` can't both be targets",
            one.value, other.value
        ),
    )
    .related(one.span, "the other one");
    if within {
        return found
            .label("one stands inside the other")
            .help("name the inner one alone: what is around it is entered with it");
    }
    found
        .label("not in another region of the same parallel state")
        .help("name one state, or one for each region of a `<parallel>`")
}

/// A state begins, or a history leads, outside of where it may.
pub(crate) fn outside(target: &Spanned<String>, scope: &str, declared: Span) -> Diagnostic {
    Diagnostic::new(
        Code::IllegalTargets,
        target.span,
        format!("`{}` isn't inside `{scope}`", target.value),
    )
    .label(format!("must be a state inside `{scope}`"))
    .related(declared, format!("`{}` stands here", target.value))
    .help(format!("name a state inside `{scope}`"))
}
