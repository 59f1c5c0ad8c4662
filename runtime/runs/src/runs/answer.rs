//! Requests are answered: approvals given and denied, questions answered, reviews sent back.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::draft::moves_by;
use super::draft::{Draft, Taking, Took};
use super::operation::{Decide, DecideCx, Right};
use super::{Change, Loaded, RunError, Runs};
use crate::actor::Actor;
use crate::authority::Authority;
use crate::blocker::{Blocker, RequestBlocker, Surface};
use crate::body::{
    Again, Body, Cause, Refused, RequestKind, Resolution, Resolved, Subject, Waiting,
};
use crate::id::RunId;
use crate::internal::{DENIED, SENT_BACK};
use crate::legality::choose_blocker;
use crate::phrase::list;
use crate::schema;
use crate::signing::Signature;
use crate::state::{Request, check_signature};

/// Most that the clocks of signer and store may differ. Unit: milliseconds.
///
/// Why: machines without a time server drift so far.
const MAX_SKEW: u64 = 10 * 60 * 1_000;

/// An answer.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerRequest {
    /// The request's id.
    pub request: String,
    /// The reply.
    pub reply: Reply,
    /// A comment on it.
    pub comment: Option<String>,
    /// A value that is kept with an approval, a confirmation or a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// True if somebody passes on a person's answer.
    pub relayed: bool,
    /// True if it comes through a channel that the asker's own client controls.
    pub elicited: bool,
    /// The signature of the decision, if the run's decisions are signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// The reply to a request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Yes: to an approval, a confirmation, a review.
    Approve,
    /// No: to an approval or a confirmation.
    Deny,
    /// A review goes back; the comment says why.
    SendBack,
    /// The answer to a question.
    Value(Value),
}

impl Reply {
    const fn name(&self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::SendBack => "send_back",
            Self::Value(_) => "answer",
        }
    }
}

impl AnswerRequest {
    /// Makes an answer without a comment.
    #[must_use]
    pub fn new(request: impl Into<String>, reply: Reply) -> Self {
        Self {
            request: request.into(),
            reply,
            comment: None,
            value: None,
            relayed: false,
            elicited: false,
            signature: None,
        }
    }

    /// Returns the text that is signed for this answer; none if the run's decisions aren't signed.
    ///
    /// # Errors
    ///
    /// The run has no such request, or it isn't answered so.
    pub fn statement(
        &self,
        runs: &Runs,
        run: &Loaded,
        by: &str,
        time: u64,
    ) -> Result<Option<String>, RequestBlocker> {
        let answer = runs.redact_request(self);
        let Some(request) = run.state.requests.get(&answer.request) else {
            return Err(run.unknown_request(&answer.request));
        };
        let (resolution, value) =
            meant(request, &answer).map_err(|fault| RequestBlocker::BadAnswer { fault })?;
        let resolved = answer.to_resolved(resolution, value);
        Ok(run.state.statement(&resolved, by, time))
    }

    /// Returns the record that it is.
    fn to_resolved(&self, resolution: Resolution, value: Option<Value>) -> Resolved {
        Resolved {
            request: self.request.clone(),
            resolution,
            value: value.or_else(|| self.value.clone()),
            comment: self.comment.clone(),
            relayed: self.relayed,
            elicited: self.elicited,
            signature: self.signature.clone(),
        }
    }
}

/// Returns the run that has a request of this id.
///
/// A fork's requests are found by the fork's own id.
#[must_use]
pub fn run_of_request(request: &str) -> Option<RunId> {
    let (run, seq) = request.rsplit_once(':')?;
    seq.parse::<u64>().ok()?;
    run.parse().ok()
}

