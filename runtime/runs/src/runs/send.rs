//! Sending an event to a run.

use serde::Serialize;
use serde_json::Value;

use super::draft::{Taking, Took, try_take};
use super::operation::{Decide, DecideCx, Right};
use super::{Change, InvalidRequest, Loaded, Outcome, RunError};
use crate::blocker::{Blocker, DataFault};
use crate::body::{Body, Event, Opened, Refused, Subject};
use crate::claims::Claims;
use crate::id::check_event_name;
use crate::legality::{Attempt, choose_blocker};
use crate::step::{CannotStep, StepInput};

/// An event from outside.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SendEvent {
    /// Its name.
    pub event: String,
    /// Its data.
    pub data: Option<Value>,
    /// The claims of its sender.
    ///
    /// Without claims it isn't in the digest of the key, which is older.
    #[serde(skip_serializing_if = "Claims::is_empty")]
    pub claims: Claims,
}

/// The result of an event.
#[derive(Clone, Debug)]
pub enum SendOutcome {
    /// The event was taken.
    Taken(Event),
    /// Somebody has to approve it first; it waits in the request.
    Asked(Box<Opened>),
    /// The event was refused.
    Refused(Refused),
}

impl Outcome for SendOutcome {
    fn read(bodies: &[Body]) -> Result<Self, RunError> {
        for body in bodies {
            match body {
                Body::Event(event) => return Ok(Self::Taken(event.clone())),
                Body::Opened(opened) => return Ok(Self::Asked(Box::new(opened.clone()))),
                Body::Refused(refused) => return Ok(Self::Refused(refused.clone())),
                _ => {}
            }
        }
        let expected = "event";
        Err(InvalidRequest::OtherRecords { expected }.into())
    }
}

/// Sends an event: one macrostep.
///
/// An event that can't be taken is refused with the enabled ones, and that is recorded.
impl Decide for SendEvent {
    const NAME: &'static str = "send";
    const RIGHT: Right = Right::Drive;
    type Outcome = SendOutcome;

    fn validate(&self) -> Result<(), RunError> {
        // Journals and lists show it on one line.
        Ok(check_event_name(&self.event)?)
    }

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let body = decide_send(run, self, cx.now)?;
        Ok(Change { bodies: vec![body] })
    }
}

/// Decides what sending an event does: it is taken, a person is asked to approve it, or it is refused.
pub(super) fn decide_send(loaded: &Loaded, send: &SendEvent, now: u64) -> Result<Body, RunError> {
    let attempt = Attempt::Send {
        name: &send.event,
        data: send.data.as_ref(),
    };
    let legality = loaded.legality().claiming(send.claims.as_slice());
    let blockers = legality.blockers(&attempt)?;
    let blocker = match choose_blocker(blockers) {
        Some(blocker) => blocker,
        None => match take_event(loaded, send, now)? {
            Ok(body) => return Ok(body),
            Err(blocker) => blocker,
        },
    };
    let subject = Subject::Event {
        name: send.event.clone(),
        data: send.data.clone(),
    };
    Ok(loaded.refuse(subject, &blocker))
}

/// Takes an event that nothing blocks, or opens the request that it needs.
///
/// Some blockers only the step shows.
fn take_event(
    loaded: &Loaded,
    send: &SendEvent,
    now: u64,
) -> Result<Result<Body, Blocker>, RunError> {
    let legality = loaded.legality();
    let claims = match loaded.workflow.read_claims(send.claims.as_slice()) {
        Ok(claims) => claims,
        Err(blocker) => return Ok(Err(blocker)),
    };
    let resolved = match legality.resolve(&send.event)? {
        Ok(resolved) => resolved,
        Err(blocker) => return Ok(Err(blocker)),
    };
    let taking = Taking {
        moves: StepInput::Event(resolved.event),
        event: loaded.workflow.table().event_name(resolved.event),
        data: send.data.as_ref(),
        claims: &claims,
        cause: resolved.cause,
        approved: None,
    };
    match try_take(loaded, taking, now) {
        Ok((Took::Blocked(blocker), _)) => Ok(Err(blocker)),
        Ok((_, Some(body))) => Ok(Ok(body)),
        Ok((_, None)) => Ok(Err(legality.not_here(&send.event))),
        Err(RunError::Step(CannotStep::Data(error))) => Ok(Err(Blocker::BadData {
            event: None,
            fault: DataFault::Unstorable(error.to_string()),
        })),
        Err(error) => Err(error),
    }
}
