//! `list_runs` and `get_run`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{Loaded, MAX_PAGE, Query, Status, fire_all_due};

use super::nodes::Nodes;
use super::summary::{self, Teller};
use super::{approvals, count, invalid, load, shape};
use crate::ctx::Ctx;
use crate::envelope::set_field;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Listing {
    /// Most runs to return, from 1 to 200; 20 if it isn't given.
    limit: Option<u64>,
    /// Only runs with this status, such as `running`, `finished`, `failed`.
    status: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Getting {
    /// The run.
    run_id: String,
}

pub(super) fn list() -> Tool {
    Tool::profile(
        ("list_runs", Set::Smithers, Annotations::READ_ONLY),
        ("List runs", "Recent runs, each in short."),
        shape,
        listed,
    )
    .equivalent_to("list_runs")
    .with_output(&[("runs", "array")])
}

pub(super) fn get() -> Tool {
    Tool::profile(
        ("get_run", Set::Smithers, Annotations::READ_ONLY),
        (
            "Get a run",
            "A run with its steps, approvals, loops, lineage, configuration and error.",
        ),
        shape,
        got,
    )
    .equivalent_to("get_run")
    .with_output(&[("run", "object")])
}

fn listed(ctx: &Ctx<'_>, input: &Listing) -> Outcome {
    let limit = input.limit.unwrap_or(20);
    if !(1..=200).contains(&limit) {
        return Err(invalid(format!("`limit`: {limit} isn't from 1 to 200")));
    }
    let statuses = statuses(input.status.as_deref())?;
    let teller = Teller::of(ctx);
    let runs = ctx.runs();
    if ctx.bound_run().is_none() {
        // So that a list tells where runs are.
        fire_all_due(runs)?;
    }
    let Some(statuses) = statuses else {
        return Ok(json!({"runs": []}));
    };
    let mut query = Query {
        statuses,
        project: ctx.caller.project.clone(),
        limit: MAX_PAGE,
        ..Query::default()
    };
    let mut found = Vec::new();
    'pages: loop {
        let page = runs.store().list(&query)?;
        for head in page.heads {
            if ctx.bound_run().is_some_and(|bound| *bound != head.run) {
                continue;
            }
            let loaded = runs.load(&head.run)?;
            let wanted = input.status.as_deref();
            if wanted.is_none_or(|wanted| summary::status(&loaded).is_ok_and(|it| it == wanted)) {
                found.push(teller.summary(ctx, &loaded)?);
            }
            if count(found.len()) >= limit {
                break 'pages;
            }
        }
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    Ok(json!({"runs": found}))
}

/// The document's statuses.
const STATUSES: [&str; 8] = [
    "running",
    "waiting-approval",
    "waiting-event",
    "waiting-timer",
    "finished",
    "failed",
    "cancelled",
    "continued",
];

/// Our statuses that one of the document's may be; none for one that no run can have.
fn statuses(wanted: Option<&str>) -> Result<Option<Vec<String>>, Problem> {
    let ours: &[Status] = match wanted {
        Some("running" | "waiting-timer") => &[Status::Running],
        Some("waiting-approval") => &[Status::Waiting],
        Some("waiting-event") => &[Status::Waiting, Status::Paused],
        Some("finished") => &[Status::Completed],
        Some("failed") => &[Status::Failed],
        Some("cancelled") => &[Status::Cancelled],
        None => &[],
        Some("continued") => return Ok(None),
        Some(other) => {
            let known = STATUSES.join(", ");
            return Err(invalid(format!(
                "`status`: there is no status `{other}`; there are {known}"
            )));
        }
    };
    Ok(Some(ours.iter().map(|it| it.name().to_owned()).collect()))
}

fn got(ctx: &Ctx<'_>, input: &Getting) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    let teller = Teller::of(ctx);
    let nodes = Nodes::read(ctx, &loaded)?;
    let mut run = teller.summary(ctx, &loaded)?;
    set_field(&mut run, "steps", json!(steps(&loaded, &nodes)));
    let open = summary::approvals(&loaded).into_iter();
    let open: Result<Vec<Value>, Problem> = open
        .map(|request| approvals::told(ctx, &loaded, request))
        .collect();
    set_field(&mut run, "approvals", json!(open?));
    set_field(&mut run, "loops", json!(loops(&loaded)));
    let origins: Vec<_> = loaded.state.forked.iter().map(|(run, _)| run).collect();
    set_field(&mut run, "continuedFromRunIds", json!(origins));
    let children = loaded.state.children.iter();
    let child =
        children.filter(|(_, child)| child.ended.is_none() && loaded.state.is_current_child(child));
    let child = child.map(|(run, _)| run).next();
    set_field(&mut run, "activeDescendantRunId", json!(child));
    set_field(&mut run, "config", config(&loaded));
    set_field(&mut run, "error", error(&loaded));
    Ok(json!({"run": run}))
}

/// Every visit, and the states that weren't entered.
fn steps(loaded: &Loaded, nodes: &Nodes) -> Vec<Value> {
    let mut steps = Vec::new();
    for (_, name) in loaded.workflow.visible_states() {
        let visits = nodes.visits.iter().filter(|it| it.node == name);
        let before = steps.len();
        steps.extend(visits.map(|visit| visit.told(loaded)));
        if steps.len() == before {
            steps.push(json!({
                "nodeId": name,
                "iteration": 0,
                "state": "pending",
                "lastAttempt": null,
                "updatedAtMs": null,
                "outputTable": null,
                "label": summary::label(loaded, name),
            }));
        }
    }
    steps
}

/// The states that were entered again, or may be only so often.
fn loops(loaded: &Loaded) -> Vec<Value> {
    let mut loops = Vec::new();
    for (_, name) in loaded.workflow.visible_states() {
        let most = loaded.limit(name, "max_visits");
        let visits = loaded.state.visits.get(name).map_or(0, |visit| visit.count);
        if visits > 1 || most.is_some() {
            loops.push(json!({
                "loopId": name,
                "iteration": visits.saturating_sub(1),
                "maxIterations": most,
            }));
        }
    }
    loops
}

/// What the run was given, and what the definition says beside the machine.
fn config(loaded: &Loaded) -> Value {
    let mut config = Map::new();
    config.insert("input".to_owned(), loaded.state.input.clone());
    config.insert("context".to_owned(), json!(loaded.state.context));
    if let Some(meta) = loaded.workflow.meta().get("meta") {
        config.insert("meta".to_owned(), meta.clone());
    }
    Value::Object(config)
}

/// Why it has ended badly.
pub(super) fn error(loaded: &Loaded) -> Value {
    let state = &loaded.state;
    let message = match state.status() {
        Status::Cancelled => state.cancelled.clone().unwrap_or_default(),
        Status::Failed => format!("it has ended badly, in {}", state.leaves.join(", ")),
        _ => return Value::Null,
    };
    json!({"message": message})
}
