//! SM709: a wrapper `{"definition": …}` that doesn't wrap.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// The key of a machine stands beside `definition` instead of in it.
pub(crate) fn key_beside_wrapped(key: Span, name: &str) -> Diagnostic {
    Diagnostic::new(
        Code::BadWrapper,
        key,
        format!("`{name}` stands beside `definition`, where it isn't read"),
    )
    .note("an object with the key `definition` is a wrapper: the machine is what that key holds")
    .help(format!(
        "move `{name}` into `definition`, or drop the wrapper"
    ))
}

/// `definition` holds no machine.
pub(crate) fn nothing_wrapped(value: Span, found: &str) -> Diagnostic {
    Diagnostic::new(
        Code::BadWrapper,
        value,
        format!("`definition` must hold a machine: expected an object, found {found}"),
    )
    .help("write the machine there as an object, with `states` and what else it has")
}
