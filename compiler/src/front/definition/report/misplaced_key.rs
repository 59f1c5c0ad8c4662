//! SM711: a key that is known, but means nothing where it stands.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// `name` stands beside `other`, of which an object has only one; `other` counts.
pub(crate) fn beside(key: Span, name: &str, other: &str) -> Diagnostic {
    finding(key, format!("`{name}` beside `{other}` is ignored")).help(format!(
        "keep one of them, or split it in two, one with `{other}` and one with `{name}`"
    ))
}

/// `name` means something only in a state of that type.
pub(crate) fn only_in_type(key: Span, name: &str, kind: &str) -> Diagnostic {
    finding(
        key,
        format!(
            "`{name}` means nothing in a state that isn't {}",
            article(kind)
        ),
    )
    .help(format!("drop it, or write `\"type\": \"{kind}\"`"))
}

/// The operator asks only whether the field is there.
pub(crate) fn value_of_presence(key: Span, operator: &str) -> Diagnostic {
    finding(key, format!("`value` beside `{operator}` is ignored"))
        .note(format!(
            "`{operator}` asks whether the field is there, not what it is"
        ))
        .help("drop `value`, or compare with `eq`")
}

/// `name` belongs to a transition that invokes a workflow, or into a fork.
pub(crate) fn without_invoke(key: Span, name: &str, inside_fork: bool) -> Diagnostic {
    if inside_fork {
        finding(key, format!("`{name}` beside `fork` is ignored"))
            .help(format!("move `{name}` into the object of `fork`"))
    } else {
        finding(key, format!("`{name}` without `invoke` is ignored"))
            .help(format!("drop `{name}`, or name a workflow with `invoke`"))
    }
}

/// `internal` in a transition that leads out of its source.
pub(crate) fn leaves_anyway(key: Span, source: &str) -> Diagnostic {
    finding(
        key,
        format!("this transition leaves `{source}` all the same"),
    )
    .note("only a transition to states inside its source, or without a target, doesn't leave it")
    .help("drop the key, or lead to a state inside")
}

fn article(kind: &str) -> &str {
    if kind == "history" {
        "a history state"
    } else {
        kind
    }
}

fn finding(key: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::MisplacedKey, key, message).label("ignored")
}
