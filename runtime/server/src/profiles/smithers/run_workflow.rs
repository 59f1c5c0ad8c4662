//! `list_workflows` and `run_workflow`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{ContinueRun, Loaded, StartRun, Status, StoreError};

use super::rewind::{self, Back};
use super::summary::{self, Teller};
use super::{invalid, shape};
use crate::catalog::Spec;
use crate::ctx::Ctx;
use crate::envelope::{find_refusal, set_field};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The workflow, by its id in `list_workflows`.
    workflow_id: String,
    /// What the run begins with.
    input: Option<Map<String, Value>>,
    /// Short for an `input` with nothing but `prompt`.
    prompt: Option<String>,
    /// What to call the run; else it gets an id that nobody can guess.
    run_id: Option<String>,
    /// Go on with a run; needs `runId`.
    #[serde(default)]
    resume: bool,
    /// If there is such a run already, go back to its beginning.
    #[serde(default)]
    force: bool,
    /// Wait until the run ends: needs an executor, unless it has ended.
    #[serde(default)]
    wait_for_terminal: bool,
    /// How long to wait for a run in the background to appear: it is there at once.
    wait_for_start_ms: Option<u64>,
    /// For an executor.
    max_concurrency: Option<u64>,
    /// For an executor.
    root_dir: Option<String>,
    /// For an executor.
    log_dir: Option<String>,
    /// For an executor.
    allow_network: Option<bool>,
    /// For an executor.
    max_output_bytes: Option<u64>,
    /// For an executor.
    tool_timeout_ms: Option<u64>,
    /// For an executor.
    hot: Option<bool>,
    /// With `force`: effects that nothing takes back are left behind.
    #[serde(default)]
    confirm: bool,
}

pub(super) fn list() -> Tool {
    Tool::profile(
        ("list_workflows", Set::Smithers, Annotations::READ_ONLY),
        (
            "List workflows",
            "The workflows that runs can be started of; `id` is the `workflowId` of `run_workflow`.",
        ),
        shape,
        listed,
    )
    .equivalent_to("list_workflows")
    .with_output(&[("workflows", "array")])
}

pub(super) fn tool() -> Tool {
    let hints = Annotations {
        open_world: true,
        ..Annotations::ADDITIVE
    };
    Tool::profile(
        ("run_workflow", Set::Smithers, hints),
        (
            "Run a workflow",
            "Starts a run of a workflow or goes on with one. It waits for its agent: nothing is executed here.",
        ),
        shape,
        run,
    )
    .equivalent_to("start_run")
    .with_output(&[
        ("workflow", "object"),
        ("runId", "string"),
        ("launchMode", "string"),
        ("requestedResume", "boolean"),
        ("status", "string"),
        ("observedRun", ""),
        ("result", ""),
    ])
}

fn listed(ctx: &Ctx<'_>, _: &Nothing) -> Outcome {
    let mut specs = ctx.catalog().specs();
    specs.sort_by(|a, b| a.id.cmp(&b.id));
    let specs: Vec<Value> = specs.iter().map(told).collect();
    Ok(json!({"workflows": specs}))
}

/// A workflow as it is listed.
fn told(spec: &Spec) -> Value {
    json!({
        "id": spec.id,
        "metadataVersion": 1,
        "displayName": spec.title.as_ref().unwrap_or(&spec.id),
        "scope": "local",
        "entryFile": spec.source,
        "path": spec.source,
        "sourceType": "user",
        "description": spec.description.clone().unwrap_or_default(),
        "tags": [],
        "aliases": [],
    })
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let spec = spec(ctx, &input.workflow_id)?;
    let begins = json!(begins_with(input));
    let loaded = match existing(ctx, input)? {
        None if input.wait_for_terminal => return Err(no_executor(None)),
        None => start(ctx, input, &begins)?,
        Some(loaded) => again(ctx, input, &begins, loaded)?,
    };
    let status = summary::status(&loaded)?;
    let waited = input.wait_for_terminal;
    if waited && !summary::is_terminal(&loaded) {
        return Err(no_executor(Some(&loaded)));
    }
    Ok(json!({
        "workflow": told(&spec),
        "runId": loaded.run,
        "launchMode": if waited { "waited" } else { "background" },
        "requestedResume": input.resume,
        "status": status,
        "observedRun": Teller::of(ctx).summary(ctx, &loaded)?,
        "result": waited.then(|| result(&loaded, status)),
        "ignored": ignored(input),
    }))
}

fn spec(ctx: &Ctx<'_>, id: &str) -> Result<Spec, Problem> {
    let catalog = ctx.catalog();
    let mut specs = catalog.specs().into_iter();
    if let Some(spec) = specs.find(|spec| spec.id == id) {
        return Ok(spec);
    }
    if catalog.lacks_machine(id) {
        let message = format!("the document `{id}` has no machine to run");
        return Err(Problem::new("WORKFLOW_MISSING_DEFAULT", message));
    }
    let known = catalog.ids();
    let message = format!("there is no workflow `{id}`");
    Err(Problem::new("unknown_workflow", message).with(json!({"known": known})))
}

