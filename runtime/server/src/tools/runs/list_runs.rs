//! `list_runs`: the runs of the store, the latest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_store::{Cursor, Query, Status};

use crate::problem::Problem;
use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{fields, put};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only with these statuses: running, waiting, paused, completed, failed, cancelled.
    #[serde(default)]
    status: Vec<String>,
    /// Only of this workflow.
    workflow: Option<String>,
    /// Only of this project.
    project: Option<String>,
    /// Only those that ask a person something.
    #[serde(default)]
    waiting_for_person: bool,
    /// Most of them; 20 if it isn't given.
    limit: Option<u32>,
    /// Where the page before ended.
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("list_runs", Set::Runs, Hints::READS),
        (
            "List runs",
            "Runs, the latest first: where each is and whether it waits for a person.",
        ),
        &[("runs", "array"), ("cursor", "string")],
        run,
    )
}

/// Most runs of a page.
const MOST: usize = 100;

fn run(call: &Call<'_>, input: &Input) -> Data {
    let known = Status::ALL.map(Status::name);
    if let Some(word) = input.status.iter().find(|it| !known.contains(&it.as_str())) {
        let message = format!("`status`: `{word}` is none of {}", known.join(", "));
        return Err(Problem::new("invalid_arguments", message).with(json!({"path": "status"})));
    }
    let limit = input
        .limit
        .map_or(20, |it| usize::try_from(it).unwrap_or(MOST));
    let after = input.cursor.as_deref().map(read).transpose()?;
    let query = Query {
        statuses: input.status.clone(),
        workflow: input.workflow.clone(),
        project: input.project.clone(),
        after,
        limit: limit.clamp(1, MOST),
        ..Query::default()
    };
    let page = call.desk.runs().store().list(&query)?;
    // Who may touch one run only sees no other.
    let may_see = |run: &str| call.run(Some(run)).is_ok();
    let mut runs = Vec::new();
    let mut places = Vec::new();
    for head in &page.heads {
        let summary = &head.summary;
        let asks = !summary.requests.is_empty();
        if !may_see(head.run.as_str()) || (input.waiting_for_person && !asks) {
            continue;
        }
        let mut run = json!({
            "run_id": head.run,
            "workflow": summary.workflow,
            "status": summary.status,
            "states": summary.leaves,
            "updated_at": head.updated,
            "counts": {"records": head.seq, "requests": summary.requests.len()},
        });
        if asks {
            put(&mut run, "waiting", json!(summary.requests));
        }
        if let Some(title) = &summary.title {
            put(&mut run, "title", json!(title));
        }
        places.push(Cursor {
            updated: head.updated,
            run: head.run.clone(),
        });
        runs.push(run);
    }
    let count = runs.len();
    let runs = Call::fitting(runs, &json!({}));
    let cursor = if runs.len() < count {
        runs.len()
            .checked_sub(1)
            .and_then(|at| places.get(at))
            .cloned()
    } else {
        page.next
    };
    let mut answer = json!({"runs": runs});
    if let Some(cursor) = cursor {
        put(
            &mut answer,
            "cursor",
            json!(format!("{}:{}", cursor.updated, cursor.run)),
        );
    }
    Ok(fields(answer))
}

/// A place in the list, as an earlier answer wrote it.
fn read(text: &str) -> Result<Cursor, Problem> {
    let parts = text.split_once(':');
    let cursor = parts.and_then(|(updated, run)| {
        Some(Cursor {
            updated: updated.parse().ok()?,
            run: run.parse().ok()?,
        })
    });
    cursor.ok_or_else(|| {
        let message = "`cursor`: take the one that the answer before has given";
        Problem::new("invalid_arguments", message)
    })
}
