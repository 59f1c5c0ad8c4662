//! `fork_run`: a new run that shares another's journal up to a record.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::Body;
use statemark_runs::runs::Fork;
use statemark_runs::{RunError, RunId, StoreError};

use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_order};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};
use crate::tools::time::told;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The last record that counts in both.
    at_seq: u64,
    /// States that shall not have been entered yet: the new run begins before the first of them was, or with the first records.
    #[serde(default)]
    reset_states: Vec<String>,
    /// What to call the new run; else it gets an id.
    new_run_id: Option<String>,
    /// Fields of the context that are different from there on.
    #[serde(default)]
    input_overrides: Map<String, Value>,
    /// Begin without artifacts.
    #[serde(default)]
    drop_artifacts: bool,
    /// A name for people.
    branch_label: Option<String>,
    /// Put the files back to the checkpoint that has them as they were then. What is overwritten is saved before.
    #[serde(default)]
    restore_workspace: bool,
    /// Only say what the new run would begin with.
    #[serde(default)]
    dry_run: bool,
    /// The same key with the same call gives the first answer again. A key is one run's: with another `new_run_id` it forks
    /// another.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("fork_run", Set::Time, Annotations::IDEMPOTENT),
        (
            "Fork a run",
            "Begins a new run that shares another's journal up to a record. The other run is untouched.",
        ),
        &[("run_id", "string"), ("plan", "object"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let runs = ctx.runs();
    let from = ctx.resolve_run(input.run_id.as_deref())?;
    let fork = Fork {
        reset: input.reset_states.clone(),
        input: Value::Object(input.input_overrides.clone()),
        drop_artifacts: input.drop_artifacts,
        restore_workspace: input.restore_workspace,
        title: input.branch_label.clone(),
        ..Fork::new(from.clone(), input.at_seq)
    };
    if input.dry_run {
        let plan = runs.plan_fork(&fork).map_err(no_record)?;
        return Ok(Map::from_iter([(
            "plan".to_owned(),
            json!(told(json!(plan))),
        )]));
    }
    let run = id(ctx, input, &from)?;
    let order = ctx.order(run.clone(), input.idempotency_key.as_deref(), None)?;
    let written = runs.execute(&order, &fork).map_err(|error| match error {
        RunError::Store(StoreError::Conflict { .. }) => {
            let message = format!("there is a run `{run}` already: choose another `new_run_id`");
            Problem::new("run_exists", message)
        }
        error => no_record(error),
    })?;
    let at = written.records.iter().find_map(|it| match it.read() {
        Ok(Body::Forked(forked)) => Some(forked.at),
        _ => None,
    });
    answer_order(&written, json!({"run_id": run, "from": from, "at_seq": at}))
}

/// A record that isn't there is a wrong argument, as it is where a run goes back.
fn no_record(error: RunError) -> Problem {
    match &error {
        RunError::Store(StoreError::NotFound { what }) if what.starts_with("record ") => {
            Problem::new("invalid_request", error.to_string())
        }
        _ => error.into(),
    }
}

/// The new run's id. With a key it is always the same, so that a call that is made again finds the fork that it has made.
fn id(ctx: &Ctx<'_>, input: &Input, from: &RunId) -> Result<RunId, Problem> {
    ctx.check_may_start()?;
    Ok(match (&input.new_run_id, &input.idempotency_key) {
        (Some(id), _) => id
            .parse()
            .map_err(|error| Problem::argument("new_run_id", error))?,
        (None, Some(key)) => {
            let workflow = ctx.runs().store().head(from)?.summary.workflow;
            RunId::for_workflow_and_key(&workflow, &format!("{from}\n{key}"))
        }
        (None, None) => RunId::random(),
    })
}
