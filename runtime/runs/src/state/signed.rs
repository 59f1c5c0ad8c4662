//! Runs whose decisions are signed: what their journals must not say.
//!
//! The fold of such a run verifies each decision by the keys of its first record, and takes nothing that needs an approval
//! without one. Whoever can write to a store can still write a journal with other keys; that is another first record, so
//! no signature fits it, and a list of keys that is kept elsewhere tells.

use serde::{Deserialize, Serialize};

use super::{Request, RunState};
use crate::body::{Body, Cause, Event, Resolution, Resolved};
use crate::hash::Hash;
use crate::record::Record;
use crate::signing::{Signature, Signer, Signing, Statement, verify};

/// The keys by which decisions about a run are signed, and what they are bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedRun {
    /// The keys.
    #[serde(flatten)]
    pub signing: Signing,
    /// The hash of the record that the run began with: `run.started`, or that of a fork, `run.forked`.
    pub first: Hash,
}

impl RunState {
    /// Returns the text that is signed for a decision.
    ///
    /// None if the run's decisions aren't signed, or if it has no such request.
    #[must_use]
    pub fn statement(&self, resolved: &Resolved, by: &str, time: u64) -> Option<String> {
        let signed = self.signing.as_ref()?;
        let request = self.requests.get(&resolved.request)?;
        let statement = Statement {
            store: &signed.signing.store,
            first: signed.first,
            request: &resolved.request,
            record: request.record?,
            rewinds: self.rewinds.len(),
            verdict: verdict(resolved.resolution)?,
            answer: resolved.value.as_ref(),
            comment: resolved.comment.as_deref(),
            by,
            time,
        };
        Some(statement.text())
    }
}

/// Returns the word for a decision in the signed text; none for an end that nobody decided.
const fn verdict(resolution: Resolution) -> Option<&'static str> {
    match resolution {
        Resolution::Approved => Some("approved"),
        Resolution::Denied => Some("denied"),
        Resolution::Answered => Some("answered"),
        Resolution::SentBack => Some("sent_back"),
        Resolution::Expired | Resolution::Withdrawn => None,
    }
}

/// Checks that the next record may be one of a run whose decisions are signed.
///
/// # Errors
///
/// The defect, as a predicate of the record.
pub(super) fn check(state: &RunState, record: &Record, body: &Body) -> Result<(), String> {
    if state.signing.is_none() {
        return Ok(());
    }
    match body {
        Body::Resolved(resolved) => check_decision(state, resolved),
        Body::Event(event) => check_event(state, record, event),
        Body::Started(_) => Err("it begins a run that has begun".to_owned()),
        Body::Forked(_) if !state.decisions().is_empty() => {
            Err("it carries signed decisions into another run".to_owned())
        }
        Body::Forced(_) => Err("it forces a state of a run whose decisions are signed".to_owned()),
        Body::Migrated(_) => Err("it migrates a run whose decisions are signed".to_owned()),
        _ => Ok(()),
    }
}

fn check_decision(state: &RunState, resolved: &Resolved) -> Result<(), String> {
    if verdict(resolved.resolution).is_none() {
        return Ok(());
    }
    let id = &resolved.request;
    let Some(signature) = &resolved.signature else {
        return Err(format!("the decision about `{id}` isn't signed"));
    };
    match state.requests.get(id) {
        None => return Err(format!("it decides about `{id}`, which nobody asked")),
        Some(Request {
            resolved: Some(_), ..
        }) => {
            return Err(format!("`{id}` was decided before"));
        }
        Some(Request { opened, .. })
            if !opened.approvers.is_empty() && !opened.approvers.contains(&signature.by) =>
        {
            return Err(format!(
                "`{}` isn't one of those who may decide about `{id}`",
                signature.by
            ));
        }
        Some(_) => {}
    }
    check_signature(state, resolved, signature)
        .map(drop)
        .map_err(|why| format!("the signature of the decision about `{id}` doesn't count: {why}"))
}

/// Checks the signature of a decision by the keys of the run, and returns the key.
///
/// # Errors
///
/// The reason why it doesn't count, as a sentence about it.
pub(crate) fn check_signature(
    state: &RunState,
    resolved: &Resolved,
    signature: &Signature,
) -> Result<Signer, String> {
    let text = state.statement(resolved, &signature.by, signature.time);
    let text = text.ok_or_else(|| "there is nothing that it could be of".to_owned())?;
    let keys = state.signing.iter().flat_map(|it| &it.signing.keys);
    let signer = verify(signature, &text, keys).map_err(|error| error.to_string())?;
    Ok(signer.clone())
}

/// Checks that an event which needs an approval was approved just before.
fn check_event(state: &RunState, record: &Record, event: &Event) -> Result<(), String> {
    let taken = || event.step.steps.iter().flat_map(|it| &it.transitions);
    let guarded = state.signing.iter().flat_map(|it| &it.signing.guarded);
    let guarded: Vec<u16> = guarded.copied().collect();
    if !taken().any(|it| guarded.contains(it)) {
        return Ok(());
    }
    let unapproved = || format!("`{}` needs an approval, and this is of none", event.event);
    let Some(Cause::Request { request }) = &event.cause else {
        return Err(unapproved());
    };
    let request = state.requests.get(request).ok_or_else(unapproved)?;
    let (Some((resolved, _, seq)), Some(waiting)) = (&request.resolved, &request.opened.event)
    else {
        return Err(unapproved());
    };
    let is_approved = resolved.resolution == Resolution::Approved
        && seq.checked_add(1) == Some(record.seq)
        && waiting.event == event.event
        && waiting.data == event.data
        && waiting.claims == event.claims
        && taken().eq(&waiting.takes)
        && !state.is_other_than_asked(waiting);
    if is_approved {
        Ok(())
    } else {
        Err(format!(
            "`{}` isn't the event that was approved, or not when it was",
            event.event
        ))
    }
}
