use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_store::{Query, Status};

use crate::problem::Problem;
use crate::tool::{Call, Hints, Set, Tool};
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

fn run(call: &Call<'_>, input: Input) -> Result<Map<String, Value>, Problem> {
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
            let mut told = json!(request.opened);
            told["run_id"] = json!(run);
            told["workflow"] = json!(loaded.state.workflow);
            told["asked_by"] = json!(request.asker.to_string());
            told["asked_at"] = json!(request.time);
            found.push(told);
        }
    }
    let count = found.len();
    let requests = Call::fitting(found, &json!({}));
    let more = requests.len() < count;
    Ok(fields(json!({"requests": requests, "more": more})))
}
