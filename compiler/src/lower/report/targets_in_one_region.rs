//! SM342: several targets that can't be active together.

use crate::diag::{Code, Diagnostic};
use crate::source::Spanned;

/// The target `id` excludes `other`, which stands before it in the list.
pub(in crate::lower) fn targets_in_one_region(
    name: &Spanned<String>,
    id: &str,
    other: &str,
) -> Diagnostic {
    let message = format!("`{other}` and `{id}` can't be active together");
    Diagnostic::new(Code::TargetsInOneRegion, name.span, message)
        .label(format!("excludes `{other}`"))
        .note("several targets of one transition lie in different regions of a parallel state")
        .help("lead to one of them, or put each into a region of its own")
}
