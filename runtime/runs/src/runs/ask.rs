//! Somebody is asked, and a question is taken back.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use statemark_text::visible;

use super::answer::{answered, subject};
use super::draft::Draft;
use super::operation::{Decide, DecideCx, Right};
use super::{Change, Loaded, RunError};
use crate::blocker::RequestBlocker;
use crate::body::{Body, Opened, Refused, RequestKind, Resolution, Resolved};
use crate::legible::compute_shape;
use crate::phrase::list;
use crate::schema;

/// A question.
#[derive(Clone, Debug, Serialize)]
pub struct OpenRequest {
    /// The kind of answer.
    pub kind: RequestKind,
    /// The question.
    pub prompt: String,
    /// The choices of a [`RequestKind::Select`].
    pub choices: Vec<String>,
    /// The schema of the answer to a [`RequestKind::Json`].
    pub schema: Option<Value>,
    /// Further data for the person.
    pub details: Value,
    /// The active state that it is about: when that is left, the question is withdrawn.
    pub state: Option<String>,
    /// The persons who may answer. If the definition names some, only those of them.
    pub approvers: Vec<String>,
    /// True if other events wait for the answer. For an approval they always do.
    pub blocking: bool,
    /// The time until it expires. Unit: milliseconds.
    pub expires_in: Option<u64>,
}

impl OpenRequest {
    /// Makes a question that can wait, about no state, to everybody.
    #[must_use]
    pub fn new(kind: RequestKind, prompt: impl Into<String>) -> Self {
        Self {
            kind,
            prompt: prompt.into(),
            choices: Vec::new(),
            schema: None,
            details: Value::Null,
            state: None,
            approvers: Vec::new(),
            blocking: false,
            expires_in: None,
        }
    }
}

/// A question is taken back.
#[derive(Clone, Debug, Serialize)]
pub struct WithdrawRequest {
    /// The request's id.
    pub request: String,
    /// The reason.
    pub reason: Option<String>,
}

/// Opens a request. Nothing waits for it, unless it is blocking.
///
/// `Body::Opened` of the records has its id.
impl Decide for OpenRequest {
    const NAME: &'static str = "ask";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<Opened, Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        match opened(&draft, self) {
            Ok(opened) => draft.push(Body::Opened(opened))?,
            Err(blocker) => draft.push(run.refuse_operation("ask", blocker))?,
        }
        Ok(draft.finish())
    }
}

/// Takes a question back. Who asked may, and every person.
impl Decide for WithdrawRequest {
    const NAME: &'static str = "withdraw";
    const RIGHT: Right = Right::Drive;
    type Outcome = Result<(), Refused>;

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        let id = &self.request;
        let refuse = |blocker: RequestBlocker| run.refuse(subject(id, "withdraw"), &blocker.into());
        let body = match run.state.requests.get(id) {
            None => refuse(run.unknown_request(id)),
            Some(request) if request.resolved.is_some() => refuse(answered(run, request)),
            Some(request)
                if request.asker != cx.order.actor
                    && !Right::Decide.is_granted(cx.order.actor.role) =>
            {
                let (request, asker) = (id.clone(), request.asker.clone());
                refuse(RequestBlocker::NotYours { request, asker })
            }
            Some(_) => Body::Resolved(Resolved {
                request: id.clone(),
                resolution: Resolution::Withdrawn,
                value: None,
                comment: self.reason.clone(),
                relayed: false,
                elicited: false,
                signature: None,
            }),
        };
        draft.push(body)?;
        Ok(draft.finish())
    }
}

/// Returns the request that a question opens.
fn opened(draft: &Draft, ask: &OpenRequest) -> Result<Opened, RequestBlocker> {
    let loaded = draft.loaded();
    if loaded.state.status().is_over() {
        let is_question = true;
        return Err(RequestBlocker::Over { is_question });
    }
    if ask.prompt.trim().is_empty() {
        let fault = "a request needs a question: say in `prompt` what is wanted".to_owned();
        return Err(RequestBlocker::BadRequest { fault });
    }
    let bad_request = |fault| RequestBlocker::BadRequest { fault };
    check_kind(ask).map_err(bad_request)?;
    if let Some(state) = ask.state.as_ref().filter(|it| !loaded.state.is_active(it)) {
        return Err(RequestBlocker::NotActive {
            state: state.clone(),
            leaves: loaded.state.leaves.clone(),
        });
    }
    Ok(Opened {
        request: draft.request_id(),
        kind: ask.kind,
        prompt: ask.prompt.clone(),
        choices: ask.choices.clone(),
        schema: ask.schema.clone(),
        details: ask.details.clone(),
        event: None,
        states: ask.state.iter().cloned().collect(),
        approvers: approvers(loaded, ask).map_err(bad_request)?,
        blocking: ask.blocking || ask.kind == RequestKind::Approval,
        expires: ask.expires_in.map(|it| draft.now().saturating_add(it)),
        signed: loaded.state.signing.is_some(),
        again: None,
    })
}

/// Checks that choices and schema are those of the kind.
fn check_kind(ask: &OpenRequest) -> Result<(), String> {
    match (ask.kind, &ask.schema) {
        (RequestKind::Select, _) if ask.choices.is_empty() => {
            Err("a `select` needs `choices`".to_owned())
        }
        (RequestKind::Select, None) => check_choices(&ask.choices),
        (RequestKind::Json, None) => {
            Err("a `json` request needs a `schema` that says what the answer is like".to_owned())
        }
        (RequestKind::Json, Some(schema)) => schema::check_schema(schema)
            .map_err(|error| format!("`schema` is no JSON Schema: {error}")),
        (_, Some(_)) => Err("only a `json` request has a `schema`".to_owned()),
        (kind, None) if kind != RequestKind::Select && !ask.choices.is_empty() => {
            Err("only a `select` has `choices`".to_owned())
        }
        _ => Ok(()),
    }
}

/// Checks that a person can tell choices apart.
fn check_choices(choices: &[String]) -> Result<(), String> {
    let mut shapes = BTreeMap::new();
    for choice in choices {
        let shape = compute_shape(choice);
        if shape.is_empty() {
            return Err("a choice shows nothing".to_owned());
        }
        if let Some(other) = shapes.insert(shape, choice) {
            let (one, other) = (visible::line(other), visible::line(choice));
            return Err(format!("the choices `{one}` and `{other}` look alike"));
        }
    }
    Ok(())
}

/// Returns the persons who may answer: an asker can't name others than the definition does.
fn approvers(loaded: &Loaded, ask: &OpenRequest) -> Result<Vec<String>, String> {
    let named = loaded.approvers();
    if named.is_empty() || ask.approvers.is_empty() {
        return Ok(if named.is_empty() {
            ask.approvers.clone()
        } else {
            named
        });
    }
    let others = ask.approvers.iter().filter(|it| !named.contains(it));
    let others: Vec<String> = others.cloned().collect();
    if others.is_empty() {
        return Ok(ask.approvers.clone());
    }
    Err(format!(
        "the definition lets {} answer, not {}",
        list(&named),
        list(&others)
    ))
}

impl Loaded {
    /// Returns the blocker of a request that the run doesn't have.
    pub(super) fn unknown_request(&self, request: &str) -> RequestBlocker {
        RequestBlocker::Unknown {
            request: request.to_owned(),
            open: self.open_ids(),
        }
    }

    /// Returns the ids of the open requests, in the order of asking.
    pub(super) fn open_ids(&self) -> Vec<String> {
        let open = self.state.open_requests().into_iter();
        open.map(|it| it.opened.request.clone()).collect()
    }
}
