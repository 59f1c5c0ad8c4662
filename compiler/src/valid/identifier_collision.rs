//! SM209: two ids that become one Rust name.

use crate::diag::{Code, Diagnostic, Diags};
use crate::ir::Machine;
use crate::pass::names::names;

/// Reports each id whose Rust name another id before it has: two variants or two methods can't share a name.
pub(super) fn check(machine: &Machine, diags: &mut Diags) {
    for collision in names(machine).collisions {
        let name = collision.name;
        let (first_what, first, first_span) = collision.first;
        let (what, second, span) = collision.second;
        let both = if first_what == what {
            format!("{what}s `{first}` and `{second}`")
        } else {
            format!("{first_what} `{first}` and {what} `{second}`")
        };
        diags.push(
            Diagnostic::new(
                Code::IdentifierCollision,
                span,
                format!("{both} would both be called `{name}` in Rust"),
            )
            .label(format!("becomes `{name}`"))
            .related(first_span, format!("becomes `{name}`, too"))
            .help("rename one of them"),
        );
    }
}
