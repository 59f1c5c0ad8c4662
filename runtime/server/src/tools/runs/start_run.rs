//! `start_run`: begins a run, or goes on with the latest paused one.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_store::{RunError, RunId, Start, StoreError};

use crate::call::Call;
use crate::problem::Problem;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{NEXT, about, done, unknown_workflow};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The workflow's id.
    workflow: String,
    /// What to call the run; else it gets an id that nobody can guess.
    run_id: Option<String>,
    /// Merged into the data that the run begins with.
    #[serde(default)]
    input: Map<String, Value>,
    /// A name for people.
    title: Option<String>,
    /// The project that it is for.
    project: Option<String>,
    /// The client's session.
    session: Option<String>,
    /// Go on with the latest paused run of the workflow, if there is one.
    #[serde(default)]
    resume: bool,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("start_run", Set::Runs, Hints::WRITES),
        (
            "Start a run",
            "Starts a run of a workflow. The answer says where it is and which events are legal next.",
        ),
        &[("run_id", "string"), ("resumed", "boolean"), NEXT],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let runs = call.desk.runs();
    let project = input
        .project
        .clone()
        .or_else(|| call.caller.project.clone());
    let key = input.idempotency_key.as_deref();
    if input.resume
        && let Some(found) = runs.latest_paused(&input.workflow, project.as_deref())?
    {
        let run = call.run(Some(found.as_str()))?;
        let order = call.order(run, key, None)?;
        let written = runs.resume(&order, None)?;
        return done(&written, json!({"run_id": found, "resumed": true}));
    }
    let run = id(call, input, project.as_deref())?;
    let order = call.order(run.clone(), key, None)?;
    let start = Start {
        workflow: input.workflow.clone(),
        input: Value::Object(input.input.clone()),
        title: input.title.clone(),
        project,
        session: input.session.clone(),
        ..Start::default()
    };
    let written = runs.start(&order, &start).map_err(|error| match error {
        RunError::Store(StoreError::Conflict { .. }) => exists(&run),
        RunError::UnknownWorkflow { id, .. } => unknown_workflow(call.desk.catalog(), &id),
        error => error.into(),
    })?;
    let mut answer = about(&written.loaded, json!({"run_id": run, "resumed": false}))?;
    if written.replayed {
        answer.insert("replayed".to_owned(), json!(true));
    }
    Ok(answer)
}

/// The id of the run: the given one, or the only one that the caller may touch; else a new one. With a key it is always
/// the same, so that a call that is made again finds the run that it has started.
fn id(call: &Call<'_>, input: &Input, project: Option<&str>) -> Result<RunId, Problem> {
    let named = input.run_id.as_deref();
    let key = input.idempotency_key.as_ref();
    let Some(key) = key.filter(|_| named.is_none() && call.bound().is_none()) else {
        return call.new_run(named);
    };
    let caller = call.caller.actor.name.as_deref().unwrap_or_default();
    let scope = format!("{}\n{caller}\n{key}", project.unwrap_or_default());
    Ok(RunId::of_workflow_for(&input.workflow, &scope))
}

fn exists(run: &RunId) -> Problem {
    let message =
        format!("there is a run `{run}` already: go on with it, or choose another `run_id`");
    Problem::new("run_exists", message).mended_by("get_run", json!({"run_id": run}))
}
