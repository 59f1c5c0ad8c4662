//! SM707: an object that is meaningless without a key that it hasn't.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The object that opens there is `what` and lacks the keys that `needs` names.
pub(crate) fn missing_key(object: Span, what: &str, needs: &str) -> Diagnostic {
    Diagnostic::new(Code::MissingKey, object, format!("{what} needs {needs}"))
        .label("missing in this object")
        .help(format!("add {needs}"))
}
