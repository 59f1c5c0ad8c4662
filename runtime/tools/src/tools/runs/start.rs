//! Starting a run, or continuing a paused one; pausing, cancelling and forcing one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::Refused;
use statemark_runs::policy::Gating;
use statemark_runs::{
    CancelRun, ContinueRun, ForceState, Head, MAX_PAGE, PauseRun, Query, RunError, RunId, StartRun,
    Status, StoreError, Written, latest_paused, state,
};

use crate::envelope::{About, answer_about, answer_order};
use crate::lookup::unknown_workflow;
use crate::problem::OTHER_PROJECT;
use crate::{Annotations, Ctx, Problem, Route, Set, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartRunCall {
    /// The workflow's id.
    workflow: String,
    /// The run's id; else it gets one that nobody can guess.
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
    /// Continue a paused run: the named one, else the latest of the workflow.
    ///
    /// Such a run takes neither `input` nor `title` nor `session`.
    #[serde(default)]
    resume: bool,
    /// A repeated call with this key gives the first answer again.
    ///
    /// A key is one run's: with another `workflow`, `project` or `run_id` it starts another.
    idempotency_key: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Started {
    /// The run.
    #[schemars(with = "String")]
    pub(crate) run_id: RunId,
    /// True if a paused run was continued.
    resumed: bool,
}

impl ToolCall for StartRunCall {
    const NAME: &'static str = "start_run";
    const TITLE: &'static str = "Start a run";
    const DESCRIPTION: &'static str =
        "Starts a run of a workflow. The answer says where it is and which events are legal next.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::create("/runs", "begins one")];
    type Response = About<Started>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Started>, Problem> {
        let runs = ctx.runs();
        let project = self.project.clone();
        let project = project.or_else(|| ctx.caller.project.clone());
        check_project(ctx, project.as_deref())?;
        let key = self.idempotency_key.as_deref();
        if self.resume
            && let Some((run_id, written)) = self.resume(ctx, project.as_deref())?
        {
            let resumed = true;
            return answer_order(&written, Started { run_id, resumed });
        }
        let run = self.new_id(ctx, project.as_deref())?;
        let order = ctx.order(run.clone(), key, None)?;
        let start = StartRun {
            workflow: self.workflow.clone(),
            input: Value::Object(self.input.clone()),
            title: self.title.clone(),
            project,
            session: self.session.clone(),
            ..StartRun::default()
        };
        let written = runs.execute(&order, &start).map_err(|error| match error {
            RunError::Store(StoreError::Conflict { .. }) => run_exists(&run),
            RunError::UnknownWorkflow { id, .. } => unknown_workflow(ctx.catalog(), &id),
            error => error.into(),
        })?;
        let started = Started {
            run_id: run,
            resumed: false,
        };
        Ok(About {
            replayed: written.replayed,
            ..answer_about(&written.loaded, started)?
        })
    }
}

/// Checks that an agent without a token starts its run in its own project.
///
/// The project is what tells such agents apart: a run elsewhere would hold others, and not the one that started it.
fn check_project(ctx: &Ctx<'_>, project: Option<&str>) -> Result<(), Problem> {
    let own = ctx.caller.confined_to();
    if own.is_none() || own == project {
        return Ok(());
    }
    let message = "an agent without a token starts runs in its own project: leave `project` out, or show a token";
    Err(Problem::new(OTHER_PROJECT, message).with(json!({"path": "project"})))
}

/// The outcome of continuing a run.
type Continued = Written<Result<(), Refused>>;

impl StartRunCall {
    /// Creates the call that starts a run of a workflow.
    pub(crate) fn for_workflow(workflow: &str) -> Self {
        Self {
            workflow: workflow.to_owned(),
            run_id: None,
            input: Map::new(),
            title: None,
            project: None,
            session: None,
            resume: false,
            idempotency_key: None,
        }
    }

    /// Continues the run of a repeated call, the named one, or the latest paused one, if there is one.
    fn resume(
        &self,
        ctx: &Ctx<'_>,
        project: Option<&str>,
    ) -> Result<Option<(RunId, Continued)>, Problem> {
        let store = ctx.runs().store();
        if let Some(key) = &self.idempotency_key {
            let order = ctx.order(self.new_id(ctx, project)?, Some(key), None)?;
            let is_begun = match &order.key {
                Some(key) => store.key_use(&order.run, key)?.is_some(),
                None => false,
            };
            let query = Query {
                workflow: Some(self.workflow.clone()),
                project: project.map(str::to_owned),
                limit: MAX_PAGE,
                ..Query::default()
            };
            let mut known = vec![order.run];
            if !is_begun && self.run_id.is_none() {
                let heads = store.list(&query)?.heads.into_iter();
                known = heads.map(|head| head.run).collect();
            }
            for run in known {
                if let Some(written) = repeat(ctx, &run, key)? {
                    return Ok(Some((run, written)));
                }
            }
            if is_begun {
                return Ok(None);
            }
        }
        let head = if self.run_id.is_some() || ctx.bound_run().is_some() {
            match store.head(&ctx.resolve_run(self.run_id.as_deref())?) {
                Err(StoreError::NotFound { .. }) => return Ok(None),
                head => head?,
            }
        } else {
            let latest = latest_paused(ctx.runs(), &self.workflow, project)?;
            let Some(run) = latest else {
                return Ok(None);
            };
            store.head(&ctx.resolve_run(Some(run.as_str()))?)?
        };
        self.check_resumable(&head)?;
        let order = ctx.order(head.run.clone(), self.idempotency_key.as_deref(), None)?;
        let written = ctx.runs().execute(&order, &ContinueRun::default())?;
        Ok(Some((head.run, written)))
    }

    /// Checks that a run is the one that is asked for, and that no argument would be ignored.
    fn check_resumable(&self, head: &Head) -> Result<(), Problem> {
        let workflow = &head.summary.workflow;
        if *workflow != self.workflow {
            let what = format!("run `{}` is one of `{workflow}`", head.run);
            return Err(Problem::argument("workflow", what));
        }
        let arguments = [
            ("input", !self.input.is_empty()),
            ("title", self.title.is_some()),
            ("session", self.session.is_some()),
        ];
        match arguments.iter().find(|(_, is_set)| *is_set) {
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

    /// Returns the id of the run to start: the given one, the caller's own, or a new one.
    ///
    /// With a key it is always the same, so that a call that is made again finds the run that it has started.
    fn new_id(&self, ctx: &Ctx<'_>, project: Option<&str>) -> Result<RunId, Problem> {
        let named = self.run_id.as_deref();
        let key = self.idempotency_key.as_ref();
        let Some(key) = key.filter(|_| named.is_none() && ctx.bound_run().is_none()) else {
            return ctx.new_run_id(named);
        };
        let caller = ctx.caller.actor.name.as_deref().unwrap_or_default();
        let scope = format!("{}\n{caller}\n{key}", project.unwrap_or_default());
        Ok(RunId::for_workflow_and_key(&self.workflow, &scope))
    }
}

/// Returns the answer that a run gave under this key, if the key was used to continue it.
fn repeat(ctx: &Ctx<'_>, run: &RunId, key: &str) -> Result<Option<Continued>, Problem> {
    let order = ctx.order(run.clone(), Some(key), None)?;
    let runs = ctx.runs();
    let seen = order.key.as_ref().map(|key| runs.store().key_use(run, key));
    if seen.transpose()?.flatten().is_none() {
        return Ok(None);
    }
    match runs.execute(&order, &ContinueRun::default()) {
        // The key was used for something else: whether the run is continued is decided without it.
        Err(RunError::Store(StoreError::KeyReused { .. })) => Ok(None),
        written => Ok(Some(written?)),
    }
}

fn run_exists(run: &RunId) -> Problem {
    let message =
        format!("there is a run `{run}` already: go on with it, or choose another `run_id`");
    Problem::new("run_exists", message).mended_by("get_run", json!({"run_id": run}))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ControlRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The change.
    action: Action,
    /// The state, for `force`.
    state: Option<String>,
    /// Fields of the context that are set with it, for `force`.
    #[serde(default)]
    context: Map<String, Value>,
    /// The reason.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Pause,
    Continue,
    Cancel,
    Force,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Controlled {
    /// The status that the run got by it.
    #[schemars(with = "String")]
    status: Status,
}

impl ToolCall for ControlRunCall {
    const NAME: &'static str = "control_run";
    const TITLE: &'static str = "Control a run";
    const DESCRIPTION: &'static str = "Pauses, continues or cancels a run. `force` sets its state by hand: a person's call, where the definition allows it.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::post(
        "/runs/{run_id}/control",
        "pauses, continues, cancels or forces it",
    )];
    type Response = About<Controlled>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Controlled>, Problem> {
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let runs = ctx.runs();
        let reason = self.reason.clone();
        let written = match self.action {
            Action::Pause => runs.execute(&order, &PauseRun { reason })?,
            Action::Continue => runs.execute(&order, &ContinueRun { reason })?,
            Action::Cancel => runs.execute(&order, &CancelRun { reason })?,
            Action::Force => {
                let Some(to) = self.state.clone() else {
                    return Err(Problem::argument("state", "say which, for `action: force`"));
                };
                let force = ForceState {
                    to,
                    context: self.context.clone(),
                    reason,
                };
                runs.execute(&order, &force)?
            }
        };
        // A repeated call gets the status of the first time; `next` has that of now.
        let status = match written.records.last() {
            Some(last) if written.replayed => {
                let store = runs.store();
                state::load(store, &order.run, Some(last.seq))?.status()
            }
            _ => written.loaded.state.status(),
        };
        answer_order(&written, Controlled { status })
    }
}
