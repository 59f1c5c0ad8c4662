//! `report_progress`: says how far work is.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::runs::ReportProgress;

use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_order};
use crate::options::Set;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// How far it is, in words.
    message: String,
    /// How much is done, from 0 to 1.
    fraction: Option<f64>,
    /// The unit of work.
    unit: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("report_progress", Set::Artifacts, Annotations::IDEMPOTENT),
        (
            "Report progress",
            "Says how far work is, for whoever watches. It moves nothing.",
        ),
        &[("seq", "integer"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(run, key, input.expected_seq)?;
    let report = ReportProgress {
        message: input.message.clone(),
        fraction: input.fraction,
        unit: input.unit.clone(),
    };
    let written = ctx.runs().execute(&order, &report)?;
    let seq = written.records.last().map(|it| it.seq);
    answer_order(&written, json!({"seq": seq}))
}
