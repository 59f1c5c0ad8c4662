//! `simulate_workflow`: what a machine does with some events, without a run.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::catalog::Simulation;
use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

/// Most events. Why: a story that people tell has fewer.
const MOST: usize = 1_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The workflow's id.
    workflow: String,
    /// In order: `"ready"`, `{"event": "ready", "data": {…}}`, `{"wait": "30s"}`, `":guard tests_pass=true"`, `":set steps=3"`.
    events: Vec<Value>,
    /// Merged into the data that the machine begins with.
    #[serde(default)]
    context: Map<String, Value>,
    /// Leave out so many records, of the same events.
    #[serde(default)]
    cursor: usize,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("simulate_workflow", Set::Author, Annotations::READ_ONLY),
        (
            "Simulate a workflow",
            "Steps through a machine without a run and says what each event did. The clock moves by `wait` alone; guards of \
             the host are false until `:guard` answers; approvals count as granted.",
        ),
        &[
            ("records", "array"),
            ("configuration", "array"),
            ("context", "object"),
            ("legal", "array"),
            ("is_final", "boolean"),
            ("cursor", "integer"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    if input.events.len() > MOST {
        let count = input.events.len();
        let message = format!("`events`: there are {count}; most are {MOST}");
        return Err(Problem::new("invalid_arguments", message).with(json!({"path": "events"})));
    }
    let simulated = ctx.catalog().simulate(&Simulation {
        workflow: &input.workflow,
        events: &input.events,
        context: &input.context,
    })?;
    let mut answer = json!({
        "configuration": simulated.configuration,
        "legal": simulated.legal,
        "is_final": simulated.is_final,
    });
    let context = simulated.context.to_string().len();
    if context <= bounds::MAX_REPLY / 4 {
        set_field(&mut answer, "context", simulated.context);
    } else {
        set_field(&mut answer, "context_left_out", json!(context));
    }
    let count = simulated.records.len();
    let rest: Vec<Value> = simulated.records.into_iter().skip(input.cursor).collect();
    let beside = answer.to_string().len().saturating_add(bounds::ENVELOPE);
    let shown = bounds::take_fitting(rest, beside);
    let behind = input.cursor.saturating_add(shown.len());
    set_field(&mut answer, "records", json!(shown));
    if behind < count {
        set_field(&mut answer, "cursor", json!(behind));
    }
    Ok(into_fields(answer))
}
