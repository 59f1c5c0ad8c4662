//! SM104: a fence that nothing closes, or only the end of another fence.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// The fence that opens at `opening` isn't closed.
///
/// `swallowed` is a line that doesn't belong inside, if one was found; `closing` is what would close the fence when it is
/// inserted at `end`.
pub(crate) fn unclosed_fence(
    opening: Span,
    swallowed: Option<Span>,
    end: Span,
    closing: String,
) -> Diagnostic {
    let found = Diagnostic::new(Code::UnclosedFence, opening, "this fence isn't closed")
        .label("opened here")
        .help("close it with a line that holds the same signs and nothing more");
    match swallowed {
        Some(line) => found
            .related(line, "it goes on past here, which is left out of it")
            .fix(
                Applicability::Unsafe,
                "close it before that line",
                end,
                closing,
            ),
        None => found.fix(Applicability::Safe, "close it at its end", end, closing),
    }
}
