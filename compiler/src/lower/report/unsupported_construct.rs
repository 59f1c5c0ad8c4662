//! SM115: something that this version doesn't compile yet.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A construct of the language that is read but has no meaning yet. `what` names it, in the plural.
pub(in crate::lower) fn unsupported_construct(span: Span, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::UnsupportedConstruct,
        span,
        format!("{what} can't be compiled yet"),
    )
    .label("not supported by this version")
    .note("no machine is made, rather than one that means something else")
    .help(way_round(what))
}

/// How to say the same without it.
fn way_round(what: &str) -> &'static str {
    let words = [
        (
            "delays",
            "name an event, such as `timed_out`, that the host sends when the time is over",
        ),
        (
            "choices",
            "give each transition that leads to the choice the guards that lead out of it",
        ),
        (
            "invoked workflows",
            "give the machine as a definition alone, or start the other workflow by an action",
        ),
        (
            "wildcards",
            "name each event, or send the machine an event of its own, such as `other`, for the rest",
        ),
        (
            "history",
            "lead to a named state, one for each place to return to",
        ),
    ];
    let found = words
        .iter()
        .find(|(construct, _)| what.starts_with(construct));
    found.map_or(
        "do one thing after the other, or make each a machine of its own",
        |(_, help)| help,
    )
}
