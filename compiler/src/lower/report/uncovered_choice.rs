//! SM327: a choice that may find no way out.

use crate::diag::{Code, Diagnostic, quoted_list};
use crate::source::Span;

/// A choice without `[else]` whose guards may all fail. `span`: its last way out.
pub(in crate::lower) fn uncovered_choice(id: &str, guards: &[&str], span: Span) -> Diagnostic {
    let case = match guards {
        [only] => format!("`{only}` doesn't hold"),
        [one, two] => format!("neither `{one}` nor `{two}` holds"),
        all => format!("none of {} holds", quoted_list(all)),
    };
    let message = format!("the choice `{id}` doesn't say what happens when {case}");
    Diagnostic::new(Code::UncoveredChoice, span, message)
        .label("the last way out of it")
        .note("then no way is taken: the event that led there does nothing")
        .help(format!(
            "add a way for the rest, such as `{id} --> other : [else]`"
        ))
}
