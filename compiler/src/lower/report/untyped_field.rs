//! SM516: fields of which nothing says what they hold.

use crate::diag::{Code, Diagnostic, quoted_list};
use crate::source::Span;

/// Nothing is declared of these fields, and their use tells nothing.
pub(in crate::lower) fn untyped_field(names: &[&str], span: Span) -> Diagnostic {
    let message = format!("nothing says what {} holds", quoted_list(names));
    let message = if names.len() > 1 {
        message.replace(" holds", " hold")
    } else {
        message
    };
    let is_data = names.iter().all(|name| name.starts_with("event."));
    let place = if is_data {
        "under `data` of the event, as a JSON Schema"
    } else {
        "under `context`, with its first value, or under `context_schema`"
    };
    Diagnostic::new(Code::UntypedField, span, message)
        .label("any value fits, also one that was never meant")
        .help(format!("declare it {place}"))
}
