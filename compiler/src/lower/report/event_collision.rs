//! SM207: two texts that become one event.

use crate::diag::{Code, Diagnostic};
use crate::ir::Event;
use crate::source::Span;

/// A label gives the same identifier as an earlier one, in other words.
pub(in crate::lower) fn event_collision(event: &Event, text: &str, span: Span) -> Diagnostic {
    let earlier = event.title.as_deref().unwrap_or(&event.id);
    let message = format!("`{text}` and `{earlier}` become one event, `{}`", event.id);
    Diagnostic::new(Code::EventCollision, span, message)
        .label(format!("becomes `{}`", event.id))
        .related(event.span, format!("becomes `{}` too", event.id))
        .help("if they are two events, write them as two identifiers; if they are one, use the same text")
}
