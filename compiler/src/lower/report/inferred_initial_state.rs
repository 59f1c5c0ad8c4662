//! SM302: the only state that nothing leads to is taken for the first.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::lower::draft::DraftState;

/// Where a machine says how it begins.
pub(in crate::lower) enum Place<'p> {
    /// In its diagram. With the break between lines, and what a new line beside the state's first statement begins with.
    Diagram(Option<(&'p str, &'p str)>),
    /// In its definition, which has no lines to add.
    Definition,
}

/// A scope (`None`: the machine) begins at a state without saying so.
pub(in crate::lower) fn inferred_initial_state(
    scope: Option<&str>,
    first: &DraftState,
    place: &Place<'_>,
) -> Diagnostic {
    let whole = scope.map_or_else(|| "the machine".to_owned(), |scope| scope.to_owned());
    let message = format!(
        "nothing says where {whole} begins, so `{}` is taken",
        first.id
    );
    let diagnostic = Diagnostic::new(Code::InferredInitialState, first.span, message)
        .label("the only state in it that nothing leads to");
    let line = format!("[*] --> {}", first.id);
    match *place {
        Place::Diagram(Some((line_break, prefix))) => diagnostic.fix(
            Applicability::Safe,
            format!("add `{line}`"),
            first.first_statement.before(),
            format!("{line}{line_break}{prefix}"),
        ),
        Place::Diagram(None) => diagnostic.help(format!("add `{line}`")),
        Place::Definition => diagnostic.help(format!("add `\"initial\": \"{}\"`", first.id)),
    }
}
