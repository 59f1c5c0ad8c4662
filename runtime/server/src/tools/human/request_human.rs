//! `request_human`: opens a request to a person.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::Ask;

use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_order, opened_request};
use crate::options::Set;
use crate::requests::Kind;
use crate::tool::{Annotations, Tool};

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
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("request_human", Set::Human, Annotations::IDEMPOTENT),
        (
            "Ask a person",
            "Opens a request to a person and returns at once; `wait_run` with `until: request` waits for the answer.",
        ),
        &[("request_id", "string"), ("wait", "object"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let order = ctx.order(run, input.idempotency_key.as_deref(), input.expected_seq)?;
    let ask = Ask {
        choices: input.choices.clone(),
        schema: input.schema.clone(),
        details: input.context.clone(),
        state: input.state.clone(),
        blocking: input.blocking,
        expires_in: input.expires_in.map(|it| it.saturating_mul(1000)),
        ..Ask::new(input.kind.into(), input.prompt.clone())
    };
    let written = ctx.runs().execute(&order, &ask)?;
    // An answer that comes before anybody waits is found, too.
    let after = written.records.last().map(|it| it.seq);
    let arguments = json!({"run_id": order.run, "until": "request", "after_seq": after});
    let wait = json!({"tool": "wait_run", "arguments": arguments});
    answer_order(
        &written,
        json!({"request_id": opened_request(&written), "wait": wait}),
    )
}
