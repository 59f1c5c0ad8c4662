//! SM159: a `<cancel>` of what nothing sends.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Spanned;

/// No `<send>` has the id that is cancelled. SCXML allows it, and it does nothing.
pub(crate) fn idle_cancel(id: &Spanned<String>, near: Option<&str>) -> Diagnostic {
    let found = Diagnostic::new(
        Code::IdleCancel,
        id.span,
        format!("no `<send>` has the id `{}`", id.value),
    )
    .label("cancels nothing");
    match near {
        Some(near) => found.help(format!("did you mean `{near}`?")).fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            id.span,
            near,
        ),
        None => found.help("give the `<send>` that is meant an `id`"),
    }
}
