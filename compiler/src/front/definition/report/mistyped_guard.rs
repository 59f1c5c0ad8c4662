//! SM502: a guard that compares with a value that its operator can't compare with.

use crate::diag::{Applicability, Code, Diagnostic};
use crate::source::Span;

/// `operator` wants another value than the one at `value`; `number` is that value as a number, if it is a text of one.
pub(crate) fn mistyped_guard(
    value: Span,
    operator: &str,
    wanted: &str,
    found: &str,
    number: Option<String>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code::MistypedGuard,
        value,
        format!("`{operator}` compares with {wanted}, found {found}"),
    )
    .note("a comparison of different types is never true");
    match number {
        Some(number) => {
            let order = format!("write `{number}` without quotes");
            diagnostic
                .help(order.clone())
                .fix(Applicability::Unsafe, order, value, number)
        }
        None => diagnostic.help(help(operator)),
    }
}

fn help(operator: &str) -> &'static str {
    match operator {
        "in" => "write the values in a list: `[\"a\", \"b\"]`",
        "eq" | "neq" => "compare with one value; for several use `in`",
        _ => "change the value, or take another operator",
    }
}
