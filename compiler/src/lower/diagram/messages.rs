//! Messages about pseudo-states that several files send.

use crate::diag::{Code, Diagnostic};
use crate::front::mermaid::ast::Stereotype;
use crate::source::{Span, Spanned};

pub(super) fn acting_pseudo_state(id: &str, pseudo: Stereotype, span: Span) -> Diagnostic {
    let word = pseudo.word();
    let message = format!("the {word} `{id}` is no state, so it can't act");
    Diagnostic::new(Code::PseudoState, span, message)
        .label(format!("an action on a {word}"))
        .help("give the action to the transition that leads there, or to the state after it")
}

pub(super) fn guarded_fork(id: &str, span: Span) -> Diagnostic {
    let message = format!("the fork `{id}` takes all its ways at once");
    Diagnostic::new(Code::PseudoState, span, message)
        .label("a guard or an action has no place here")
        .help(
            "guard the transition that leads to the fork; let the state after it act, by `entry /`",
        )
}

pub(super) fn composite_pseudo_state(id: &Spanned<String>, span: Span) -> Diagnostic {
    let id = &id.value;
    let message = format!("`{id}` can't be both a composite and a choice, fork or join");
    Diagnostic::new(Code::PseudoState, span, message)
        .label("but it has states inside")
        .help("give one of them another name")
}

/// Reports a pseudo-state with one way. `word`: its kind; `side`: `out of` or `to`.
pub(super) fn single_way(word: &str, id: &str, side: &str, span: Span) -> Diagnostic {
    let message = format!("only one way leads {side} the {word} `{id}`");
    Diagnostic::new(Code::SingleWay, span, message)
        .label("the only one")
        .note(format!("the machine is made as if `{id}` weren't there"))
        .help("add the other ways, or lead past it")
}
