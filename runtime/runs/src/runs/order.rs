//! Orders, and their results: records, outcomes and refusals.

use super::{InvalidRequest, Loaded, RunError};
use crate::actor::Actor;
use crate::blocker::{Blocker, Surface};
use crate::body::{Body, Forked, Opened, Refused, Subject};
use crate::id::{Key, RunId};
use crate::record::Record;
use crate::store::Fence;

/// The caller of an operation, and its conditions.
#[derive(Clone, Debug)]
pub struct Order {
    /// The run.
    pub run: RunId,
    /// The caller.
    pub actor: Actor,
    /// The idempotency key: it gives a repeated request the first answer.
    pub key: Option<Key>,
    /// The record that the run must end with; else it has gone on, and the order is refused.
    pub expected: Option<u64>,
    /// The lease under which it is done.
    pub fence: Option<Fence>,
    /// The attempt of an executor that it belongs to.
    pub attempt: Option<u64>,
    /// True if its caller starts accepted workflows alone.
    pub only_accepted: bool,
}

impl AsRef<Actor> for Order {
    fn as_ref(&self) -> &Actor {
        &self.actor
    }
}

impl Order {
    /// Makes an order without conditions.
    #[must_use]
    pub const fn new(run: RunId, actor: Actor) -> Self {
        Self {
            run,
            actor,
            key: None,
            expected: None,
            fence: None,
            attempt: None,
            only_accepted: false,
        }
    }
}

/// Records to write.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// The records, in order; nothing is written if there is none.
    pub bodies: Vec<Body>,
}

/// Records that an operation has written.
#[derive(Clone, Debug)]
pub struct Written<T = ()> {
    /// The result.
    pub outcome: T,
    /// The records of the order: new ones, or those of the first time.
    pub records: Vec<Record>,
    /// The bodies of these records, as they were written.
    pub(super) bodies: Vec<Body>,
    /// True if it was done before.
    pub replayed: bool,
    /// The run as it is now.
    pub loaded: Loaded,
}

impl<T> Written<T> {
    /// Returns the refusal among the records, if there is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refused> {
        self.bodies.iter().find_map(|body| match body {
            Body::Refused(refused) => Some(refused),
            _ => None,
        })
    }

    /// Returns the fork that the run began as, if it did.
    #[must_use]
    pub fn forked(&self) -> Option<&Forked> {
        self.bodies.iter().find_map(|body| match body {
            Body::Forked(forked) => Some(forked),
            _ => None,
        })
    }

    /// Returns the request that was opened, if one was.
    #[must_use]
    pub fn opened(&self) -> Option<&Opened> {
        self.bodies.iter().find_map(|body| match body {
            Body::Opened(opened) => Some(opened),
            _ => None,
        })
    }
}

impl Written {
    /// Makes the answer of an order that wrote nothing.
    pub(super) const fn nothing(loaded: Loaded, replayed: bool) -> Self {
        Self {
            outcome: (),
            records: Vec::new(),
            bodies: Vec::new(),
            replayed,
            loaded,
        }
    }

    /// Reads the outcome from the records.
    pub(super) fn read_outcome<T: Outcome>(self) -> Result<Written<T>, RunError> {
        let outcome = T::read(&self.bodies)?;
        Ok(self.with(outcome))
    }

    /// Adds an outcome.
    pub(super) fn with<T>(self, outcome: T) -> Written<T> {
        let Self {
            outcome: (),
            records,
            bodies,
            replayed,
            loaded,
        } = self;
        Written {
            outcome,
            records,
            bodies,
            replayed,
            loaded,
        }
    }
}

/// The result of an operation, read from its records.
pub trait Outcome: Sized {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`RunError::Invalid`] if the records say nothing of it.
    fn read(bodies: &[Body]) -> Result<Self, RunError>;
}

/// Nothing to be said: it was done.
impl Outcome for () {
    fn read(_: &[Body]) -> Result<Self, RunError> {
        Ok(())
    }
}

/// Done, or refused.
impl Outcome for Result<(), Refused> {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        Ok(refusal_in(bodies).map_or(Ok(()), Err))
    }
}

/// The request that was opened, or the refusal.
impl Outcome for Result<Opened, Refused> {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        if let Some(refused) = refusal_in(bodies) {
            return Ok(Err(refused));
        }
        let opened = bodies.iter().find_map(|body| match body {
            Body::Opened(opened) => Some(opened.clone()),
            _ => None,
        });
        let expected = "request that was opened";
        let missing = InvalidRequest::OtherRecords { expected };
        opened.map(Ok).ok_or(RunError::Invalid(missing))
    }
}

fn refusal_in(bodies: &[Body]) -> Option<Refused> {
    bodies.iter().find_map(|body| match body {
        Body::Refused(refused) => Some(refused.clone()),
        _ => None,
    })
}

/// Reads the bodies of records; one that can't be read says nothing.
pub(super) fn bodies_of(records: &[Record]) -> Vec<Body> {
    let read = records.iter().filter_map(|record| record.read().ok());
    read.collect()
}

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
