//! Tools on workflows: list, load, create, search.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{
    Actor, CancelRun, ContinueRun, Head, Loaded, Role, RunError, RunId, StartRun, Status,
    StoreError, latest_paused,
};
use statemark_tools::envelope::bounds;
use statemark_tools::{
    Annotations, Ctx, NewSpec, Outcome, Problem, ProfileTool, Tool, create_spec, definition_text,
    target,
};

use super::run::describe_state;
use super::{SessionInput, active, find_live, map_status, to_call, tool};
use crate::execute;

/// Most findings in an error. Why: an author with a hundred mends the first ones first.
const MAX_FINDINGS: usize = 10;

/// Most snippets in an answer.
const MAX_SNIPPETS: usize = 5;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "statewright_list_workflows",
            title: "List workflows",
            description: "List all available workflows and which one is active.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("list_workflows"),
            run: list_workflows,
        }),
        tool(&ProfileTool {
            name: "statewright_get_status",
            title: "Get the status",
            description: "Get the active workflow, its current state, and the available workflows.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("get_run"),
            run: get_status,
        }),
        tool(&ProfileTool {
            name: "statewright_load_workflow",
            title: "Load a workflow",
            description: "Load a named workflow and start it afresh; with resume=true, continue its last paused run.",
            annotations: Annotations::DESTRUCTIVE,
            output: "",
            equivalent: Some("start_run"),
            run: load_workflow,
        }),
        tool(&ProfileTool {
            name: "statewright_create_workflow",
            title: "Create a workflow",
            description: "Create a new workflow from a JSON definition. An existing one isn't replaced.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("create_workflow"),
            run: create_workflow,
        }),
        tool(&ProfileTool {
            name: "statewright_search_docs",
            title: "Search the documentation",
            description: "Search documentation for workflow schema fields, tools, patterns, and troubleshooting.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("search_docs"),
            run: search_docs,
        }),
    ]
}

fn list_workflows(ctx: &Ctx<'_>, input: &SessionInput) -> Outcome {
    let active = find_live(ctx, input.session_id.as_deref())?.map(|it| it.state.workflow.clone());
    Ok(json!({"workflows": ctx.catalog().ids(), "active": active}))
}

