//! `start_run`: begins a run, or goes on with a paused one.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{
    Continue, Head, MAX_PAGE, Query, RunError, RunId, Start, StoreError, Written,
};

use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_about, answer_order};
use crate::lookup::unknown_workflow;
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

/// The outcome of continuing a run.
type Continued = Written<Result<(), statemark_runs::body::Refused>>;

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
    /// Go on with the run if there is one and it is paused; without `run_id`, with the latest paused one of the workflow. A
    /// run that goes on takes neither `input` nor `title` nor `session`.
    #[serde(default)]
    resume: bool,
    /// The same key with the same call gives the first answer again. A key is one run's: with another `workflow`, `project`
    /// or `run_id` it starts another.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("start_run", Set::Runs, Annotations::IDEMPOTENT),
        (
            "Start a run",
            "Starts a run of a workflow. The answer says where it is and which events are legal next.",
        ),
        &[("run_id", "string"), ("resumed", "boolean"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let runs = ctx.runs();
    let project = input.project.clone().or_else(|| ctx.caller.project.clone());
    let key = input.idempotency_key.as_deref();
    if input.resume
        && let Some((run, written)) = resumed(ctx, input, project.as_deref())?
    {
        return answer_order(&written, json!({"run_id": run, "resumed": true}));
    }
    let run = id(ctx, input, project.as_deref())?;
    let order = ctx.order(run.clone(), key, None)?;
    let start = Start {
        workflow: input.workflow.clone(),
        input: Value::Object(input.input.clone()),
        title: input.title.clone(),
        project,
        session: input.session.clone(),
        ..Start::default()
    };
    let written = runs.execute(&order, &start).map_err(|error| match error {
        RunError::Store(StoreError::Conflict { .. }) => exists(&run),
        RunError::UnknownWorkflow { id, .. } => unknown_workflow(ctx.catalog(), &id),
        error => error.into(),
    })?;
    let mut answer = answer_about(&written.loaded, json!({"run_id": run, "resumed": false}))?;
    if written.replayed {
        answer.insert("replayed".to_owned(), json!(true));
    }
    Ok(answer)
}

/// The run that goes on, if one does: that of the same call made before, the named one, else the latest paused one.
fn resumed(
    ctx: &Ctx<'_>,
    input: &Input,
    project: Option<&str>,
) -> Result<Option<(RunId, Continued)>, Problem> {
    let store = ctx.runs().store();
    if let Some(key) = &input.idempotency_key {
        let order = ctx.order(id(ctx, input, project)?, Some(key), None)?;
        let is_begun = match &order.key {
            Some(key) => store.key_use(&order.run, key)?.is_some(),
            None => false,
        };
        let of = Query {
            workflow: Some(input.workflow.clone()),
            project: project.map(str::to_owned),
            limit: MAX_PAGE,
            ..Query::default()
        };
        let mut known = vec![order.run];
        if !is_begun && input.run_id.is_none() {
            known = store
                .list(&of)?
                .heads
                .into_iter()
                .map(|it| it.run)
                .collect();
        }
        for run in known {
            if let Some(written) = again(ctx, &run, key)? {
                return Ok(Some((run, written)));
            }
        }
        if is_begun {
            return Ok(None);
        }
    }
    let head = if input.run_id.is_some() || ctx.bound_run().is_some() {
        match store.head(&ctx.resolve_run(input.run_id.as_deref())?) {
            Err(StoreError::NotFound { .. }) => return Ok(None),
            head => head?,
        }
    } else {
        let latest = ctx.runs().latest_paused(&input.workflow, project)?;
        let Some(run) = latest else {
            return Ok(None);
        };
        store.head(&ctx.resolve_run(Some(run.as_str()))?)?
    };
    check(input, &head)?;
    let order = ctx.order(head.run.clone(), input.idempotency_key.as_deref(), None)?;
    let written = ctx.runs().execute(&order, &Continue::default())?;
    Ok(Some((head.run, written)))
}

/// What a run was told under this key, if that was to go on.
fn again(ctx: &Ctx<'_>, run: &RunId, key: &str) -> Result<Option<Continued>, Problem> {
    let order = ctx.order(run.clone(), Some(key), None)?;
    let runs = ctx.runs();
    let seen = order.key.as_ref().map(|key| runs.store().key_use(run, key));
    if seen.transpose()?.flatten().is_none() {
        return Ok(None);
    }
    match runs.execute(&order, &Continue::default()) {
        // Something else was said under it: of this run, which goes on or not for its own reasons.
        Err(RunError::Store(StoreError::KeyReused { .. })) => Ok(None),
        written => Ok(Some(written?)),
    }
}

/// Whether a run is the one that is asked for, and nothing is given that would be dropped.
fn check(input: &Input, head: &Head) -> Result<(), Problem> {
    let workflow = &head.summary.workflow;
    if *workflow != input.workflow {
        let what = format!("run `{}` is one of `{workflow}`", head.run);
        return Err(Problem::argument("workflow", what));
    }
    let given = [
        ("input", !input.input.is_empty()),
        ("title", input.title.is_some()),
        ("session", input.session.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((name, _)) => {
            let what = format!(
                "run `{}` goes on as it is: leave this out, or start another run without `resume`",
                head.run
            );
            Err(Problem::argument(name, what))
        }
    }
}

/// The id of the run: the given one, or the only one that the caller may touch; else a new one. With a key it is always
/// the same, so that a call that is made again finds the run that it has started.
fn id(ctx: &Ctx<'_>, input: &Input, project: Option<&str>) -> Result<RunId, Problem> {
    let named = input.run_id.as_deref();
    let key = input.idempotency_key.as_ref();
    let Some(key) = key.filter(|_| named.is_none() && ctx.bound_run().is_none()) else {
        return ctx.new_run_id(named);
    };
    let caller = ctx.caller.actor.name.as_deref().unwrap_or_default();
    let scope = format!("{}\n{caller}\n{key}", project.unwrap_or_default());
    Ok(RunId::for_workflow_and_key(&input.workflow, &scope))
}

fn exists(run: &RunId) -> Problem {
    let message =
        format!("there is a run `{run}` already: go on with it, or choose another `run_id`");
    Problem::new("run_exists", message).mended_by("get_run", json!({"run_id": run}))
}
