//! SM324: something that a choice, a fork or a join can't have.

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::ast::Stereotype;
use crate::source::{Span, Spanned};

/// The word for a pseudo-state.
pub(in crate::lower) fn word(pseudo: Stereotype) -> &'static str {
    match pseudo {
        Stereotype::Fork => "fork",
        Stereotype::Join => "join",
        Stereotype::Choice => "choice",
    }
}

/// Actions written on a pseudo-state, which is never active.
pub(in crate::lower) fn with_actions(id: &str, pseudo: Stereotype, span: Span) -> Diagnostic {
    let word = word(pseudo);
    let message = format!("the {word} `{id}` is no state, so it can't act");
    Diagnostic::new(Code::PseudoState, span, message)
        .label(format!("an action on a {word}"))
        .help("give the action to the transition that leads there, or to the state behind it")
}

/// A way out of a fork or a join that is guarded or acts, though all ways are taken at once.
pub(in crate::lower) fn way_of_a_fork(id: &str, span: Span) -> Diagnostic {
    let message = format!("the fork `{id}` takes all its ways at once");
    Diagnostic::new(Code::PseudoState, span, message)
        .label("a guard or an action has no place here")
        .help("guard the transition that leads to the fork; let the state behind it act, by `entry /`")
}

/// A composite with a stereotype.
pub(in crate::lower) fn with_body(id: &Spanned<String>, span: Span) -> Diagnostic {
    let id = &id.value;
    let message = format!("`{id}` can't be both a composite and what this says");
    Diagnostic::new(Code::PseudoState, span, message)
        .label("but it has states inside")
        .help("give one of them another name")
}
