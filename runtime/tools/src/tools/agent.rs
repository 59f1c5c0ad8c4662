//! Delegating work to an agent.
//!
//! Where the server has no executor, a call is checked, and its answer says how the caller drives the run itself.

use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::RunId;
use statemark_runs::policy::Gating;

use super::StartRunCall;
use crate::envelope::{About, answer_about, describe_next};
use crate::lookup::{check_state, unknown_workflow};
use crate::{Annotations, Ctx, Outcome, Problem, Set, ToolCall, Work, Worked};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunAgentCall {
    /// The task.
    task: String,
    /// The only state to work in; else the whole run.
    state: Option<String>,
    /// The workflow to start, if there is no run yet.
    workflow: Option<String>,
    /// The run to go on with; may be left out where only one is meant.
    run_id: Option<String>,
    /// The model's name.
    model: Option<String>,
    /// The model's address: an OpenAI-compatible API.
    url: Option<String>,
    /// The folder to work in, below the project's root.
    workdir: Option<String>,
}

impl ToolCall for RunAgentCall {
    const NAME: &'static str = "run_agent";
    const TITLE: &'static str = "Run an agent";
    const DESCRIPTION: &'static str = "Has an agent work on a run, or in one state of it, until the run ends or waits for somebody. Answers \
             `executor_unavailable` where the server has no executor: then drive the run yourself.";
    const SET: Set = Set::Agent;
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const GATING: Gating = Gating::Counted;
    type Response = About<Worked>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Worked>, Problem> {
        self.check()?;
        let run = self.find_run(ctx)?;
        let Some(executor) = ctx.executor() else {
            let loaded = ctx.load_run(Some(run.as_str()))?;
            let message = format!(
                "this server has no executor, and nothing was done. Drive `{run}` yourself: do what the state's \
                 `instructions` say, then send its event"
            );
            return Err(Problem::new("executor_unavailable", message)
                .with(json!({"next": describe_next(&loaded)?}))
                .mended_by("get_run", json!({"run_id": run})));
        };
        let work = Work {
            task: Some(self.task.clone()),
            state: self.state.clone(),
            model: self.model.clone(),
            url: self.url.clone(),
            workdir: self.workdir.clone(),
            ..Work::on(run.clone())
        };
        let then = move |ctx: &Ctx<'_>, worked: Worked| -> Outcome {
            let answer = answer_about(&ctx.runs().catch_up(&run)?, worked)?.into_json();
            answer.map_err(|error| Problem::new("failed", error.to_string()))
        };
        Err(ctx.work(executor, work, then))
    }

    fn to_json(response: About<Worked>) -> serde_json::Result<Value> {
        response.into_json()
    }
}

impl RunAgentCall {
    /// Returns the run to work on, which is started if the call names a workflow.
    fn find_run(&self, ctx: &Ctx<'_>) -> Result<RunId, Problem> {
        let Some(id) = &self.workflow else {
            let loaded = ctx.load_run(self.run_id.as_deref())?;
            check_state(&loaded.workflow, self.state.as_deref())?;
            return Ok(loaded.run);
        };
        let catalog = ctx.catalog();
        let workflow = catalog.find(id);
        let workflow = workflow.ok_or_else(|| unknown_workflow(catalog, id))?;
        check_state(&workflow, self.state.as_deref())?;
        if ctx.executor().is_none() {
            let message = format!(
                "this server has no executor, and nothing was started. Start a run of `{id}` yourself: do what the state's \
                 `instructions` say, then send its event"
            );
            return Err(Problem::new("executor_unavailable", message)
                .mended_by("start_run", json!({"workflow": id})));
        }
        let started = StartRunCall::for_workflow(id).run(ctx)?;
        Ok(started.fields.run_id)
    }
    /// Checks the arguments themselves.
    fn check(&self) -> Result<(), Problem> {
        let is_blank = |text: &String| text.trim().is_empty();
        let is_web = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        let leads_out = |path: &String| {
            let mut parts = Path::new(path).components();
            parts.any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
        };
        let (path, what) = if is_blank(&self.task) {
            ("task", "it is empty; say what is to be done")
        } else if self.workflow.is_some() && self.run_id.is_some() {
            (
                "workflow",
                "a run has its workflow already; give either `workflow` or `run_id`",
            )
        } else if self.url.as_ref().is_some_and(|url| !is_web(url)) {
            (
                "url",
                "it begins neither with `http://` nor with `https://`",
            )
        } else if self.model.as_ref().is_some_and(is_blank) {
            ("model", "it is empty; leave it out to take the state's")
        } else if self.workdir.as_ref().is_some_and(leads_out) {
            ("workdir", "it leads out of the project")
        } else {
            return Ok(());
        };
        Err(Problem::argument(path, what))
    }
}
