//! `statewright_load_workflow`: a run begins, starts over or goes on.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{
    Cancel, Continue, Head, Loaded, Role, RunError, RunId, Start, Status, StoreError,
};

use super::state;
use crate::call::Call;
use crate::problem::Problem;
use crate::profiles::words;
use crate::session;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::refusal;

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
    Tool::foreign(
        ("statewright_load_workflow", Set::Statewright, Hints::ENDS),
        (
            "Load a workflow",
            "Load a named workflow and start it afresh; with resume=true, go on with its last paused run.",
        ),
        words,
        run,
    )
    .like("start_run")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let catalog = call.desk.catalog();
    let Some(workflow) = catalog.find(&input.name) else {
        let known = catalog.ids();
        let message = format!(
            "Workflow '{}' not found. Available: {}",
            input.name,
            known.join(", ")
        );
        return Err(Problem::new("unknown_workflow", message).with(json!({"known": known})));
    };
    if let Some(bound) = call.bound() {
        return attached(call, input, bound);
    }
    let before = in_the_way(call, input)?;
    if let Some(before) = &before
        && (before.state.workflow != input.name
            || before.workflow.hash() != workflow.hash() && !input.resume)
        && call.caller.actor.role < Role::Person
    {
        return Err(swap(before, &input.name));
    }
    if input.resume {
        let paused = before.as_ref().map(|it| it.run.clone());
        let project = project(call, input);
        let last = || {
            call.desk
                .runs()
                .latest_paused(&input.name, project.as_deref())
        };
        let paused = match paused {
            Some(run) => Some(run),
            None => last()?,
        };
        if let Some(run) = paused {
            return resumed(call, &run);
        }
    }
    if let Some(before) = &before {
        give_up(call, before)?;
    }
    started(call, input, before.as_ref())
}

/// The project that runs are of: the connection's, else the given one.
fn project(call: &Call<'_>, input: &Input) -> Option<String> {
    let own = call.caller.project.clone();
    own.or_else(|| input.project_id.clone())
}

/// Where there is one run that may be touched, it is joined as it is, or begins.
fn attached(call: &Call<'_>, input: &Input, bound: &RunId) -> Outcome {
    let loaded = match call.desk.runs().caught_up(bound) {
        Err(RunError::Store(StoreError::NotFound { .. })) => return started(call, input, None),
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
        return resumed(call, bound);
    }
    answer(call, &loaded, false, None)
}

/// The live run that the session has; one that another session holds isn't in the way.
fn in_the_way(call: &Call<'_>, input: &Input) -> Result<Option<Loaded>, Problem> {
    let project = project(call, input);
    let of_project = |head: &Head| project.is_none() || head.summary.project == project;
    let live = session::live(call)?.into_iter().filter(of_project);
    let mut live = session::held(live.collect(), input.session_id.as_deref());
    match live.pop() {
        Some(only) if live.is_empty() => Ok(Some(call.desk.runs().caught_up(&only.run)?)),
        Some(last) => {
            live.push(last);
            Err(session::several(&live))
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

fn resumed(call: &Call<'_>, run: &RunId) -> Outcome {
    let runs = call.desk.runs();
    let loaded = runs.caught_up(run)?;
    if loaded.state.status() != Status::Paused {
        // It goes on already.
        return answer(call, &loaded, true, None);
    }
    let order = call.order(run.clone(), None, None)?;
    let written = runs.execute(&order, &Continue::default())?;
    match refusal(&written) {
        Some(refused) => Err(Problem::refused(&refused)),
        None => answer(call, &written.loaded, true, None),
    }
}

/// Ends the run that another of the same workflow takes the place of.
fn give_up(call: &Call<'_>, before: &Loaded) -> Result<(), Problem> {
    let by_person = |it: &statemark_runs::Actor| it.role >= Role::Person;
    if before.state.paused_by.as_ref().is_some_and(by_person)
        && call.caller.actor.role < Role::Person
    {
        let message = format!(
            "A person has paused run '{}': a person has to continue it before it can start over.",
            before.run
        );
        return Err(Problem::new("not_a_person", message));
    }
    let order = call.order(before.run.clone(), None, None)?;
    let written = call
        .desk
        .runs()
        .execute(&order, &Cancel::because("started over"))?;
    refusal(&written).map_or(Ok(()), |it| Err(Problem::refused(&it)))
}

fn started(call: &Call<'_>, input: &Input, before: Option<&Loaded>) -> Outcome {
    let runs = call.desk.runs();
    let run = call.new_run(None)?;
    let order = call.order(run.clone(), None, None)?;
    let start = Start {
        workflow: input.name.clone(),
        project: project(call, input),
        session: input.session_id.clone(),
        ..Start::default()
    };
    runs.execute(&order, &start)?;
    answer(call, &runs.caught_up(&run)?, false, before)
}

fn answer(call: &Call<'_>, loaded: &Loaded, resumed: bool, before: Option<&Loaded>) -> Outcome {
    let mut told = state::told(call, &session::innermost(call, loaded.clone())?)?;
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
