//! Refusals: records of requests that a blocker prevents.

use super::{Change, Loaded};
use crate::blocker::{Blocker, Surface};
use crate::body::{Body, Refused, Subject};

impl Loaded {
    /// Returns the refusal of something, with the events that are enabled instead.
    pub(super) fn refuse(&self, subject: Subject, blocker: &Blocker) -> Body {
        let enabled = self.legality().enabled_events();
        Body::Refused(Refused::new(subject, Surface::Refusal, blocker, enabled))
    }

    /// Returns the refusal of an operation, with the events that are enabled instead.
    pub(super) fn refuse_operation(&self, operation: &str, blocker: impl Into<Blocker>) -> Body {
        self.refuse(subject(operation, None), &blocker.into())
    }

    /// Returns the record, or the refusal if nothing more happens to the run.
    pub(super) fn unless_over(&self, operation: &str, body: Body) -> Change {
        let body = match self.legality().over_or_restoring() {
            Some(blocker) => self.refuse_operation(operation, blocker),
            None => body,
        };
        Change { bodies: vec![body] }
    }
}

/// Returns the refusal of an operation that no event could replace.
pub(super) fn refuse_alone(
    operation: &str,
    on: Option<String>,
    blocker: impl Into<Blocker>,
) -> Body {
    let (subject, blocker) = (subject(operation, on), blocker.into());
    Body::Refused(Refused::new(
        subject,
        Surface::Refusal,
        &blocker,
        Vec::new(),
    ))
}

fn subject(operation: &str, on: Option<String>) -> Subject {
    let name = operation.to_owned();
    Subject::Operation { name, on }
}
