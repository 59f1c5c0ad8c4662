//! SM322: a divider with nothing on one side.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// No state stands between a divider and the next one, or the brace. `first`: before the first divider.
pub(in crate::lower) fn empty_region(id: &str, divider: Span, first: bool) -> Diagnostic {
    let side = if first { "before" } else { "behind" };
    let message = format!("no state stands {side} this `--` in `{id}`");
    Diagnostic::new(Code::EmptyRegion, divider, message)
        .label("divides nothing")
        .note("a region without a state is none: the divider is left out")
        .fix(Applicability::Safe, "remove the divider", divider, "")
}
