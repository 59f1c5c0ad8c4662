//! The profile of rstn.
//!
//! Answers are texts, with JSON in them where the document has fields. Errors are sentences that begin with `Error: `, apart
//! from those that the document gives word for word. rstn's app is the server here: its workflows, and the runs of the
//! caller's project.
//!
//! `rstn.md` says where this departs from the document, and why: users read it, too.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::{RequestKind, StepStatus};
use statemark_runs::policy::Gating;
use statemark_runs::{Advance, Loaded, OpenRequest, Reason, Report, Status, StepView, explain};
use statemark_tools::project::{self, Feature, Files, checks, current_project};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Set, Tool, target};

use crate::{SESSION, execute, start};

/// The set of these tools.
pub(super) const SET: Set = Set::Profile("rstn");

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "rstn_get_app_state",
            title: "Get the app's state",
            description: "Get the complete state as JSON: commands, active workflows, status, answers of the user.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("get_run"),
            run: get_app_state,
        }),
        tool(&ProfileTool {
            name: "rstn_report_status",
            title: "Report the status",
            description: "Report task status: needs_input (asks the user), completed, or error.",
            annotations: Annotations::ADDITIVE,
            output: "",
            equivalent: Some("send_event"),
            run: report_status,
        }),
        // What only reads is always there, as the document says: these two have no equivalent that a state restricts.
        tool(&ProfileTool {
            name: "rstn_read_spec",
            title: "Read a spec artifact",
            description: "Read a spec artifact of the current feature.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: None,
            run: read_spec,
        })
        .gated_by(Gating::Free),
        tool(&ProfileTool {
            name: "rstn_get_context",
            title: "Get the context",
            description: "Get current feature context and metadata: number, name, branch, phase, spec folder.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: None,
            run: get_context,
        })
        .gated_by(Gating::Free),
        tool(&ProfileTool {
            name: "rstn_complete_task",
            title: "Complete a task",
            description: "Mark a task as complete in the feature's tasks.md.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("complete_task"),
            run: complete_task,
        })
        .without_run(),
        tool(&ProfileTool {
            name: "rstn_run_hook",
            title: "Run a hook",
            description: "Run a project-configured hook command, such as lint, test or format.",
            annotations: Annotations::ADDITIVE,
            output: "",
            equivalent: Some("run_check"),
            run: run_hook,
        })
        .without_run(),
    ]
}

/// Creates a tool of this profile.
fn tool<I: DeserializeOwned + JsonSchema + 'static>(tool: &ProfileTool<I>) -> Tool {
    Tool::profile(SET, shape, tool)
}

/// Gives errors the shape of rstn's.
fn shape(outcome: Outcome) -> (Value, bool) {
    let problem = match outcome {
        Ok(answer) => return (answer, false),
        Err(problem) => problem,
    };
    if problem.code == VERBATIM {
        return (Value::String(problem.message), true);
    }
    let (_, missing) = problem
        .message
        .split_once("missing argument `")
        .unwrap_or_default();
    let text = match missing.split_once('`') {
        Some((name, _)) if problem.code == "invalid_arguments" => {
            format!("Error: Missing '{name}' field")
        }
        _ => format!("Error: {}", problem.message),
    };
    (Value::String(text), true)
}

/// The code of errors whose whole text the document gives.
const VERBATIM: &str = "rstn";

/// Creates an error that the document gives word for word.
fn verbatim(message: String) -> Problem {
    Problem::new(VERBATIM, message)
}

/// Returns the run to report on: the named one, else the session's. Begins one where none is live.
fn run_to_report_on(ctx: &Ctx<'_>, named: Option<&str>) -> Result<Loaded, Problem> {
    let found = match named {
        Some(_) => target::innermost_run(ctx, ctx.load_run(named)?)?,
        None => match target::driven_run(ctx, None).map_err(name_by_run_id)? {
            Some(found) if !found.state.status().is_over() => found,
            Some(ended) if ctx.bound_run().is_some() => ended,
            _ => ctx.runs().catch_up(&start(ctx, SESSION)?)?,
        },
    };
    Ok(found)
}

