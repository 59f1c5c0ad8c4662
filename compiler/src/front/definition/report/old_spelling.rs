//! SM706: an old spelling of a key.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// The key `old` is read as `now`.
pub(crate) fn old_spelling(key: Span, old: &str, now: &str) -> Diagnostic {
    let order = format!("write `{now}`");
    Diagnostic::new(
        Code::OldSpelling,
        key,
        format!("`{old}` is another spelling of `{now}`"),
    )
    .help(order.clone())
    .fix(Applicability::Safe, order, key, format!("\"{now}\""))
}
