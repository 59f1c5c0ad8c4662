//! Somebody is asked, and a question is taken back.

use serde::Serialize;
use serde_json::Value;

use super::draft::Draft;
use super::operation::{Decide, DecideCx, Right};
use super::seal::Redact;
use super::{Change, Loaded, RunError, list};
use crate::body::{Body, Opened, Refused, RequestKind, Resolution, Resolved};
use crate::schema;

/// A question.
#[derive(Clone, Debug, Serialize)]
pub struct Ask {
    /// What kind of answer is wanted.
    pub kind: RequestKind,
    /// The question.
    pub prompt: String,
    /// What can be chosen, for [`RequestKind::Select`].
    pub choices: Vec<String>,
    /// What the answer must be like, for [`RequestKind::Json`].
    pub schema: Option<Value>,
    /// Whatever else there is to look at.
    pub details: Value,
    /// The active state that it is about: when that is left, the question is withdrawn.
    pub state: Option<String>,
    /// Who may answer. If the definition names some, only those of them.
    pub approvers: Vec<String>,
    /// Whether other events wait for the answer. For an approval they always do.
    pub blocking: bool,
    /// How long there is time. Unit: milliseconds.
    pub expires_in: Option<u64>,
}

impl Ask {
    /// A question that can wait, about no state, to everybody.
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
pub struct Withdraw {
    /// The request's id.
    pub request: String,
    /// Why.
    pub reason: Option<String>,
}

/// Opens a request. Nothing waits for it, unless it is blocking; `Body::Opened` of the records has its id.
impl Decide for Ask {
    const NAME: &'static str = "ask";
    type Outcome = Result<Opened, Refused>;

    fn right(&self) -> Right {
        Right::Drive
    }

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        match opened(&draft, self) {
            Ok(opened) => draft.push(Body::Opened(opened))?,
            Err((code, reason)) => draft.push(run.refusal("ask", code, reason))?,
        }
        Ok(draft.finish())
    }
}

/// Takes a question back. Who asked may, and every person.
impl Decide for Withdraw {
    const NAME: &'static str = "withdraw";
    type Outcome = Result<(), Refused>;

    fn right(&self) -> Right {
        Right::Drive
    }

    fn decide(&self, run: &Loaded, cx: &DecideCx<'_>) -> Result<Change, RunError> {
        let mut draft = Draft::new(run, &cx.order.actor, cx.now);
        let id = &self.request;
        let refuse = |code: &str, reason| run.unanswered(id, "withdraw", code, reason);
        let body = match run.state.requests.get(id) {
            None => refuse("unknown_request", run.no_request(id)),
            Some(request) if request.resolved.is_some() => {
                refuse("answered", super::answer::settled(request))
            }
            Some(request)
                if request.asker != cx.order.actor
                    && cx.order.actor.role < crate::actor::Role::Person =>
            {
                let reason = format!(
                    "`{id}` was opened by {}: they can withdraw it, or a person",
                    request.asker
                );
                refuse("not_yours", reason)
            }
            Some(_) => Body::Resolved(Resolved {
                request: id.clone(),
                resolution: Resolution::Withdrawn,
                value: None,
                comment: self.reason.clone(),
                relayed: false,
                elicited: false,
            }),
        };
        draft.push(body)?;
        Ok(draft.finish())
    }
}

impl Redact for Ask {}
impl Redact for Withdraw {}

/// The request, or why it can't be opened.
fn opened(draft: &Draft, ask: &Ask) -> Result<Opened, (&'static str, String)> {
    let loaded = draft.loaded();
    if loaded.state.status().is_over() {
        let reason = "the run is over: nobody could use an answer".to_owned();
        return Err(("ended", reason));
    }
    if ask.prompt.trim().is_empty() {
        let reason = "a request needs a question: say in `prompt` what is wanted".to_owned();
        return Err(("bad_request", reason));
    }
    fits(ask).map_err(|reason| ("bad_request", reason))?;
    if let Some(state) = ask.state.as_ref().filter(|it| !loaded.state.is_active(it)) {
        let leaves = list(&loaded.state.leaves);
        let reason = format!("`{state}` isn't active; the run is in {leaves}");
        return Err(("not_active", reason));
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
        approvers: approvers(loaded, ask).map_err(|reason| ("bad_request", reason))?,
        blocking: ask.blocking || ask.kind == RequestKind::Approval,
        expires: ask.expires_in.map(|it| draft.now().saturating_add(it)),
    })
}

/// Whether choices and schema are those of the kind.
fn fits(ask: &Ask) -> Result<(), String> {
    match (ask.kind, &ask.schema) {
        (RequestKind::Select, _) if ask.choices.is_empty() => {
            Err("a `select` needs `choices`".to_owned())
        }
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

/// Who may answer: an asker can't name others than the definition does.
fn approvers(loaded: &Loaded, ask: &Ask) -> Result<Vec<String>, String> {
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
    /// That there is no such request, with those that are open.
    pub(super) fn no_request(&self, request: &str) -> String {
        let open = self.state.open_requests().into_iter();
        let open: Vec<String> = open.map(|it| it.opened.request.clone()).collect();
        if open.is_empty() {
            return format!("there is no request `{request}`; none is open");
        }
        format!("there is no request `{request}`; open: {}", list(&open))
    }
}