/// Says how one of several live runs is named here.
fn name_by_run_id(mut problem: Problem) -> Problem {
    let runs = problem.details.get("runs").and_then(Value::as_array);
    if let Some(runs) = runs.filter(|_| problem.code == "several_runs") {
        let ids = runs.iter().filter_map(|it| it.get("run_id")?.as_str());
        let ids: Vec<String> = ids.map(|id| format!("`{id}`")).collect();
        problem.message = format!(
            "several runs are live: name the one that you report on with `run_id`: {}",
            ids.join(", ")
        );
    }
    problem
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoInput {}

fn get_app_state(ctx: &Ctx<'_>, _: &NoInput) -> Outcome {
    let runs = ctx.runs();
    let commands = ctx.catalog().ids();
    let mut active = Map::new();
    for head in target::live_runs(ctx)? {
        let loaded = runs.catch_up(&head.run)?;
        active.insert(head.run.to_string(), describe_run(&loaded)?);
    }
    // Of several live runs, the one that changed last is selected.
    let selected = match target::session_run(ctx, None) {
        Ok(found) => found,
        Err(problem) if problem.code == "several_runs" => match target::live_runs(ctx)?.first() {
            Some(last) => Some(runs.catch_up(&last.run)?),
            None => None,
        },
        Err(problem) => return Err(problem),
    };
    let first = (!commands.is_empty()).then_some(0);
    let index = selected.as_ref().map_or(first, |run| {
        let mut commands = commands.iter();
        commands.position(|command| *command == run.state.workflow)
    });
    let message = match &selected {
        Some(loaded) => status_message(loaded)?,
        None => "Ready".to_owned(),
    };
    let root = ctx.catalog().project()?.map(|it| it.root);
    Ok(json!({
        "running": true,
        "current_view": "worktree",
        "project_root": root,
        "worktree_view": {
            "commands": commands,
            "selected_command_index": index,
            "workflow_output": selected.as_ref().map_or_else(String::new, last_reports),
            "status_message": message,
        },
        "active_workflows": active,
        // The answers to `needs_input` outlast their run.
        "requests": selected.as_ref().map_or_else(Vec::new, requests),
    }))
}

/// Describes the requests of a run, with their answers.
fn requests(loaded: &Loaded) -> Vec<Value> {
    let requests = loaded.state.requests.values().map(|request| {
        let resolved = request.resolved.as_ref().map(|(resolved, ..)| resolved);
        json!({
            "request_id": request.opened.request,
            "prompt": request.opened.prompt,
            "status": resolved.map_or("open", |it| it.resolution.name()),
            "answer": resolved.and_then(|it| it.value.clone()),
            "comment": resolved.and_then(|it| it.comment.clone()),
        })
    });
    requests.collect()
}

fn describe_run(loaded: &Loaded) -> Outcome {
    let view = loaded.view()?;
    let instructions = view.active.iter().filter_map(|it| it.instructions.clone());
    let instructions: Vec<String> = instructions.collect();
    Ok(json!({
        "workflow": loaded.state.workflow,
        "title": view.title,
        "status": view.status,
        "states": loaded.state.leaves,
        "instructions": instructions,
        "events": loaded.legality().enabled_events(),
        "requests": requests(loaded),
    }))
}

/// Returns the last report on each step, a line each.
fn last_reports(loaded: &Loaded) -> String {
    let Ok(view) = loaded.view() else {
        return String::new();
    };
    let begun = |step: &&StepView| step.status != StepStatus::NotStarted;
    let lines = view.steps.iter().filter(begun).map(|step| {
        let message = step.message.as_ref();
        let message = message.map_or_else(String::new, |it| format!(": {it}"));
        format!("{} {}{message}\n", step.step, step.status.name())
    });
    lines.collect()
}

/// Returns what the status bar says of a run: its last report, what it waits for, or that it is ready.
fn status_message(loaded: &Loaded) -> Result<String, Problem> {
    let state = &loaded.state;
    let status = state.status();
    if matches!(status, Status::Waiting | Status::Paused) {
        let explanation = explain(loaded, None)?;
        let first = explanation.reasons.first().map(Reason::text);
        return Ok(match first {
            Some(first) => format!("{}: {first}", status.name()),
            None => status.name().to_owned(),
        });
    }
    if status == Status::Cancelled {
        return Ok(status.name().to_owned());
    }
    let reported = state.steps.iter().filter_map(|(step, units)| {
        let report = units.get("")?;
        let entered = state.visits.get(step).map_or(0, |it| it.entered);
        (report.seq >= entered).then_some((step, report))
    });
    let last = reported.max_by_key(|(_, report)| report.seq);
    Ok(match last {
        Some((step, report)) if report.status == StepStatus::Failed => {
            let what = report.message.as_deref().unwrap_or("it failed");
            format!("Error in {step}: {what}")
        }
        Some((step, report)) if report.status == StepStatus::Completed => {
            format!("Completed: {step}")
        }
        _ if status.is_over() => status.name().to_owned(),
        _ => "Ready".to_owned(),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReportStatus {
    /// Current task status.
    status: TaskStatus,
    /// Prompt to show the user, for needs_input.
    prompt: Option<String>,
    /// Error message, for error.
    message: Option<String>,
    /// The run, if several are live.
    run_id: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TaskStatus {
    NeedsInput,
    Completed,
    Error,
}

fn report_status(ctx: &Ctx<'_>, input: &ReportStatus) -> Outcome {
    let (status, word) = match input.status {
        TaskStatus::NeedsInput => return ask_user(ctx, input),
        TaskStatus::Completed => (StepStatus::Completed, "completed"),
        TaskStatus::Error => (StepStatus::Failed, "error"),
    };
    let before = run_to_report_on(ctx, input.run_id.as_deref())?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let mut advance = Advance::new(Report::Status {
        status,
        message: input.message.clone(),
        data: Value::Null,
    });
    // Nothing comes after the report on a session.
    advance.close = before.state.workflow == SESSION;
    let advanced = ctx.runs().execute(&order, &advance)?;
    // A refused transition doesn't undo the report.
    match (advanced.refused, advanced.step) {
        (Some(refused), None) => Err(Problem::refused(&refused)),
        _ => Ok(json!(format!("Status '{word}' reported successfully"))),
    }
}

fn ask_user(ctx: &Ctx<'_>, input: &ReportStatus) -> Outcome {
    let loaded = run_to_report_on(ctx, input.run_id.as_deref())?;
    let prompt = input.prompt.clone().unwrap_or_else(|| {
        let steps = loaded.state.leaves.join(", ");
        format!("The work on `{steps}` needs your input.")
    });
    let ask = OpenRequest::new(RequestKind::Text, prompt);
    let written = execute(ctx, &loaded.run, &ask)?;
    let opened = written.opened();
    let request = opened.map_or("", |opened| opened.request.as_str());
    Ok(json!(format!(
        "Status 'needs_input' reported successfully. The answer will appear in rstn_get_app_state, under request {request}"
    )))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadSpec {
    /// Artifact to read.
    artifact: Artifact,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
enum Artifact {
    Spec,
    Plan,
    Tasks,
    Checklist,
    Analysis,
}

fn read_spec(ctx: &Ctx<'_>, input: &ReadSpec) -> Outcome {
    let word = json!(input.artifact);
    let word = word.as_str().unwrap_or_default();
    let files = Files::open(&current_project(ctx)?)?;
    let feature = Feature::read_from(&files);
    let path = feature.document(word).filter(|path| files.is_file(path));
    let Some(path) = path else {
        let context = feature.feature_number.zip(feature.feature_name);
        let context = context.map(|(number, name)| format!("{number}-{name}"));
        let context = context.unwrap_or_else(|| "None".to_owned());
        let message = format!("Artifact '{word}' not found. Feature context: {context}");
        return Err(verbatim(message));
    };
    Ok(json!(files.read(&path)?))
}

fn get_context(ctx: &Ctx<'_>, _: &NoInput) -> Outcome {
    let feature = Feature::read_from(&Files::open(&current_project(ctx)?)?);
    if feature.feature_number.is_none() {
        return Ok(json!(Feature::default()));
    }
    Ok(json!(feature))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompleteTask {
    /// Task ID (e.g. T001).
    task_id: String,
    /// Skip validation checks.
    #[serde(default)]
    skip_validation: bool,
    /// The run that it is for; may be left out.
    #[expect(dead_code, reason = "policy reads it before the tool is called")]
    run_id: Option<String>,
}

fn complete_task(ctx: &Ctx<'_>, input: &CompleteTask) -> Outcome {
    let id = &input.task_id;
    let completed = project::complete_task(ctx, id, input.skip_validation);
    let (_, completed) = completed.map_err(|problem| match problem.code.as_str() {
        "unknown_task" => verbatim(format!("Task {id} not found")),
        "no_tasks" => verbatim("No task list loaded".to_owned()),
        "no_feature" => verbatim("No feature context".to_owned()),
        _ => problem,
    })?;
    let tasks = completed.tasks;
    Ok(json!(format!(
        "Task {id} marked for completion. {}/{} tasks complete",
        tasks.done, tasks.total
    )))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunHook {
    /// Name of the hook (e.g. lint, test, format).
    hook_name: String,
    /// Additional arguments to pass to the hook.
    #[serde(default)]
    args: Vec<String>,
    /// The run that remembers it; may be left out.
    run_id: Option<String>,
}

fn run_hook(ctx: &Ctx<'_>, input: &RunHook) -> Outcome {
    let name = &input.hook_name;
    let request = checks::Request {
        name,
        args: &input.args,
        run: input.run_id.as_deref(),
        expected_seq: None,
        idempotency_key: None,
    };
    let outcome = match checks::run_check(ctx, &request) {
        // It needs no run: where several could remember it, none does.
        Err(problem) if problem.code == "several_runs" => checks::run_alone(ctx, &request),
        outcome => outcome,
    };
    let outcome = outcome.map_err(|problem| map_unknown_hook(name, problem))?;
    let Some(ran) = outcome.ran else {
        let refused = outcome.written.as_ref().and_then(|it| it.refusal());
        return Err(match refused {
            Some(refused) => Problem::refused(refused),
            None => Problem::new("not_run", format!("'{name}' wasn't run")),
        });
    };
    // A program that couldn't be started has written nothing itself.
    let problem = ran.problem.map_or_else(String::new, |it| it.to_string());
    let stderr = format!("{}{problem}", ran.stderr);
    Ok(json!({
        "hook_name": name,
        "exit_code": ran.exit_code.map_or(-1, i64::from),
        "stdout": ran.stdout,
        "stderr": stderr,
        "duration_secs": Duration::from_millis(ran.milliseconds).as_secs_f64(),
    }))
}

/// Describes an unknown hook as rstn does.
fn map_unknown_hook(name: &str, problem: Problem) -> Problem {
    if problem.code != "unknown_check" {
        return problem;
    }
    let known = problem.details.get("known").and_then(Value::as_array);
    let known = known.into_iter().flatten().filter_map(Value::as_str);
    let known: Vec<&str> = known.collect();
    verbatim(format!(
        "Hook not found: {name}. Available: {}",
        known.join(", ")
    ))
}
