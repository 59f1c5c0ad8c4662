//! `SM117` `swallowed-by-direction`: a line that speaks of a direction is one, and nothing else.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::front::mermaid::report::quote;
use crate::source::Span;

/// A line that holds more than a direction. `gap` are the blanks between `direction` and its letters.
pub(in crate::front::mermaid) fn line(
    line: Span,
    direction: Span,
    said: &str,
    first: bool,
    gap: Span,
) -> Diagnostic {
    let said = quote(said);
    let finding = Diagnostic::new(
        Code::SwallowedByDirection,
        direction,
        format!("the whole line is read as `{said}`"),
    )
    .related(line, "nothing else on it counts");
    if first {
        return finding.help("put what follows on a line of its own");
    }
    finding.fix(
        Applicability::Unsafe,
        "write the blank as `#32;`, which Mermaid shows as one",
        gap,
        "#32;",
    )
}
