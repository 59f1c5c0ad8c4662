//! `run_agent`: a model drives a run. This server has no executor: what is asked for is checked, and the answer says how the
//! caller drives the run itself.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::{Role, RunError};

use crate::ctx::Ctx;
use crate::envelope::Fields;
use crate::envelope::next::describe_next;
use crate::lookup::{check_state, unknown_workflow};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What is to be done.
    task: String,
    /// The only state to work in; else the whole run.
    state: Option<String>,
    /// The workflow to start, if there is no run yet.
    workflow: Option<String>,
    /// The run to go on with; may be left out where only one is meant.
    run_id: Option<String>,
    /// The model's name.
    model: Option<String>,
    /// Where the model is: an OpenAI-compatible API.
    url: Option<String>,
    /// The folder to work in, below the project's root.
    workdir: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("run_agent", Set::Agent, Annotations::DESTRUCTIVE),
        (
            "Run an agent",
            "Lets a model drive a run, or one state of it. Answers `executor_unavailable` where the server has no executor: \
             then drive the run yourself.",
        ),
        &[("run_id", "string")],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let actor = ctx.actor();
    if actor.role < Role::Agent {
        return Err(RunError::ReadOnly { actor }.into());
    }
    check(input)?;
    let unavailable = |message: String| Problem::new("executor_unavailable", message);
    if let Some(id) = &input.workflow {
        let catalog = ctx.catalog();
        let workflow = catalog.find(id);
        let workflow = workflow.ok_or_else(|| unknown_workflow(catalog, id))?;
        check_state(&workflow, input.state.as_deref())?;
        let message = format!(
            "this server has no executor, and nothing was started. Start a run of `{id}` yourself: do what the state's \
             `instructions` say, then `send_event`"
        );
        return Err(unavailable(message).mended_by("start_run", json!({"workflow": id})));
    }
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    check_state(&loaded.workflow, input.state.as_deref())?;
    let run = &loaded.run;
    let message = format!(
        "this server has no executor, and nothing was done. Drive `{run}` yourself: do what the state's `instructions` say, \
         then `send_event`"
    );
    let next = describe_next(&loaded)?;
    Err(unavailable(message)
        .with(json!({"next": next}))
        .mended_by("get_run", json!({"run_id": run})))
}

/// What can be wrong with the arguments themselves.
fn check(input: &Input) -> Result<(), Problem> {
    let bad = |path: &str, why: &str| {
        let message = format!("`{path}`: {why}");
        Err(Problem::new("invalid_arguments", message).with(json!({"path": path})))
    };
    if input.task.trim().is_empty() {
        return bad("task", "it is empty; say what is to be done");
    }
    if input.workflow.is_some() && input.run_id.is_some() {
        return bad(
            "workflow",
            "a run has its workflow already; give either `workflow` or `run_id`",
        );
    }
    let is_web = |url: &str| url.starts_with("http://") || url.starts_with("https://");
    if input.url.as_deref().is_some_and(|url| !is_web(url)) {
        return bad(
            "url",
            "it begins neither with `http://` nor with `https://`",
        );
    }
    if input
        .model
        .as_deref()
        .is_some_and(|it| it.trim().is_empty())
    {
        return bad("model", "it is empty; leave it out to take the state's");
    }
    let leads_out = |path: &str| {
        let path = std::path::Path::new(path);
        let own = |part| {
            matches!(
                part,
                std::path::Component::Normal(_) | std::path::Component::CurDir
            )
        };
        !path.components().all(own)
    };
    if input.workdir.as_deref().is_some_and(leads_out) {
        return bad("workdir", "it leads out of the project");
    }
    Ok(())
}