fn begins_with(input: &Input) -> Map<String, Value> {
    match (&input.input, &input.prompt) {
        (Some(given), _) => given.clone(),
        (None, Some(prompt)) => Map::from_iter([("prompt".to_owned(), json!(prompt))]),
        (None, None) => Map::new(),
    }
}

/// The run that is there already.
fn existing(ctx: &Ctx<'_>, input: &Input) -> Result<Option<Loaded>, Problem> {
    if input.run_id.is_none() && ctx.bound_run().is_none() {
        if input.resume {
            return Err(invalid(
                "`resume` needs the `runId` of the run to go on with",
            ));
        }
        return Ok(None);
    }
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let runs = ctx.runs();
    match runs.store().head(&run) {
        Err(StoreError::NotFound { .. }) if !input.resume => Ok(None),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(Some(runs.catch_up(&run)?)),
    }
}

fn start(ctx: &Ctx<'_>, input: &Input, begins: &Value) -> Result<Loaded, Problem> {
    let run = ctx.new_run_id(input.run_id.as_deref())?;
    let order = ctx.order(run, None, None)?;
    let start = StartRun {
        workflow: input.workflow_id.clone(),
        input: begins.clone(),
        project: ctx.caller.project.clone(),
        ..StartRun::default()
    };
    Ok(ctx.runs().execute(&order, &start)?.loaded)
}

/// A run that is there goes on, or begins anew.
fn again(ctx: &Ctx<'_>, input: &Input, begins: &Value, loaded: Loaded) -> Result<Loaded, Problem> {
    let run = &loaded.run;
    if loaded.state.workflow != input.workflow_id {
        let message = format!("run `{run}` is of `{}`", loaded.state.workflow);
        return Err(invalid(message));
    }
    if input.resume {
        if loaded.state.status() != Status::Paused {
            return Ok(loaded);
        }
        let order = ctx.order(run.clone(), None, None)?;
        let written = ctx.runs().execute(&order, &ContinueRun::default())?;
        return match find_refusal(&written) {
            Some(refused) => Err(Problem::refused(&refused)),
            None => Ok(written.loaded),
        };
    }
    if !input.force {
        let ways = if ctx.check_may_start().is_ok() {
            "`resume` it, `force` it back to its beginning, or leave `runId` out"
        } else {
            "`resume` it, or `force` it back to its beginning"
        };
        let message = format!("there is a run `{run}` already: {ways}");
        return Err(invalid(message));
    }
    let before = loaded.state.input.as_object().cloned().unwrap_or_default();
    if json!(before) != *begins && (input.input.is_some() || input.prompt.is_some()) {
        let way = if ctx.check_may_start().is_ok() {
            "leave `runId` out to start another run"
        } else {
            "leave `input` and `prompt` out to go back to its beginning"
        };
        let message = format!(
            "run `{run}` began with another input, and its journal isn't overwritten: {way}"
        );
        return Err(invalid(message));
    }
    let first = rewind::end_of(ctx, run, 1)?;
    if first == loaded.head.seq {
        return Ok(loaded);
    }
    let back = Back {
        to: first,
        files: false,
        confirm: input.confirm,
    };
    Ok(rewind::back(ctx, &loaded, &back)?.loaded)
}

fn no_executor(loaded: Option<&Loaded>) -> Problem {
    let message = "no executor is configured that would carry the run to its end: leave `waitForTerminal` out, and it waits for its agent";
    let run = loaded.map(|it| &it.run);
    Problem::new("executor_unavailable", message).with(json!({"runId": run}))
}

/// What a run has come to.
fn result(loaded: &Loaded, status: &str) -> Value {
    let mut result = json!({"runId": loaded.run, "status": status});
    let (key, value) = if loaded.state.status() == Status::Completed {
        ("output", json!(loaded.state.context))
    } else {
        ("error", super::runs::error(loaded))
    };
    set_field(&mut result, key, value);
    result
}

/// The options that only an executor would heed.
fn ignored(input: &Input) -> Vec<&'static str> {
    let given = [
        ("maxConcurrency", input.max_concurrency.is_some()),
        ("rootDir", input.root_dir.is_some()),
        ("logDir", input.log_dir.is_some()),
        ("allowNetwork", input.allow_network.is_some()),
        ("maxOutputBytes", input.max_output_bytes.is_some()),
        ("toolTimeoutMs", input.tool_timeout_ms.is_some()),
        ("hot", input.hot.is_some()),
        ("waitForStartMs", input.wait_for_start_ms.is_some()),
    ];
    let given = given.into_iter().filter(|(_, is_given)| *is_given);
    given.map(|(name, _)| name).collect()
}
