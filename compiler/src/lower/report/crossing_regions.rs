//! SM323: a transition from one region to another.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A transition between two regions of one parallel state.
pub(in crate::lower) fn crossing_regions(
    [source, target]: [&str; 2],
    around: &str,
    span: Span,
) -> Diagnostic {
    let message = format!("this leads from one region of `{around}` into another");
    Diagnostic::new(Code::CrossingRegions, span, message)
        .label(format!("`{source}` and `{target}` are active side by side"))
        .note(format!(
            "taking it leaves all regions of `{around}` and enters them anew, the others at their beginning"
        ))
        .help("let both regions wait for one event, or lead out of the whole state")
}