/// Answers a request. An approval takes the event that waits, if its guards still hold.
///
/// An equal answer again gives the records of the first; another one is refused, with the first.
impl Decide for AnswerRequest {
    const NAME: &'static str = "answer";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        let authority = match run.state.signing {
            Some(_) => cx.runs.authority()?,
            None => Arc::default(),
        };
        match resolved(run, self, &cx.order.actor, (&authority, cx.now)) {
            Ok(Some(resolved)) => draft.resolve(self, resolved)?,
            Ok(None) => return Ok(Change::default()),
            Err(blocker) => {
                let subject = subject(&self.request, self.reply.name());
                draft.push(run.refuse(subject, &blocker.into()))?;
            }
        }
        Ok(draft.finish())
    }

    fn settled_by(&self, run: &Loaded) -> Option<u64> {
        let first = run.state.requests.get(&self.request)?;
        first.resolved.as_ref().map(|(_, _, seq)| *seq)
    }
}

impl Draft {
    /// Ends a request, and continues what waited for it.
    fn resolve(&mut self, answer: &AnswerRequest, resolved: Resolved) -> Result<(), RunError> {
        let Some(request) = self.state().requests.get(&answer.request).cloned() else {
            return self.push(Body::Resolved(resolved));
        };
        let (kind, waiting) = (request.opened.kind, request.opened.event);
        let asked = Again {
            request: answer.request.clone(),
            asker: request.asker,
        };
        let resolution = resolved.resolution;
        self.push(Body::Resolved(resolved))?;
        let cause = || Cause::Request {
            request: answer.request.clone(),
        };
        let comment = answer.comment.clone().unwrap_or_default();
        match (kind, resolution) {
            (RequestKind::Approval, Resolution::Approved) => {
                if let Some(waiting) = waiting {
                    self.approved(&waiting, &asked, cause())?;
                }
            }
            (RequestKind::Approval, Resolution::Denied) => {
                let event = waiting.map(|it| it.event);
                // Who says what has to change wants the work to go on, where the machine draws that.
                if !comment.is_empty() {
                    let data =
                        json!({"request": answer.request, "event": event, "comments": comment});
                    if self.deliver(SENT_BACK, Some(data), cause())? {
                        return Ok(());
                    }
                }
                let data = json!({"request": answer.request, "event": event, "comment": comment});
                self.deliver(DENIED, Some(data), cause())?;
            }
            (RequestKind::Review, Resolution::SentBack) => {
                let data = json!({"request": answer.request, "comments": comment});
                self.deliver(SENT_BACK, Some(data), cause())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the event that waited for an approval, if it still can be.
    ///
    /// It is asked again if the run's data is another than it was asked over.
    fn approved(&mut self, waiting: &Waiting, asked: &Again, cause: Cause) -> Result<(), RunError> {
        let workflow = Arc::clone(&self.loaded().workflow);
        let moves = moves_by(&workflow, self.state(), &waiting.event, Some(&cause));
        let took = match moves {
            Some(moves) => self.take(Taking {
                moves,
                event: &waiting.event,
                data: waiting.data.as_ref(),
                claims: &waiting.claims,
                cause: Some(cause),
                approved: Some((waiting, asked)),
            })?,
            None => Took::Unapproved,
        };
        let blocker = match took {
            Took::Taken | Took::Asked => return Ok(()),
            Took::Ignored => {
                let legality = self.loaded().legality().claiming(&waiting.claims);
                let blockers = legality.not_taken(&waiting.event, waiting.data.as_ref())?;
                choose_blocker(blockers).unwrap_or_else(|| legality.not_here(&waiting.event))
            }
            Took::Unapproved => Blocker::ApprovalOutdated {
                event: waiting.event.clone(),
            },
            Took::AskedAgain(again) => Blocker::ApprovalOverOther {
                event: waiting.event.clone(),
                again,
            },
            Took::Blocked(blocker) => blocker,
        };
        let subject = Subject::Event {
            name: waiting.event.clone(),
            data: waiting.data.clone(),
        };
        let enabled = self.loaded().legality().enabled_events();
        let refused = Refused::new(subject, Surface::Refusal, &blocker, enabled);
        self.push(Body::Refused(Refused {
            reason: format!("approved, but {}", refused.reason),
            ..refused
        }))
    }
}

/// Returns the subject of a refused answer or withdrawal.
pub(super) fn subject(request: &str, reply: &str) -> Subject {
    Subject::Request {
        name: request.to_owned(),
        reply: reply.to_owned(),
    }
}

/// Returns the end of a request by an answer; none if it has ended so already.
fn resolved(
    loaded: &Loaded,
    answer: &AnswerRequest,
    actor: &Actor,
    (authority, now): (&Authority, u64),
) -> Result<Option<Resolved>, RequestBlocker> {
    let Some(request) = loaded.state.requests.get(&answer.request) else {
        return Err(loaded.unknown_request(&answer.request));
    };
    may_answer(loaded, request, answer, actor)?;
    let (resolution, value) =
        meant(request, answer).map_err(|fault| RequestBlocker::BadAnswer { fault })?;
    let resolved = answer.to_resolved(resolution, value);
    let is_paused = loaded.state.paused.is_some();
    match &request.resolved {
        None if loaded.state.status().is_over() => {
            let is_question = false;
            Err(RequestBlocker::Over { is_question })
        }
        None if is_paused && request.is_expired(now) => Err(RequestBlocker::Expired {
            request: answer.request.clone(),
        }),
        None if is_paused => Err(RequestBlocker::Paused),
        None => {
            check_signed(loaded, &resolved, actor, (authority, now))?;
            Ok(Some(resolved))
        }
        Some((first, ..))
            if first.resolution == resolved.resolution && first.value == resolved.value =>
        {
            Ok(None)
        }
        Some(_) => Err(answered(loaded, request)),
    }
}

/// Checks that a decision is signed where that is demanded, by the one who decides, now.
fn check_signed(
    loaded: &Loaded,
    resolved: &Resolved,
    actor: &Actor,
    (authority, now): (&Authority, u64),
) -> Result<(), RequestBlocker> {
    let request = resolved.request.clone();
    let refuse = |fault: String| RequestBlocker::BadSignature {
        request: request.clone(),
        fault,
    };
    let Some(signing) = &loaded.state.signing else {
        return match resolved.signature {
            None => Ok(()),
            Some(_) => Err(refuse("decisions about this run aren't signed".to_owned())),
        };
    };
    let Some(signature) = &resolved.signature else {
        let who = actor.name.clone();
        return Err(RequestBlocker::Unsigned { request, who });
    };
    if actor.name.as_ref() != Some(&signature.by) {
        let by = &signature.by;
        return Err(refuse(format!("it is `{by}`'s, and this is {actor}")));
    }
    let asked = loaded.state.requests.get(&request).map_or(0, |it| it.time);
    let is_timely = asked.saturating_sub(MAX_SKEW) <= signature.time
        && signature.time <= now.saturating_add(MAX_SKEW);
    if !is_timely {
        return Err(refuse(
            "the time that it names is before the request's, or in the future".to_owned(),
        ));
    }
    let signer = check_signature(&loaded.state, resolved, signature).map_err(refuse)?;
    match authority.revoked_at(&signer) {
        Some(_) => Err(refuse(format!(
            "the key {} was revoked",
            signer.fingerprint()
        ))),
        None if authority.store_id() != Some(&signing.signing.store)
            && !authority.knows(&signer) =>
        {
            Err(refuse(format!(
                "the run began in another store, and this one doesn't know the key {} as `{}`'s",
                signer.fingerprint(),
                signer.name
            )))
        }
        None => Ok(()),
    }
}

/// Returns the blocker of a request that was settled: who answered what, and which one waits now.
pub(super) fn answered(loaded: &Loaded, request: &Request) -> RequestBlocker {
    let id = &request.opened.request;
    let Some((resolved, who, seq)) = &request.resolved else {
        let settled = format!("`{id}` is open");
        let waiting = Vec::new();
        return RequestBlocker::Answered { settled, waiting };
    };
    let how = match resolved.resolution {
        Resolution::Expired => "closed, since nobody had answered in time,",
        other => other.name(),
    };
    let value = resolved.value.as_ref();
    let value = value.map(|it| format!(" with {it}")).unwrap_or_default();
    let words = resolved.comment.as_ref();
    let words = words.map(|it| format!(" ({it})")).unwrap_or_default();
    let settled = format!("`{id}` was {how}{value} by {who} at record {seq}{words}");
    // Somebody who decides about a withdrawn request means the one that took its place.
    let waiting = match resolved.resolution {
        Resolution::Withdrawn => loaded.open_ids(),
        _ => Vec::new(),
    };
    RequestBlocker::Answered { settled, waiting }
}

/// Checks that a caller may answer a request, and in this way.
fn may_answer(
    loaded: &Loaded,
    request: &Request,
    answer: &AnswerRequest,
    actor: &Actor,
) -> Result<(), RequestBlocker> {
    let id = request.opened.request.clone();
    let allows = |key: &str| loaded.policy(key) == Some(&Value::Bool(true));
    let named = &request.opened.approvers;
    let who = request.who_may_answer();
    let decides = matches!(
        request.opened.kind,
        RequestKind::Approval | RequestKind::Review
    );
    if answer.elicited && decides && !allows("accept_elicitation") {
        return Err(RequestBlocker::Elicited { request: id, who });
    }
    if answer.relayed && !allows("relay_answers") {
        return Err(RequestBlocker::Relayed { request: id, who });
    }
    if !answer.elicited && !answer.relayed {
        if !Right::Decide.is_granted(actor.role) {
            let role = actor.role.name();
            return Err(RequestBlocker::NotAPerson {
                request: id,
                who,
                role,
            });
        }
        if is_same(actor, &request.asker) {
            let asker = request.asker.clone();
            return Err(RequestBlocker::OwnRequest { request: id, asker });
        }
    }
    if !named.is_empty() && !actor.name.as_ref().is_some_and(|it| named.contains(it)) {
        return Err(RequestBlocker::NotNamed {
            request: id,
            who,
            caller: actor.clone(),
        });
    }
    Ok(())
}

/// Reports whether two callers are one as far as is known. Without name and session, all of a role are.
fn is_same(one: &Actor, other: &Actor) -> bool {
    let both = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
    // A name in another role is somebody else's: a program may call itself what it likes.
    both(&one.session, &other.session)
        || (one.role == other.role && both(&one.name, &other.name))
        || (one == other && one.name.is_none() && one.session.is_none())
}

/// Returns the resolution and the value that an answer means.
fn meant(request: &Request, answer: &AnswerRequest) -> Result<(Resolution, Option<Value>), String> {
    use RequestKind::{Approval, Confirm, Json, Review, Select, Text};
    let opened = &request.opened;
    let id = &opened.request;
    let answered = |value: &Value| Ok((Resolution::Answered, Some(value.clone())));
    match (opened.kind, &answer.reply) {
        (Approval | Confirm, Reply::Approve | Reply::Value(Value::Bool(true)))
        | (Review, Reply::Approve) => Ok((Resolution::Approved, None)),
        (Approval | Confirm, Reply::Deny | Reply::Value(Value::Bool(false))) => {
            Ok((Resolution::Denied, None))
        }
        (Approval, _) => Err(format!("`{id}` asks for an approval: approve or deny it")),
        (Confirm, _) => Err(format!("`{id}` asks yes or no: approve or deny it")),
        (Review, Reply::SendBack) => match &answer.comment {
            Some(comment) if !comment.trim().is_empty() => Ok((Resolution::SentBack, None)),
            _ => Err(format!(
                "a review goes back with a comment: say what to change in `{id}`"
            )),
        },
        (Review, _) => Err(format!(
            "`{id}` is a review: approve it, or send it back with a comment"
        )),
        (Select, Reply::Value(Value::String(text))) if opened.choices.contains(text) => {
            answered(&Value::String(text.clone()))
        }
        (Select, _) => Err(format!(
            "`{id}` is answered with one of {}",
            list(&opened.choices)
        )),
        (Text, Reply::Value(value @ Value::String(_))) => answered(value),
        (Text, _) => Err(format!("`{id}` is answered with a string")),
        (Json, Reply::Value(value)) => {
            let schema = opened.schema.as_ref().unwrap_or(&Value::Bool(true));
            schema::validate(schema, value)
                .map_err(|error| format!("the answer to `{id}` doesn't fit its schema: {error}"))?;
            answered(value)
        }
        (Json, _) => Err(format!("`{id}` is answered with JSON that fits its schema")),
    }
}
