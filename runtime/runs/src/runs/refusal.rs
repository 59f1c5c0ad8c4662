//! Refusals: records of what was asked for and wasn't done.

use super::Loaded;
use crate::blocker::{Blocker, Surface};
use crate::body::{Body, Refused, Subject};

/// Returns the refusal of an operation, with what could be said instead.
pub(super) fn refusal(
    name: &str,
    on: Option<String>,
    code: &str,
    reason: String,
    legal: &[&str],
) -> Body {
    let name = name.to_owned();
    Body::Refused(Refused {
        subject: Subject::Operation { name, on },
        code: code.to_owned(),
        reason,
        legal: legal.iter().map(|it| (*it).to_owned()).collect(),
    })
}

impl Loaded {
    /// Returns the refusal of something, with the events that are enabled instead.
    pub(super) fn refuse(&self, subject: Subject, code: &str, reason: String) -> Body {
        Body::Refused(Refused {
            subject,
            code: code.to_owned(),
            reason,
            legal: self.legality().enabled_events(),
        })
    }

    /// Returns the refusal of an operation, with the events that are enabled instead.
    pub(super) fn refusal(&self, operation: &str, code: &str, reason: String) -> Body {
        let name = operation.to_owned();
        self.refuse(Subject::Operation { name, on: None }, code, reason)
    }

    /// Returns the refusal of an operation that a blocker keeps from being done.
    pub(super) fn blocked(&self, operation: &str, blocker: &Blocker) -> Body {
        let code = blocker.code(Surface::Refusal);
        self.refusal(operation, code, blocker.message())
    }

    /// Returns the refusal of an answer to a request, or of its withdrawal.
    pub(super) fn unanswered(
        &self,
        request: &str,
        reply: &str,
        code: &str,
        reason: String,
    ) -> Body {
        let subject = Subject::Request {
            name: request.to_owned(),
            reply: reply.to_owned(),
        };
        self.refuse(subject, code, reason)
    }
}
