//! SM208: an id whose Rust name is more than its spelling in another case.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::Machine;
use crate::pass::names::names;

/// Hints at each id that generated Rust has to call something else: a keyword, a leading digit, a character that no
/// Rust identifier holds. None where `told` has said already that it is hardly meant as a name.
pub(super) fn check(machine: &Machine, told: &Diags, diags: &mut Diags) {
    // An empty id is an error of its own.
    for renamed in names(machine)
        .renamed
        .into_iter()
        .filter(|renamed| !renamed.id.is_empty() && !told.covers(renamed.span))
    {
        let (what, id, name) = (renamed.what, renamed.id, renamed.name);
        diags.push(
            Diagnostic::new(
                Code::RenamedIdentifier,
                renamed.span,
                format!("{what} `{id}` is called `{name}` in Rust"),
            )
            .label("can't be a name in Rust")
            .help("choose another name if that one reads badly"),
        );
    }
}
