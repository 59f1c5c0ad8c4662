//! `resolve_request`: a person decides, or who has asked withdraws.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_store::runs::run_of_request;
use statemark_store::{Answer, Reply, RunId, Withdraw};

use crate::problem::Problem;
use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{NEXT, done};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The request; may be left out where the run has only one open.
    request_id: Option<String>,
    /// The run, where no request is named.
    run_id: Option<String>,
    /// What is said.
    action: Action,
    /// The answer, for `answer`.
    answer: Option<Value>,
    /// What is said about it; a review goes back with it.
    comment: Option<String>,
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

pub(super) fn tool() -> Tool {
    Tool::new(
        ("resolve_request", Set::Human, Hints::WRITES),
        (
            "Resolve a request",
            "Decides a request: a person's call, with a person's token. Whoever has asked may withdraw it.",
        ),
        &[("request_id", "string"), NEXT],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let (run, request) = meant(call, input)?;
    let runs = call.desk.runs();
    let order = call.order(run, input.idempotency_key.as_deref(), None)?;
    let reply = match input.action {
        Action::Withdraw => {
            let withdraw = Withdraw {
                request: request.clone(),
                reason: input.comment.clone(),
            };
            let written = runs.withdraw(&order, &withdraw)?;
            return done(&written, json!({"request_id": request}));
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
    let written = runs.answer(&order, &answer)?;
    done(&written, json!({"request_id": request}))
}

/// The request by its id, or the only open one of a run.
fn meant(call: &Call<'_>, input: &Input) -> Result<(RunId, String), Problem> {
    if let Some(request) = &input.request_id {
        let Some(run) = run_of_request(request) else {
            let message = format!("`request_id`: `{request}` is no request's id");
            return Err(
                Problem::new("unknown_request", message).mended_by("list_requests", json!({}))
            );
        };
        return Ok((call.run(Some(run.as_str()))?, request.clone()));
    }
    let loaded = call.load(input.run_id.as_deref())?;
    let open = loaded.state.open_requests();
    match open.as_slice() {
        [only] => Ok((loaded.run.clone(), only.opened.request.clone())),
        several => {
            let ids: Vec<&String> = several.iter().map(|it| &it.opened.request).collect();
            let message = "name the request with `request_id`: the run has none open, or several";
            Err(Problem::new("several_requests", message).with(json!({"open": ids})))
        }
    }
}
