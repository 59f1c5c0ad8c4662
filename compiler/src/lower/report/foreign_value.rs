//! SM518: a value that isn't among those that a field may have.

use crate::diag::{Applicability, Code, Diagnostic, nearest, quoted_list};
use crate::source::Span;

/// Most values that a message lists. Unit: values. Why: more than these are looked up in the schema.
const MOST_LISTED: usize = 8;

/// Shortest value that may be a misspelled one. Unit: bytes. Why: any two shorter ones differ by a letter or two.
const LEAST_SIMILAR: usize = 3;

/// A value that is compared with a field that never has it, nor an item of it; each value as in JSON, texts without quotes.
/// `place` is that of the value alone, between its quotes.
pub(in crate::lower) fn compared(
    path: &str,
    of_items: bool,
    value: &str,
    values: &[String],
    span: Span,
    place: Option<Span>,
) -> Diagnostic {
    let verb = if of_items { "never holds" } else { "is never" };
    let message = format!("`{path}` {verb} `{value}`");
    finish(message, value, values, span, place)
}

/// A value that is assigned to a field that may not have it.
pub(in crate::lower) fn assigned(
    path: &str,
    value: &str,
    values: &[String],
    span: Span,
    place: Option<Span>,
) -> Diagnostic {
    let message = format!("`{path}` may not become `{value}`");
    finish(message, value, values, span, place)
}

fn finish(
    message: String,
    value: &str,
    values: &[String],
    span: Span,
    place: Option<Span>,
) -> Diagnostic {
    let all: Vec<&str> = values.iter().map(String::as_str).collect();
    let diagnostic = Diagnostic::new(Code::ForeignValue, place.unwrap_or(span), message)
        .label("not among the values of its schema");
    let diagnostic = if all.len() <= MOST_LISTED {
        diagnostic.note(format!("the schema allows {}", quoted_list(&all)))
    } else {
        diagnostic.note(format!("the schema allows {} values", all.len()))
    };
    let near = nearest(value, all.iter().copied());
    let Some(near) = near.filter(|_| value.len() >= LEAST_SIMILAR) else {
        return diagnostic.help("write one of its values, or add this one to the schema");
    };
    let diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
    // What needs an escape would have to be written in another way here.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ');
    match place.filter(|_| near.chars().all(is_plain)) {
        Some(place) => diagnostic.fix(
            Applicability::Unsafe,
            format!("write `{near}`"),
            place,
            near,
        ),
        None => diagnostic,
    }
}
