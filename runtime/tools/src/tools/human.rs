//! Requests to people: opening one, listing the open ones, and resolving one.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::{RequestKind, Resolution};
use statemark_runs::policy::Gating;
use statemark_runs::runs::run_of_request;
use statemark_runs::signing::Signature;
use statemark_runs::{
    AnswerRequest, Lead, OpenRequest, Order, Reply, Role, RunId, Runs, WithdrawRequest, Written,
};

use crate::envelope::{
    About, NoFields, Page, Position, answer_order, bounds, into_fields, invalid_cursor,
    remaining_room,
};
use crate::requests::{Filter, PendingRequest, list_open, parse_position};
use crate::{Annotations, Ctx, Fix, Problem, Route, Set, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestHumanCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The kind of answer that is wanted.
    #[schemars(schema_with = "kinds")]
    kind: RequestKind,
    /// The question.
    prompt: String,
    /// Anything else that the person should look at.
    #[serde(default)]
    context: Value,
    /// The choices, for `select`.
    #[serde(default)]
    choices: Vec<String>,
    /// JSON Schema of the answer, for `json`.
    schema: Option<Value>,
    /// The active state that it is about: when that is left, the question is withdrawn.
    state: Option<String>,
    /// No event is taken until it is answered.
    #[serde(default)]
    blocking: bool,
    /// Seconds until it expires.
    expires_in: Option<u64>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Requested {
    /// The request.
    request_id: Option<String>,
    /// The call that waits for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    wait: Option<Fix>,
}

impl ToolCall for RequestHumanCall {
    const NAME: &'static str = "request_human";
    const TITLE: &'static str = "Ask a person";
    const DESCRIPTION: &'static str = "Opens a request to a person and returns at once; `wait_run` with `until: request` waits for the answer.";
    const SET: Set = Set::Human;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Free;
    type Response = About<Requested>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Requested>, Problem> {
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let ask = OpenRequest {
            choices: self.choices.clone(),
            schema: self.schema.clone(),
            details: self.context.clone(),
            state: self.state.clone(),
            blocking: self.blocking,
            expires_in: self.expires_in.map(|it| it.saturating_mul(1000)),
            ..OpenRequest::new(self.kind, self.prompt.clone())
        };
        let written = ctx.runs().execute(&order, &ask)?;
        // An answer that comes before anybody waits is found, too.
        let after = written.records.last().map(|it| it.seq);
        let wait = ctx.can_call("wait_run").then(|| Fix {
            tool: "wait_run",
            arguments: json!({"run_id": order.run, "until": "request", "after_seq": after}),
        });
        let request_id = written.opened().map(|it| it.request.clone());
        answer_order(&written, Requested { request_id, wait })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRequestsCall {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow: Option<String>,
    /// Only of this kind.
    #[serde(default)]
    #[schemars(schema_with = "kinds_or_null")]
    kind: Option<RequestKind>,
    /// Only about this state.
    state: Option<String>,
    /// Only the beginning of each question.
    #[serde(default)]
    brief: bool,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Requests {
    /// The open requests, each with everything that is asked.
    requests: Page<Asked>,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The kinds of answers, as arguments name them.
const KINDS: [&str; 6] = ["approval", "confirm", "select", "text", "json", "review"];

fn kinds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": KINDS})
}

fn kinds_or_null(_: &mut SchemaGenerator) -> Schema {
    let kinds = KINDS.into_iter().map(Some).chain([None]);
    json_schema!({"type": "string", "enum": kinds.collect::<Vec<_>>()})
}

/// Most requests that are looked at for one page. Why: no more of them fit.
const PAGE: usize = 200;

impl ToolCall for ListRequestsCall {
    const NAME: &'static str = "list_requests";
    const TITLE: &'static str = "List requests";
    const DESCRIPTION: &'static str =
        "What people are asked and haven't answered, with everything that is asked.";
    const SET: Set = Set::Human;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[
        Route::get("/requests", "what people are asked, in all runs"),
        Route::get("/runs/{run_id}/requests", "what people are asked"),
    ];
    type Response = Requests;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Requests, Problem> {
        let cursor = self.cursor.as_deref().map(Cursor::parse).transpose()?;
        let filter = Filter {
            run: self.run_id.as_deref(),
            workflow: self.workflow.as_deref(),
            kind: self.kind,
            state: self.state.as_deref(),
            from: cursor.as_ref().map(|it| &it.next),
        };
        let open = list_open(ctx, &filter, PAGE)?;
        let byte = match (&cursor, open.first()) {
            (Some(cursor), Some(first)) if first.position() == cursor.next => cursor.byte,
            // Of a request that is gone, no piece is left.
            _ => 0,
        };
        let start = Position { item: 0, byte };
        let room = remaining_room(&NoFields {});
        let asked = open.iter().map(|request| match self.brief {
            true => Asked::from(request).into_brief(),
            false => Asked::from(request),
        });
        let (requests, rest) = Page::fill(asked, start, room);
        let next = rest.and_then(|rest| Some((open.get(rest.item)?, rest.byte)));
        Ok(Requests {
            requests,
            cursor: next.map(|(next, byte)| format!("{}@{byte}", next.request.opened.request)),
        })
    }
}

/// An open request, and the run that asks.
#[derive(Serialize)]
struct Asked {
    request_id: String,
    run_id: RunId,
    workflow: String,
    /// True if nobody has accepted the workflow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreviewed: bool,
    asked_by: String,
    asked_at: u64,
    /// The transitions that an approval would take, by the run's own table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leads: Vec<Lead>,
    /// The request as its record has it.
    #[serde(flatten)]
    opened: Map<String, Value>,
}

impl From<&PendingRequest> for Asked {
    fn from(open: &PendingRequest) -> Self {
        let mut opened = into_fields(json!(open.request.opened));
        opened.remove("request");
        Self {
            request_id: open.request.opened.request.clone(),
            run_id: open.loaded.run.clone(),
            workflow: open.loaded.state.workflow.clone(),
            unreviewed: open.loaded.is_unreviewed(),
            asked_by: open.request.asker.to_string(),
            asked_at: open.request.time,
            leads: open.leads(),
            opened,
        }
    }
}

/// The fields of a request that a brief list has.
const BRIEF: [&str; 8] = [
    "kind",
    "prompt",
    "states",
    "approvers",
    "blocking",
    "expires",
    "signed",
    "again",
];

impl Asked {
    /// Leaves out what may be large.
    fn into_brief(mut self) -> Self {
        self.leads.clear();
        self.opened.retain(|key, _| BRIEF.contains(&key.as_str()));
        if let Some(Value::String(prompt)) = self.opened.get_mut("prompt")
            && let (cut, true) = bounds::truncate(prompt, MAX_PROMPT)
        {
            *prompt = format!("{cut}…");
        }
        self
    }
}

/// The position at which a list continues: a request, and a byte of it if it comes in pieces.
///
/// It names the request, so that it stays good when others are resolved or opened meanwhile.
struct Cursor {
    next: (RunId, u64),
    byte: usize,
}

impl Cursor {
    fn parse(text: &str) -> Result<Self, Problem> {
        let parse = || {
            let (request, byte) = text.rsplit_once('@')?;
            Some(Self {
                next: parse_position(request)?,
                byte: byte.parse().ok()?,
            })
        };
        parse().ok_or_else(invalid_cursor)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResolveRequestCall {
    /// The request; or what follows, where only one open request is so. What is given has to agree.
    request_id: Option<String>,
    /// Of this run.
    run_id: Option<String>,
    /// Of a run of this workflow.
    workflow: Option<String>,
    /// Of this kind.
    #[serde(default)]
    #[schemars(schema_with = "kinds_or_null")]
    kind: Option<RequestKind>,
    /// About this state.
    state: Option<String>,
    /// The decision.
    action: Action,
    /// The answer, for `answer`.
    answer: Option<Value>,
    /// A remark; a review goes back with it.
    comment: Option<String>,
    /// The SSH signature, where the workflow demands one.
    signature: Option<SignatureCall>,
    /// Only give the text that is signed.
    #[serde(default)]
    to_sign: bool,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

/// A signature that was made elsewhere, of the text that `statemark approve --to-sign` prints.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct SignatureCall {
    /// The `time` in that text.
    time: u64,
    /// The text that `ssh-keygen -Y sign -n statemark` wrote.
    armor: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Approve,
    Deny,
    Answer,
    SendBack,
    Withdraw,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Resolved {
    /// The request.
    request_id: String,
    /// The kind of answer that was wanted.
    #[schemars(with = "Option<String>")]
    kind: Option<RequestKind>,
    /// The question.
    prompt: Option<String>,
    /// The decision.
    #[schemars(with = "Option<String>")]
    resolution: Option<Resolution>,
    /// The person or program that resolved it.
    by: Option<String>,
    /// The remark on it.
    comment: Option<String>,
    /// The answer.
    value: Option<Value>,
    /// The text that is signed, if only that was wanted.
    to_sign: Option<String>,
}

/// Most requests that are named where several could be meant.
const MAX_CANDIDATES: usize = 10;

/// Most bytes of each one's question.
const MAX_PROMPT: usize = 200;

impl ToolCall for ResolveRequestCall {
    const NAME: &'static str = "resolve_request";
    const TITLE: &'static str = "Resolve a request";
    const DESCRIPTION: &'static str = "Decides a request: a person's call, with a person's token. Whoever has asked may withdraw it.";
    const SET: Set = Set::Human;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::post("/requests/{request_id}", "a person decides")];
    type Response = About<Resolved>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Resolved>, Problem> {
        let (run, request) = self.resolve_id(ctx)?;
        let runs = ctx.runs();
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let reply = match self.action {
            Action::Withdraw if self.to_sign => {
                return Err(Problem::argument("to_sign", "nobody signs a withdrawal"));
            }
            Action::Withdraw => {
                let withdraw = WithdrawRequest {
                    request: request.clone(),
                    reason: self.comment.clone(),
                };
                let written = runs.execute(&order, &withdraw)?;
                return describe(&written, request);
            }
            Action::Approve => Reply::Approve,
            Action::Deny => Reply::Deny,
            Action::SendBack => Reply::SendBack,
            Action::Answer => Reply::Value(self.answer.clone().unwrap_or_default()),
        };
        let by = order.actor.name.clone().unwrap_or_default();
        let signature = self.signature.as_ref().map(|signed| Signature {
            by,
            time: signed.time,
            signature: signed.armor.clone(),
        });
        let answer = AnswerRequest {
            comment: self.comment.clone(),
            signature,
            ..AnswerRequest::new(request.clone(), reply)
        };
        if self.to_sign {
            return text_to_sign(runs, &order, &answer);
        }
        let written = runs.execute(&order, &answer)?;
        describe(&written, request)
    }
}

/// Gives the text that the caller's key signs for a decision, as `statemark approve --to-sign` does.
fn text_to_sign(
    runs: &Runs,
    order: &Order,
    answer: &AnswerRequest,
) -> Result<About<Resolved>, Problem> {
    let loaded = runs.load(&order.run)?;
    let Some(by) = order
        .actor
        .name
        .as_deref()
        .filter(|_| order.actor.role == Role::Person)
    else {
        let message = "only a person's decision is signed: call with a person's token";
        return Err(Problem::new("not_a_person", message));
    };
    let text = answer.statement(runs, &loaded, by, runs.now());
    let text = text.map_err(|blocker| Problem::new("not_open", blocker.to_string()))?;
    let Some(text) = text else {
        let workflow = &loaded.state.workflow;
        let message = format!("decisions about runs of `{workflow}` aren't signed");
        return Err(Problem::argument("to_sign", message));
    };
    let fields = Resolved {
        request_id: answer.request.clone(),
        to_sign: Some(text),
        ..Resolved::default()
    };
    Ok(About::without_next(fields))
}

/// Describes the resolved request.
fn describe<T>(written: &Written<T>, request_id: String) -> Result<About<Resolved>, Problem> {
    let known = written.loaded.state.requests.get(&request_id);
    let fields = match known.and_then(|known| Some((&known.opened, known.resolved.as_ref()?))) {
        Some((opened, (resolved, by, _))) => Resolved {
            request_id,
            kind: Some(opened.kind),
            prompt: Some(bounds::truncate(&opened.prompt, MAX_PROMPT).0.to_owned()),
            resolution: Some(resolved.resolution),
            by: Some(by.to_string()),
            comment: resolved.comment.clone(),
            value: resolved.value.clone(),
            to_sign: None,
        },
        None => Resolved {
            request_id,
            ..Resolved::default()
        },
    };
    answer_order(written, fields)
}

/// An open request among those that could be meant.
#[derive(Serialize)]
struct Candidate<'c> {
    request_id: &'c str,
    kind: RequestKind,
    prompt: &'c str,
}

impl ResolveRequestCall {
    /// Returns the request by its id, or the only open one that the other arguments mean.
    fn resolve_id(&self, ctx: &Ctx<'_>) -> Result<(RunId, String), Problem> {
        let unknown = |message: String| {
            Problem::new("unknown_request", message).mended_by(ListRequestsCall::NAME, json!({}))
        };
        if let Some(request) = &self.request_id {
            let Some(run) = run_of_request(request) else {
                let message = format!("`request_id`: `{request}` is no request's id");
                return Err(unknown(message));
            };
            let run = ctx.resolve_run(Some(run.as_str()))?;
            self.check(ctx, &run, request)?;
            return Ok((run, request.clone()));
        }
        let filter = Filter {
            run: self.run_id.as_deref(),
            workflow: self.workflow.as_deref(),
            kind: self.kind,
            state: self.state.as_deref(),
            ..Filter::default()
        };
        let open = list_open(ctx, &filter, MAX_CANDIDATES)?;
        match open.as_slice() {
            [only] => Ok((only.loaded.run.clone(), only.request.opened.request.clone())),
            [] => Err(unknown("no such request is open".to_owned())),
            several => {
                let candidates = several.iter().take(MAX_CANDIDATES).map(|open| {
                    let opened = &open.request.opened;
                    Candidate {
                        request_id: &opened.request,
                        kind: opened.kind,
                        prompt: bounds::truncate(&opened.prompt, MAX_PROMPT).0,
                    }
                });
                let open: Vec<Candidate<'_>> = candidates.collect();
                let message = "several requests are meant: name one with `request_id`";
                Err(Problem::new("several_requests", message).with(json!({"open": open})))
            }
        }
    }

    /// Checks that a named request agrees with the other arguments, so that no other is decided.
    fn check(&self, ctx: &Ctx<'_>, run: &RunId, request: &str) -> Result<(), Problem> {
        if let Some(named) = &self.run_id
            && named != run.as_str()
        {
            let what = format!("request `{request}` is of run `{run}`");
            return Err(Problem::argument("run_id", what));
        }
        if self.workflow.is_none() && self.kind.is_none() && self.state.is_none() {
            return Ok(());
        }
        let loaded = ctx.runs().load(run)?;
        // The operation says that there is no such request.
        let Some(known) = loaded.state.requests.get(request) else {
            return Ok(());
        };
        let workflow = &loaded.state.workflow;
        if self.workflow.as_ref().is_some_and(|it| it != workflow) {
            let what = format!("request `{request}` is of a run of `{workflow}`");
            return Err(Problem::argument("workflow", what));
        }
        let kind = known.opened.kind;
        if self.kind.is_some_and(|it| it != kind) {
            let what = format!("request `{request}` is of another kind: {}", json!(kind));
            return Err(Problem::argument("kind", what));
        }
        let states = &known.opened.states;
        if self.state.as_ref().is_some_and(|it| !states.contains(it)) {
            let what = format!("request `{request}` isn't about this state");
            return Err(Problem::argument("state", what));
        }
        Ok(())
    }
}
