//! `list_requests`: what people are asked and haven't answered.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_store::{Query, Status};

use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::fields;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only of this run.
    run_id: Option<String>,
    /// Only of runs of this workflow.
    workflow: Option<String>,
}

/// Most runs that are looked through.
const MOST: usize = 500;

pub(super) fn tool() -> Tool {
    Tool::new(
        ("list_requests", Set::Human, Hints::READS),
        (
            "List requests",
            "What people are asked and haven't answered, with everything that is asked.",
        ),
        &[("requests", "array"), ("more", "boolean")],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let runs = call.desk.runs();
    let mut found = Vec::new();
    let named = match &input.run_id {
        Some(id) => vec![call.run(Some(id))?],
        None => {
            let statuses = [Status::Waiting, Status::Running, Status::Paused];
            let query = Query {
                statuses: statuses.map(|it| it.name().to_owned()).to_vec(),
                workflow: input.workflow.clone(),
                limit: MOST,
                ..Query::default()
            };
            let heads = runs.store().list(&query)?.heads.into_iter();
            let asking = heads.filter(|it| !it.summary.requests.is_empty());
            let seen = asking.filter(|it| call.run(Some(it.run.as_str())).is_ok());
            seen.map(|it| it.run).collect()
        }
    };
    for run in named {
        let loaded = runs.caught_up(&run)?;
        for request in loaded.state.open_requests() {
            let mut told = fields(json!(request.opened));
            told.extend(fields(json!({
                "run_id": run,
                "workflow": loaded.state.workflow,
                "asked_by": request.asker.to_string(),
                "asked_at": request.time,
            })));
            found.push(Value::Object(told));
        }
    }
    let count = found.len();
    let requests = Call::fitting(found, &json!({}));
    let more = requests.len() < count;
    Ok(fields(json!({"requests": requests, "more": more})))
}
