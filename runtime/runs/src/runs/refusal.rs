//! What is refused that isn't an event.

use crate::body::{Body, Refused, Subject};

/// An operation that isn't done: why, and what could be said instead.
pub(super) fn refusal(
    name: &str,
    on: Option<String>,
    code: &str,
    reason: String,
    legal: &[&str],
) -> Body {
    Body::Refused(Refused {
        subject: Subject::Operation {
            name: name.to_owned(),
            on,
        },
        code: code.to_owned(),
        reason,
        legal: legal.iter().map(|it| (*it).to_owned()).collect(),
    })
}
