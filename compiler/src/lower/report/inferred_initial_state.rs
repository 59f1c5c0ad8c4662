//! SM302: the only state that nothing leads to is taken for the first.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::lower::draft::DraftState;

/// A scope (`None`: the machine) begins at a state without saying so. `prefix`: the break between
/// lines, and what a new line beside its first statement begins with.
pub(in crate::lower) fn inferred_initial_state(
    scope: Option<&str>,
    first: &DraftState,
    prefix: Option<(&str, &str)>,
) -> Diagnostic {
    let whole = scope.map_or_else(|| "the machine".to_owned(), |scope| format!("`{scope}`"));
    let message = format!(
        "nothing says where {whole} begins, so `{}` is taken",
        first.id
    );
    let diagnostic = Diagnostic::new(Code::InferredInitialState, first.span, message)
        .label("the only state in it that nothing leads to");
    let line = format!("[*] --> {}", first.id);
    match prefix {
        Some((line_break, prefix)) => diagnostic.fix(
            Applicability::Safe,
            format!("add `{line}`"),
            first.first_statement.before(),
            format!("{line}{line_break}{prefix}"),
        ),
        None => diagnostic.help(format!("add `{line}`")),
    }
}
