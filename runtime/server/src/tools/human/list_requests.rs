//! `list_requests`: what people are asked and haven't answered.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Filter, Kind, asked};
use crate::call::Call;
use crate::next::by_id;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{add, fields, place};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow: Option<String>,
    /// Only of this kind.
    kind: Option<Kind>,
    /// Only about this state.
    state: Option<String>,
    /// Where the answer before ended.
    cursor: Option<String>,
}

/// Most requests that are looked at for one page. Why: no more of them fit.
const PAGE: usize = 200;

pub(super) fn tool() -> Tool {
    Tool::new(
        ("list_requests", Set::Human, Hints::READS),
        (
            "List requests",
            "What people are asked and haven't answered, with everything that is asked.",
        ),
        &[("requests", "array"), ("cursor", "string")],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let from = place("requests", input.cursor.as_deref())?;
    let filter = Filter {
        run: input.run_id.as_deref(),
        workflow: input.workflow.as_deref(),
        kind: input.kind,
        state: input.state.as_deref(),
    };
    let found = asked(call, &filter, from.item.saturating_add(PAGE))?;
    let told = found.into_iter().map(|asked| {
        let mut told = fields(json!(asked.request.opened));
        told.extend(fields(json!({
            "run_id": asked.loaded.run,
            "workflow": asked.loaded.state.workflow,
            "asked_by": asked.request.asker.to_string(),
            "asked_at": asked.request.time,
        })));
        Value::Object(told)
    });
    let mut answer = fields(json!({}));
    add(&mut answer, "requests", by_id(told.collect()), from);
    Ok(answer)
}
