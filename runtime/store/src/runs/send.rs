//! An event is sent to a run.

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::{EventKind, Outcome};

use super::{Change, Legal, Loaded, Order, RunError, Runs, Written, list};
use crate::body::{Body, Cause, Event, Refused, Subject};
use crate::fold::Status;
use crate::step::{CannotStep, Moment, Move, Stepper};

/// An event from outside.
#[derive(Clone, Debug, Serialize)]
pub struct Send {
    /// Its name.
    pub event: String,
    /// What comes with it.
    pub data: Option<Value>,
}

/// What became of an event.
#[derive(Clone, Debug)]
pub enum Sent {
    /// It was taken.
    Taken(Event),
    /// It was refused.
    Refused(Refused),
}

impl Sent {
    /// The answer that the records of an order give.
    ///
    /// # Errors
    ///
    /// They have none.
    pub fn of(written: &Written) -> Result<Self, RunError> {
        for record in &written.records {
            match record.read() {
                Ok(Body::Event(event)) => return Ok(Self::Taken(event)),
                Ok(Body::Refused(refused)) => return Ok(Self::Refused(refused)),
                _ => {}
            }
        }
        let what = "the records of this key say nothing of an event".to_owned();
        Err(RunError::Invalid { what })
    }
}

impl Runs {
    /// Sends an event: one macrostep. What can't be taken is refused with what would be legal; that is recorded, too.
    ///
    /// # Errors
    ///
    /// As for [`Runs::change`]; [`RunError::Step`] if the machine fails. Nothing is written then.
    pub fn send(&self, order: &Order, send: &Send) -> Result<Written, RunError> {
        self.change(order, &("send", send), |loaded, now| {
            let body = sent(loaded, send, now)?;
            Ok(Change { bodies: vec![body] })
        })
    }
}

/// What sending the event comes to.
pub(super) fn sent(loaded: &Loaded, send: &Send, now: u64) -> Result<Body, RunError> {
    let legal = loaded.legal()?;
    if let Some((code, reason)) = standstill(loaded) {
        return Ok(refused(send, &legal, code, reason));
    }
    let table = loaded.workflow.table();
    let named = table.event_named(&send.event);
    let is_named = |row: &statemark_runtime::EventRow| row.kind == EventKind::Named;
    let Some(event) = named.filter(|id| table.event(*id).is_some_and(is_named)) else {
        let workflow = loaded.workflow.id();
        let reason = match named {
            Some(_) => format!("`{}` comes from the machine itself", send.event),
            None => format!("`{workflow}` has no event `{}`", send.event),
        };
        return Ok(refused(send, &legal, "unknown_event", reason));
    };
    let mut stepper = Stepper::restored(&loaded.workflow, &loaded.state)?;
    let moment = Moment {
        run: &loaded.run,
        seq: loaded.head.seq + 1,
        now,
    };
    match stepper.step(Move::Event(event), send.data.as_ref(), moment) {
        Ok((Outcome::Ignored, _)) => {
            let with_data = loaded.legal_with(send.data.as_ref())?;
            let reason = not_taken(loaded, send, &with_data);
            Ok(refused(send, &legal, "not_taken", reason))
        }
        Ok((_, step)) => Ok(Body::Event(Event {
            event: send.event.clone(),
            data: send.data.clone(),
            cause: None::<Cause>,
            step,
        })),
        Err(CannotStep::Data(error)) => {
            let reason = format!("the data can't be kept: {error}");
            Ok(refused(send, &legal, "bad_data", reason))
        }
        Err(error) => Err(error.into()),
    }
}

/// Why a run takes no event at all.
fn standstill(loaded: &Loaded) -> Option<(&'static str, String)> {
    if let Some(restoring) = &loaded.state.restoring {
        let name = &restoring.name;
        let reason = format!(
            "the files are being put back to checkpoint `{name}`: finish that or give it up first"
        );
        return Some(("restoring", reason));
    }
    match loaded.state.status() {
        Status::Completed | Status::Failed => {
            let leaves = list(&loaded.state.leaves);
            Some(("ended", format!("the run has ended in {leaves}")))
        }
        Status::Cancelled => Some(("cancelled", "the run was cancelled".to_owned())),
        Status::Paused => {
            let reason = "the run is paused: continue it first".to_owned();
            Some(("paused", reason))
        }
        Status::Running | Status::Waiting => None,
    }
}

/// Why no transition takes the event.
fn not_taken(loaded: &Loaded, send: &Send, legal: &[Legal]) -> String {
    let leaves = list(&loaded.state.leaves);
    let of_event: Vec<&Legal> = legal.iter().filter(|it| it.event == send.event).collect();
    if of_event.is_empty() {
        return format!("nothing in {leaves} takes `{}`", send.event);
    }
    let mut facts: Vec<String> = Vec::new();
    for fact in of_event.iter().flat_map(|it| &it.facts) {
        let told = match &fact.value {
            Some(value) => format!("`{}` is {value}", fact.field),
            None => format!("`{}` is absent", fact.field),
        };
        if !facts.contains(&told) {
            facts.push(told);
        }
    }
    let facts = if facts.is_empty() {
        String::new()
    } else {
        format!(": {}", facts.join(", "))
    };
    format!("no guard of `{}` in {leaves} holds{facts}", send.event)
}

fn refused(send: &Send, legal: &[Legal], code: &str, reason: String) -> Body {
    let mut events: Vec<String> = Vec::new();
    for it in legal.iter().filter(|it| it.enabled) {
        if !events.contains(&it.event) {
            events.push(it.event.clone());
        }
    }
    Body::Refused(Refused {
        subject: Subject::Event {
            name: send.event.clone(),
            data: send.data.clone(),
        },
        code: code.to_owned(),
        reason,
        legal: events,
    })
}
