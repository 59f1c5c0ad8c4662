//! SM702: a value of a type that its key doesn't take.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// `what` wants `expected`; `mended` is the value as it may have been meant.
pub(crate) fn wrong_type(
    value: Span,
    what: &str,
    expected: &str,
    found: &str,
    mended: Option<String>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::WrongType,
        value,
        format!("{what}: expected {expected}, found {found}"),
    );
    match mended {
        Some(mended) => {
            let order = format!("write `{mended}`");
            diagnostic
                .help(order.clone())
                .fix(Applicability::Unsafe, order, value, mended)
        }
        None => diagnostic.help(format!("write {expected}")),
    }
}
