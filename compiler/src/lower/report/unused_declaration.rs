//! SM205: something is declared and never used.

use crate::diag::{Code, Diagnostic};
use crate::source::Spanned;

/// A guard, an action or an event of the definition that nothing names. `what` is that word.
pub(in crate::lower) fn unused_declaration(what: &str, name: &Spanned<String>) -> Diagnostic {
    let message = format!("{what} `{}` is declared but never used", name.value);
    Diagnostic::new(Code::UnusedDeclaration, name.span, message)
        .label("nothing names it")
        .help("use it, or remove it; if you meant to use it, look for a misspelling there")
}
