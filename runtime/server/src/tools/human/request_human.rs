//! `request_human`: opens a request to a person.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_store::Ask;
use statemark_store::body::{Body, RequestKind};

use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{NEXT, done};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// What kind of answer is wanted.
    kind: Kind,
    /// The question.
    prompt: String,
    /// Whatever else the person should look at.
    #[serde(default)]
    context: Value,
    /// What can be chosen, for `select`.
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
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Approval,
    Confirm,
    Select,
    Text,
    Json,
    Review,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("request_human", Set::Human, Hints::WRITES),
        (
            "Ask a person",
            "Opens a request to a person and returns at once; `wait_run` with `until: request` waits for the answer.",
        ),
        &[("request_id", "string"), NEXT],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let run = call.run(input.run_id.as_deref())?;
    let order = call.order(run, input.idempotency_key.as_deref(), None)?;
    let kind = match input.kind {
        Kind::Approval => RequestKind::Approval,
        Kind::Confirm => RequestKind::Confirm,
        Kind::Select => RequestKind::Select,
        Kind::Text => RequestKind::Text,
        Kind::Json => RequestKind::Json,
        Kind::Review => RequestKind::Review,
    };
    let ask = Ask {
        choices: input.choices.clone(),
        schema: input.schema.clone(),
        details: input.context.clone(),
        state: input.state.clone(),
        blocking: input.blocking,
        expires_in: input.expires_in.map(|it| it.saturating_mul(1000)),
        ..Ask::new(kind, input.prompt.clone())
    };
    let written = call.desk.runs().ask(&order, &ask)?;
    let request = written.records.iter().find_map(|it| match it.read() {
        Ok(Body::Opened(opened)) => Some(opened.request),
        _ => None,
    });
    let wait = json!({"tool": "wait_run", "arguments": {"run_id": order.run, "until": "request"}});
    done(&written, json!({"request_id": request, "wait": wait}))
}
