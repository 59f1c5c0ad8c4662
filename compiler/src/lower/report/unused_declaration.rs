//! SM205: something is declared and never used.

use crate::diag::{Code, Diagnostic};
use crate::source::Spanned;

/// A guard, an action or an event of the definition that nothing names. `what` is that word.
pub(in crate::lower) fn unused_declaration(what: &str, name: &Spanned<String>) -> Diagnostic {
    let message = format!("{what} `{}` is declared, but nothing uses it", name.value);
    Diagnostic::new(Code::UnusedDeclaration, name.span, message)
        .label("never used")
        .help(format!("use it in a transition, or remove it; a typing error where it is used leaves a {what} unused too"))
}
