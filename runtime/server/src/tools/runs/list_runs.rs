//! `list_runs`: the runs of the store, the latest first.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{Cursor, Head, Query, Status};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::pages::invalid_cursor;
use crate::envelope::{Fields, into_fields, remaining_room, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

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
    Tool::own(
        ("list_runs", Set::Runs, Annotations::READ_ONLY),
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

/// Most requests that are named of a run.
const REQUESTS: usize = 10;

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let known = Status::ALL.map(Status::name);
    if let Some(word) = input.status.iter().find(|it| !known.contains(&it.as_str())) {
        let what = format!("`{word}` is none of {}", known.join(", "));
        return Err(Problem::argument("status", what));
    }
    let limit = input
        .limit
        .map_or(20, |it| usize::try_from(it).unwrap_or(MOST));
    let limit = limit.clamp(1, MOST);
    let mut query = Query {
        statuses: input.status.clone(),
        workflow: input.workflow.clone(),
        project: input.project.clone(),
        after: input.cursor.as_deref().map(read).transpose()?,
        limit: MOST,
        ..Query::default()
    };
    let runs = ctx.runs();
    // Who may touch one run only sees no other.
    if let Some(bound) = ctx.bound_run() {
        let head = ctx.load_run(Some(bound.as_str()))?.head;
        let runs: Vec<Value> = is_asked_for(&head, input)
            .then(|| told(&head))
            .into_iter()
            .collect();
        return Ok(into_fields(json!({"runs": runs})));
    }
    // What is due would make a status stale; a page that goes on from another stays with what that one has seen.
    if input.cursor.is_none() {
        runs.take_due()?;
    }
    let store = runs.store();
    let mut heads: Vec<Head> = Vec::new();
    let mut goes_on = true;
    while heads.len() <= limit && goes_on {
        let page = store.list(&query)?;
        goes_on = page.next.is_some();
        query.after = page.next;
        heads.extend(page.heads.into_iter().filter(|it| is_asked_for(it, input)));
    }
    let told = heads.iter().take(limit).map(told).collect();
    let mut answer = into_fields(json!({}));
    let runs = bounds::take_fitting(
        told,
        bounds::MAX_REPLY.saturating_sub(remaining_room(&answer)),
    );
    let last = runs.len().checked_sub(1).and_then(|at| heads.get(at));
    if let Some(last) = last.filter(|_| runs.len() < heads.len()) {
        let cursor = format!("{}:{}", last.updated, last.run);
        answer.insert("cursor".to_owned(), json!(cursor));
    }
    answer.insert("runs".to_owned(), json!(runs));
    Ok(answer)
}

/// What a store's list can't be asked for; and all of it, where there is no list.
fn is_asked_for(head: &Head, input: &Input) -> bool {
    let summary = &head.summary;
    let same = |wanted: &Option<String>, it: Option<&String>| {
        wanted.as_ref().is_none_or(|wanted| Some(wanted) == it)
    };
    (!input.waiting_for_person || !summary.requests.is_empty())
        && (input.status.is_empty() || input.status.contains(&summary.status))
        && same(&input.workflow, Some(&summary.workflow))
        && same(&input.project, summary.project.as_ref())
}

fn told(head: &Head) -> Value {
    let summary = &head.summary;
    let mut run = json!({
        "run_id": head.run,
        "workflow": summary.workflow,
        "status": summary.status,
        "states": summary.leaves,
        "updated_at": head.updated,
        "counts": {"records": head.seq, "requests": summary.requests.len()},
    });
    if !summary.requests.is_empty() {
        let some: Vec<_> = summary.requests.iter().take(REQUESTS).collect();
        set_field(&mut run, "waiting", json!(some));
    }
    if let Some(title) = &summary.title {
        set_field(&mut run, "title", json!(title));
    }
    run
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
    cursor.ok_or_else(invalid_cursor)
}
