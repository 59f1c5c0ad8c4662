//! SM501: an expression that the host has to answer.

use crate::diag::{Code, Diagnostic};
use crate::lower::words::is_identifier;
use crate::source::Span;

/// A guard is an expression or prose: the host is asked for it under a name.
pub(in crate::lower) fn guard(text: &str, name: &str, span: Span) -> Diagnostic {
    let message = format!("guard `{text}` isn't evaluated: the host is asked for `{name}`");
    let diagnostic = Diagnostic::new(Code::HostExpression, span, message)
        .label(format!("asked as `{name}`"))
        .note("the host is the program that runs the machine; a workflow for agents has none");
    match declaration(text) {
        Some(declaration) => diagnostic.help(format!(
            "to have it evaluated, declare `\"{name}\": {declaration}` under `guards`, and write `{name}` here"
        )),
        None => diagnostic.help(
            "to have it evaluated, declare it under `guards` as `{ \"field\": …, \"op\": …, \"value\": … }`, and write its name here",
        ),
    }
}

/// A comparison of a field with a constant, as the definition declares it: `attempts < 3`.
fn declaration(text: &str) -> Option<String> {
    let operators = [
        ("<=", "lte"),
        (">=", "gte"),
        ("==", "eq"),
        ("!=", "neq"),
        ("<", "lt"),
        (">", "gt"),
    ];
    let (field, name, value) = operators.iter().find_map(|(operator, name)| {
        text.split_once(operator)
            .map(|(field, value)| (field.trim(), name, value.trim()))
    })?;
    let is_constant = serde_json::from_str::<serde_json::Value>(value)
        .is_ok_and(|value| value.is_number() || value.is_string() || value.is_boolean());
    let fits = is_constant && is_identifier(field);
    fits.then(|| format!("{{ \"field\": \"{field}\", \"op\": \"{name}\", \"value\": {value} }}"))
}