fn get_status(ctx: &Ctx<'_>, input: &SessionInput) -> Outcome {
    let session = input.session_id.as_deref();
    let workflows = ctx.catalog().ids();
    let Some(outer) = find_live(ctx, session)? else {
        return Ok(json!({"active": null, "state": null, "workflows": workflows}));
    };
    let inner = target::driven_run(ctx, session)?;
    let state = inner.as_ref().map_or(Value::Null, |it| json!(active(it)));
    Ok(json!({
        "active": outer.state.workflow,
        "state": state,
        "run_id": outer.run,
        "status": map_status(outer.state.status()),
        "workflows": workflows,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LoadWorkflow {
    /// Workflow name to load (e.g. bugfix).
    name: String,
    /// Client session identifier, for one state a session.
    session_id: Option<String>,
    /// Project identifier, for one active run a project: it is the session where none is given.
    project_id: Option<String>,
    /// Resume from the last paused run instead of starting fresh.
    #[serde(default)]
    resume: bool,
}

fn load_workflow(ctx: &Ctx<'_>, input: &LoadWorkflow) -> Outcome {
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
        return join_bound(ctx, input, bound);
    }
    let before = find_conflicting(ctx, input)?;
    if let Some(before) = &before
        && (before.state.workflow != input.name
            || before.workflow.hash() != workflow.hash() && !input.resume)
        && ctx.caller.actor.role < Role::Person
    {
        return Err(still_active(ctx, before, &input.name));
    }
    if input.resume {
        let paused = before.as_ref().map(|it| it.run.clone());
        let paused = match paused {
            Some(run) => Some(run),
            None => last_paused(ctx, input)?,
        };
        if let Some(run) = paused {
            return resume(ctx, &run);
        }
    }
    if let Some(before) = &before {
        cancel(ctx, before)?;
    }
    start(ctx, input, before.as_ref())
}

/// Returns the last paused run of the workflow that no other session holds.
fn last_paused(ctx: &Ctx<'_>, input: &LoadWorkflow) -> Result<Option<RunId>, Problem> {
    let project = project(ctx, input);
    let Some(run) = latest_paused(ctx.runs(), &input.name, project.as_deref())? else {
        return Ok(None);
    };
    let holder = ctx.runs().load(&run)?.state.session.clone();
    let session = session(ctx, input);
    let is_own = session.is_none() || holder.is_none() || holder == session;
    Ok(is_own.then_some(run))
}

/// Returns the project of runs: the connection's, else the given one.
fn project(ctx: &Ctx<'_>, input: &LoadWorkflow) -> Option<String> {
    let own = ctx.caller.project.clone();
    own.or_else(|| input.project_id.clone())
}

/// Returns the session of runs.
///
/// Where the client names none, a project that it names within the connection's is one: it tells runs apart, and gives
/// access to none.
fn session(ctx: &Ctx<'_>, input: &LoadWorkflow) -> Option<String> {
    let own = ctx.caller.project.as_ref();
    let within = || {
        let project = input.project_id.clone();
        project.filter(|project| own.is_some_and(|own| own != project))
    };
    input.session_id.clone().or_else(within)
}

/// Joins the run that the caller is bound to as it is, or starts it.
fn join_bound(ctx: &Ctx<'_>, input: &LoadWorkflow, bound: &RunId) -> Outcome {
    let loaded = match ctx.runs().catch_up(bound) {
        Err(RunError::Store(StoreError::NotFound { .. })) => return start(ctx, input, None),
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
        return resume(ctx, bound);
    }
    answer(ctx, &loaded, false, None)
}

/// Finds the session's live run. Those of other sessions aren't in conflict.
fn find_conflicting(ctx: &Ctx<'_>, input: &LoadWorkflow) -> Result<Option<Loaded>, Problem> {
    let project = project(ctx, input);
    let of_project = |head: &Head| project.is_none() || head.summary.project == project;
    let live = target::live_runs(ctx)?.into_iter().filter(of_project);
    let mut live = target::runs_of_session(live.collect(), session(ctx, input).as_deref());
    match live.pop() {
        Some(only) if live.is_empty() => Ok(Some(ctx.runs().catch_up(&only.run)?)),
        Some(last) => {
            live.push(last);
            Err(target::several_live(&live))
        }
        None => Ok(None),
    }
}

/// Returns the problem of a workflow that would replace a live one.
fn still_active(ctx: &Ctx<'_>, live: &Loaded, name: &str) -> Problem {
    let (run, workflow) = (&live.run, &live.state.workflow);
    let leave = match &live.state.session {
        Some(session) => {
            format!(", or leave it with statewright_deactivate(session_id=\"{session}\")")
        }
        None => ", or leave it with statewright_deactivate".to_owned(),
    };
    let leave = to_call(ctx, "statewright_deactivate", &leave);
    let message = if workflow == name {
        format!(
            "'{name}' has changed since run '{run}' of it began, and that one is still active: finish it{leave}, \
             before the new one is loaded."
        )
    } else {
        format!(
            "Run '{run}' of workflow '{workflow}' is still active, and another workflow can't take its place: finish it{leave}, \
             before '{name}' is loaded."
        )
    };
    Problem::new("still_active", message)
}

fn resume(ctx: &Ctx<'_>, run: &RunId) -> Outcome {
    let mut loaded = ctx.runs().catch_up(run)?;
    if loaded.state.status() == Status::Paused {
        loaded = execute(ctx, run, &ContinueRun::default())?.loaded;
    }
    answer(ctx, &loaded, true, None)
}

/// Cancels a run that a new one of its workflow replaces.
fn cancel(ctx: &Ctx<'_>, before: &Loaded) -> Result<(), Problem> {
    let by_person = |it: &Actor| it.role >= Role::Person;
    if before.state.paused_by.as_ref().is_some_and(by_person)
        && ctx.caller.actor.role < Role::Person
    {
        let message = format!(
            "A person has paused run '{}': a person has to continue it before it can start over.",
            before.run
        );
        return Err(Problem::new("not_a_person", message));
    }
    execute(ctx, &before.run, &CancelRun::because("started over")).map(drop)
}

fn start(ctx: &Ctx<'_>, input: &LoadWorkflow, before: Option<&Loaded>) -> Outcome {
    let runs = ctx.runs();
    let run = ctx.new_run_id(None)?;
    let order = ctx.order(run.clone(), None, None)?;
    let start = StartRun {
        workflow: input.name.clone(),
        project: project(ctx, input),
        session: session(ctx, input),
        ..StartRun::default()
    };
    runs.execute(&order, &start)?;
    answer(ctx, &runs.catch_up(&run)?, false, before)
}

fn answer(ctx: &Ctx<'_>, loaded: &Loaded, resumed: bool, before: Option<&Loaded>) -> Outcome {
    let mut answer = describe_state(ctx, &target::innermost_run(ctx, loaded.clone())?)?;
    answer.insert("run_id".to_owned(), json!(loaded.run));
    answer.insert("loaded".to_owned(), json!(true));
    answer.insert("workflow".to_owned(), json!(loaded.state.workflow));
    answer.insert("resumed".to_owned(), json!(resumed));
    if let Some(session) = &loaded.state.session {
        answer.insert("session_id".to_owned(), json!(session));
    }
    if let Some(before) = before {
        answer.insert("cancelled_run_id".to_owned(), json!(before.run));
    }
    Ok(Value::Object(answer))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateWorkflow {
    /// Workflow name (lowercase, hyphens, e.g. data-pipeline).
    name: String,
    /// Full workflow definition.
    definition: Map<String, Value>,
}

fn create_workflow(ctx: &Ctx<'_>, input: &CreateWorkflow) -> Outcome {
    let name = &input.name;
    check_name(name)?;
    let mut definition = input.definition.clone();
    // A workflow is loaded by its machine's id.
    let id = definition.entry("id").or_insert_with(|| json!(name));
    if *id != json!(name) {
        let message = format!(
            "Invalid workflow '{name}': its definition's `id` is {id}; make both the same."
        );
        return Err(Problem::new("invalid_arguments", message));
    }
    let text = definition_text(&definition);
    let new = NewSpec {
        name,
        text: &text,
        is_definition: true,
        overwrite: false,
        is_draft: false,
    };
    let created = create_spec(ctx, new).map_err(|problem| invalid(name, problem))?;
    Ok(json!({
        "created": true,
        "name": created.id,
        "path": created.path,
        "unchanged": created.unchanged,
    }))
}

/// Checks that a name is as Statewright's workflows are called.
fn check_name(name: &str) -> Result<(), Problem> {
    let is_fine = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let mut parts = name.split('-');
    if parts.all(|part| !part.is_empty() && part.chars().all(is_fine)) {
        return Ok(());
    }
    let message = format!(
        "Invalid workflow name '{name}': write lowercase letters and digits with hyphens between, such as data-pipeline."
    );
    Err(Problem::new("invalid_arguments", message))
}

/// Adds a problem's findings to its message: Statewright's errors have nothing else.
fn invalid(name: &str, mut problem: Problem) -> Problem {
    match problem.code.as_str() {
        "exists" => {
            problem.message = format!(
                "Workflow '{name}' exists already, and this tool replaces none: load it, or choose another name. A person \
                 changes it in its file."
            );
            return problem;
        }
        "has_errors" => {
            "its definition has errors, and nothing was written:".clone_into(&mut problem.message)
        }
        _ => {}
    }
    let found = problem.details.pointer("/findings/diagnostics");
    let found = found.and_then(Value::as_array).into_iter().flatten();
    let lines = found.take(MAX_FINDINGS).map(|finding| {
        let text = |key| finding.get(key).and_then(Value::as_str);
        let word = |key| text(key).unwrap_or_default();
        let mut line = format!(
            "\n- {} {}: {}",
            word("severity"),
            word("code"),
            word("message")
        );
        for key in ["notes", "help"] {
            let all = finding.get(key).and_then(Value::as_array);
            let all = all.into_iter().flatten().filter_map(Value::as_str);
            line.extend(all.map(|text| format!("; {text}")));
        }
        line
    });
    let lines: String = lines.collect();
    problem.message = format!("Invalid workflow '{name}': {}{lines}", problem.message);
    problem
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchDocs {
    /// Search query (e.g. guard operators, allowed_tools, approval gate).
    query: String,
}

fn search_docs(ctx: &Ctx<'_>, input: &SearchDocs) -> Outcome {
    let found = ctx.docs().query(&input.query, 0, MAX_SNIPPETS)?;
    let results = found
        .hits
        .iter()
        .map(|hit| json!({"title": hit.title, "uri": hit.uri, "snippet": hit.snippet}));
    let results: Vec<Value> = bounds::take_fitting(results.collect(), bounds::MAX_REPLY);
    Ok(json!({"query": input.query, "results": results}))
}
