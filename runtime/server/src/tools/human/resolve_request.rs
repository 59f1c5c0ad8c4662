//! `resolve_request`: a person decides, or who has asked withdraws.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::RequestKind;
use statemark_runs::runs::run_of_request;
use statemark_runs::{Answer, Reply, RunId, Withdraw, Written};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, NEXT, answer_order, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::requests::{Filter, Kind, list_open};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The request; or what follows, where only one open request is so. What is given has to agree.
    request_id: Option<String>,
    /// Of this run.
    run_id: Option<String>,
    /// Of a run of this workflow.
    workflow: Option<String>,
    /// Of this kind.
    kind: Option<Kind>,
    /// About this state.
    state: Option<String>,
    /// What is said.
    action: Action,
    /// The answer, for `answer`.
    answer: Option<Value>,
    /// What is said about it; a review goes back with it.
    comment: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
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

/// How many requests are named where several could be meant.
const CANDIDATES: usize = 10;

/// Most bytes of each one's question.
const PROMPT: usize = 200;

pub(super) fn tool() -> Tool {
    Tool::own(
        ("resolve_request", Set::Human, Annotations::IDEMPOTENT),
        (
            "Resolve a request",
            "Decides a request: a person's call, with a person's token. Whoever has asked may withdraw it.",
        ),
        &[
            ("request_id", "string"),
            ("resolution", "string"),
            ("value", ""),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let (run, request) = meant(ctx, input)?;
    let runs = ctx.runs();
    let order = ctx.order(run, input.idempotency_key.as_deref(), input.expected_seq)?;
    let reply = match input.action {
        Action::Withdraw => {
            let withdraw = Withdraw {
                request: request.clone(),
                reason: input.comment.clone(),
            };
            let written = runs.execute(&order, &withdraw)?;
            return resolved(&written, &request);
        }
        Action::Approve => Reply::Approve,
        Action::Deny => Reply::Deny,
        Action::SendBack => Reply::SendBack,
        Action::Answer => Reply::Value(input.answer.clone().unwrap_or_default()),
    };
    let answer = Answer {
        comment: input.comment.clone(),
        ..Answer::new(request.clone(), reply)
    };
    let written = runs.execute(&order, &answer)?;
    resolved(&written, &request)
}

/// The decided request.
fn resolved<T>(written: &Written<T>, request: &str) -> Fields {
    let known = written.loaded.state.requests.get(request);
    let mut told = json!({"request_id": request});
    if let Some(known) = known
        && let Some((resolved, by, _)) = &known.resolved
    {
        let (prompt, _) = bounds::truncate(&known.opened.prompt, PROMPT);
        set_field(&mut told, "kind", json!(known.opened.kind));
        set_field(&mut told, "prompt", json!(prompt));
        set_field(&mut told, "resolution", json!(resolved.resolution));
        set_field(&mut told, "by", json!(by.to_string()));
        set_field(&mut told, "comment", json!(resolved.comment));
        set_field(&mut told, "value", json!(resolved.value));
    }
    answer_order(written, told)
}

/// Whether a request is as the rest says, too: who means another one decides nothing.
fn check(ctx: &Ctx<'_>, input: &Input, run: &RunId, request: &str) -> Result<(), Problem> {
    if let Some(named) = &input.run_id
        && named != run.as_str()
    {
        let what = format!("request `{request}` is of run `{run}`");
        return Err(Problem::argument("run_id", what));
    }
    if input.workflow.is_none() && input.kind.is_none() && input.state.is_none() {
        return Ok(());
    }
    let loaded = ctx.runs().load(run)?;
    // Of one that there isn't, it is said later.
    let Some(known) = loaded.state.requests.get(request) else {
        return Ok(());
    };
    let workflow = &loaded.state.workflow;
    if input.workflow.as_ref().is_some_and(|it| it != workflow) {
        let what = format!("request `{request}` is of a run of `{workflow}`");
        return Err(Problem::argument("workflow", what));
    }
    let kind = known.opened.kind;
    if input.kind.is_some_and(|it| RequestKind::from(it) != kind) {
        let what = format!("request `{request}` is of another kind: {}", json!(kind));
        return Err(Problem::argument("kind", what));
    }
    let states = &known.opened.states;
    if input.state.as_ref().is_some_and(|it| !states.contains(it)) {
        let what = format!("request `{request}` isn't about this state");
        return Err(Problem::argument("state", what));
    }
    Ok(())
}

/// The request by its id, or the only open one that the rest means.
fn meant(ctx: &Ctx<'_>, input: &Input) -> Result<(RunId, String), Problem> {
    if let Some(request) = &input.request_id {
        let Some(run) = run_of_request(request) else {
            let message = format!("`request_id`: `{request}` is no request's id");
            return Err(
                Problem::new("unknown_request", message).mended_by("list_requests", json!({}))
            );
        };
        let run = ctx.resolve_run(Some(run.as_str()))?;
        check(ctx, input, &run, request)?;
        return Ok((run, request.clone()));
    }
    let filter = Filter {
        run: input.run_id.as_deref(),
        workflow: input.workflow.as_deref(),
        kind: input.kind,
        state: input.state.as_deref(),
        ..Filter::default()
    };
    let found = list_open(ctx, &filter, CANDIDATES)?;
    match found.as_slice() {
        [only] => Ok((only.loaded.run.clone(), only.request.opened.request.clone())),
        [] => Err(Problem::new("unknown_request", "no such request is open")
            .mended_by("list_requests", json!({}))),
        several => {
            let several = several.iter().take(CANDIDATES);
            let open = several.map(|it| {
                let opened = &it.request.opened;
                let (prompt, _) = bounds::truncate(&opened.prompt, PROMPT);
                json!({"request_id": opened.request, "kind": opened.kind, "prompt": prompt})
            });
            let open: Vec<Value> = open.collect();
            let message = "several requests are meant: name one with `request_id`";
            Err(Problem::new("several_requests", message).with(json!({"open": open})))
        }
    }
}
