//! `statewright_load_workflow`: a run begins, starts over or goes on.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{
    CancelRun, ContinueRun, Head, Loaded, Role, RunError, RunId, StartRun, Status, StoreError,
    latest_paused,
};

use super::state;
use crate::ctx::{Ctx, target};
use crate::envelope::find_refusal;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Workflow name to load (e.g. bugfix).
    name: String,
    /// Client session identifier, for one state a session.
    session_id: Option<String>,
    /// Project identifier, for one active run a project.
    project_id: Option<String>,
    /// Resume from the last paused run instead of starting fresh.
    #[serde(default)]
    resume: bool,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("statewright_load_workflow", Set::Statewright, Annotations::DESTRUCTIVE),
        (
            "Load a workflow",
            "Load a named workflow and start it afresh; with resume=true, go on with its last paused run.",
        ),
        words,
        run,
    )
    .equivalent_to("start_run")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let catalog = ctx.catalog();
    let Some(workflow) = catalog.find(&input.name) else {
        let known = catalog.ids();
        let message = format!(
            "Workflow '{}' not found. Available: {}",
            input.name,
            known.join(", ")
        );
        return Err(Problem::new("unknown_workflow", message).with(json!({"known": known})));
    };
    if let Some(bound) = ctx.bound_run() {
        return attached(ctx, input, bound);
    }
    let before = in_the_way(ctx, input)?;
    if let Some(before) = &before
        && (before.state.workflow != input.name
            || before.workflow.hash() != workflow.hash() && !input.resume)
        && ctx.caller.actor.role < Role::Person
    {
        return Err(swap(before, &input.name));
    }
    if input.resume {
        let paused = before.as_ref().map(|it| it.run.clone());
        let project = project(ctx, input);
        let last = || latest_paused(ctx.runs(), &input.name, project.as_deref());
        let paused = match paused {
            Some(run) => Some(run),
            None => last()?,
        };
        if let Some(run) = paused {
            return resumed(ctx, &run);
        }
    }
    if let Some(before) = &before {
        give_up(ctx, before)?;
    }
    started(ctx, input, before.as_ref())
}

/// The project that runs are of: the connection's, else the given one.
fn project(ctx: &Ctx<'_>, input: &Input) -> Option<String> {
    let own = ctx.caller.project.clone();
    own.or_else(|| input.project_id.clone())
}

/// Where there is one run that may be touched, it is joined as it is, or begins.
fn attached(ctx: &Ctx<'_>, input: &Input, bound: &RunId) -> Outcome {
    let loaded = match ctx.runs().catch_up(bound) {
        Err(RunError::Store(StoreError::NotFound { .. })) => return started(ctx, input, None),
        loaded => loaded?,
    };
    if loaded.state.workflow != input.name {
        let workflow = &loaded.state.workflow;
        let message = format!(
            "This client may touch run '{bound}' only, which is of workflow '{workflow}': '{}' can't be loaded here. Load \
             '{workflow}' to go on with it.",
            input.name
        );
        return Err(Problem::new("still_active", message));
    }
    if loaded.state.status() == Status::Paused && input.resume {
        return resumed(ctx, bound);
    }
    answer(ctx, &loaded, false, None)
}

/// The live run that the session has; one that another session holds isn't in the way.
fn in_the_way(ctx: &Ctx<'_>, input: &Input) -> Result<Option<Loaded>, Problem> {
    let project = project(ctx, input);
    let of_project = |head: &Head| project.is_none() || head.summary.project == project;
    let live = target::live_runs(ctx)?.into_iter().filter(of_project);
    let mut live = target::runs_of_session(live.collect(), input.session_id.as_deref());
    match live.pop() {
        Some(only) if live.is_empty() => Ok(Some(ctx.runs().catch_up(&only.run)?)),
        Some(last) => {
            live.push(last);
            Err(target::several_live(&live))
        }
        None => Ok(None),
    }
}

fn swap(live: &Loaded, name: &str) -> Problem {
    let (run, workflow) = (&live.run, &live.state.workflow);
    let leave = match &live.state.session {
        Some(session) => format!("statewright_deactivate(session_id=\"{session}\")"),
        None => "statewright_deactivate".to_owned(),
    };
    let message = if workflow == name {
        format!(
            "'{name}' has changed since run '{run}' of it began, and that one is still active: finish it, or leave it with \
             {leave}, before the new one is loaded."
        )
    } else {
        format!(
            "Run '{run}' of workflow '{workflow}' is still active, and another workflow can't take its place: finish it, or \
             leave it with {leave}, before '{name}' is loaded."
        )
    };
    Problem::new("still_active", message)
}

fn resumed(ctx: &Ctx<'_>, run: &RunId) -> Outcome {
    let runs = ctx.runs();
    let loaded = runs.catch_up(run)?;
    if loaded.state.status() != Status::Paused {
        // It goes on already.
        return answer(ctx, &loaded, true, None);
    }
    let order = ctx.order(run.clone(), None, None)?;
    let written = runs.execute(&order, &ContinueRun::default())?;
    match find_refusal(&written) {
        Some(refused) => Err(Problem::refused(&refused)),
        None => answer(ctx, &written.loaded, true, None),
    }
}

/// Ends the run that another of the same workflow takes the place of.
fn give_up(ctx: &Ctx<'_>, before: &Loaded) -> Result<(), Problem> {
    let by_person = |it: &statemark_runs::Actor| it.role >= Role::Person;
    if before.state.paused_by.as_ref().is_some_and(by_person)
        && ctx.caller.actor.role < Role::Person
    {
        let message = format!(
            "A person has paused run '{}': a person has to continue it before it can start over.",
            before.run
        );
        return Err(Problem::new("not_a_person", message));
    }
    let order = ctx.order(before.run.clone(), None, None)?;
    let written = ctx
        .runs()
        .execute(&order, &CancelRun::because("started over"))?;
    find_refusal(&written).map_or(Ok(()), |it| Err(Problem::refused(&it)))
}

fn started(ctx: &Ctx<'_>, input: &Input, before: Option<&Loaded>) -> Outcome {
    let runs = ctx.runs();
    let run = ctx.new_run_id(None)?;
    let order = ctx.order(run.clone(), None, None)?;
    let start = StartRun {
        workflow: input.name.clone(),
        project: project(ctx, input),
        session: input.session_id.clone(),
        ..StartRun::default()
    };
    runs.execute(&order, &start)?;
    answer(ctx, &runs.catch_up(&run)?, false, before)
}

fn answer(ctx: &Ctx<'_>, loaded: &Loaded, resumed: bool, before: Option<&Loaded>) -> Outcome {
    let mut told = state::told(ctx, &target::innermost_run(ctx, loaded.clone())?)?;
    told.insert("run_id".to_owned(), json!(loaded.run));
    told.insert("loaded".to_owned(), json!(true));
    told.insert("workflow".to_owned(), json!(loaded.state.workflow));
    told.insert("resumed".to_owned(), json!(resumed));
    if let Some(session) = &loaded.state.session {
        told.insert("session_id".to_owned(), json!(session));
    }
    if let Some(before) = before {
        told.insert("cancelled_run_id".to_owned(), json!(before.run));
    }
    Ok(Value::Object(told))
}
