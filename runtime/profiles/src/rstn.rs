//! The profile of rstn.
//!
//! Answers are texts, with JSON in them where the document has fields. Errors are sentences; those about arguments begin
//! with `Error: `. rstn's app is the server here: its workflows, and the runs of the caller's project.
//!
//! `rstn.md` says where this departs from the document, and why: users read it, too.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::{RequestKind, StepStatus};
use statemark_runs::{Advance, Loaded, OpenRequest, Reason, Report, Status, explain};
use statemark_tools::project::{self, Feature, Files, checks, current_project};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Set, Tool, target};

use crate::execute;

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
        tool(&ProfileTool {
            name: "rstn_read_spec",
            title: "Read a spec artifact",
            description: "Read a spec artifact of the current feature.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("read_document"),
            run: read_spec,
        }),
        tool(&ProfileTool {
            name: "rstn_get_context",
            title: "Get the context",
            description: "Get current feature context and metadata: number, name, branch, phase, spec folder.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("get_project_context"),
            run: get_context,
        }),
        tool(&ProfileTool {
            name: "rstn_complete_task",
            title: "Complete a task",
            description: "Mark a task as complete in the feature's tasks.md.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("complete_task"),
            run: complete_task,
        }),
        tool(&ProfileTool {
            name: "rstn_run_hook",
            title: "Run a hook",
            description: "Run a project-configured hook command, such as lint, test or format.",
            annotations: Annotations::ADDITIVE,
            output: "",
            equivalent: Some("run_check"),
            run: run_hook,
        }),
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
    if problem.code != "invalid_arguments" {
        return (Value::String(problem.message), true);
    }
    let (_, missing) = problem
        .message
        .split_once("missing argument `")
        .unwrap_or_default();
    let text = match missing.split_once('`') {
        Some((name, _)) => format!("Error: Missing '{name}' field"),
        None => format!("Error: {}", problem.message),
    };
    (Value::String(text), true)
}

/// Returns the run to be driven, or the problem that there is none.
fn driven(ctx: &Ctx<'_>) -> Result<Loaded, Problem> {
    target::driven_run(ctx, None)?.ok_or_else(|| {
        let known = ctx.catalog().ids().join(", ");
        let message = format!(
            "no run is active: start one of {known} with `statemark start`, or with `start_run` of the set `runs`"
        );
        Problem::new("no_run", message)
    })
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
    // Of several live runs, none is selected.
    let selected = match target::session_run(ctx, None) {
        Ok(found) => found,
        Err(problem) if problem.code == "several_runs" => None,
        Err(problem) => return Err(problem),
    };
    let index = selected.as_ref().and_then(|run| {
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
    }))
}

fn describe_run(loaded: &Loaded) -> Outcome {
    let view = loaded.view()?;
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
    let requests: Vec<Value> = requests.collect();
    let instructions = view.active.iter().filter_map(|it| it.instructions.clone());
    let instructions: Vec<String> = instructions.collect();
    Ok(json!({
        "workflow": loaded.state.workflow,
        "title": view.title,
        "status": view.status,
        "states": loaded.state.leaves,
        "instructions": instructions,
        "events": loaded.legality().enabled_events(),
        "requests": requests,
    }))
}

/// Returns the last report on each step, a line each.
fn last_reports(loaded: &Loaded) -> String {
    let Ok(view) = loaded.view() else {
        return String::new();
    };
    let lines = view.steps.iter().map(|step| {
        let message = step.message.as_ref();
        let message = message.map_or_else(String::new, |it| format!(": {it}"));
        format!("{} {}{message}\n", step.step, step.status.name())
    });
    lines.collect()
}

fn status_message(loaded: &Loaded) -> Result<String, Problem> {
    let status = loaded.state.status();
    if status == Status::Running {
        return Ok("Ready".to_owned());
    }
    let explanation = explain(loaded, None)?;
    let first = explanation.reasons.first().map(Reason::text);
    Ok(match first {
        Some(first) => format!("{}: {first}", status.name()),
        None => status.name().to_owned(),
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
    let before = driven(ctx)?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let advance = Advance::new(Report::Status {
        status,
        message: input.message.clone(),
        data: Value::Null,
    });
    let advanced = ctx.runs().execute(&order, &advance)?;
    // A refused transition doesn't undo the report.
    match (advanced.refused, advanced.step) {
        (Some(refused), None) => Err(Problem::refused(&refused)),
        _ => Ok(json!(format!("Status '{word}' reported successfully"))),
    }
}

fn ask_user(ctx: &Ctx<'_>, input: &ReportStatus) -> Outcome {
    let Some(prompt) = &input.prompt else {
        let message = "Missing 'prompt' field: say what is wanted of the user";
        return Err(Problem::new("invalid_arguments", message));
    };
    let ask = OpenRequest::new(RequestKind::Text, prompt.clone());
    let written = execute(ctx, &driven(ctx)?.run, &ask)?;
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
        return Err(Problem::new("not_found", message));
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
}

fn complete_task(ctx: &Ctx<'_>, input: &CompleteTask) -> Outcome {
    let id = &input.task_id;
    let completed = project::complete_task(ctx, id, input.skip_validation);
    let (_, completed) = completed.map_err(|mut problem| {
        problem.message = match problem.code.as_str() {
            "unknown_task" => format!("Task {id} not found"),
            "no_tasks" => "No task list loaded".to_owned(),
            "no_feature" => "No feature context".to_owned(),
            _ => problem.message,
        };
        problem
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
}

fn run_hook(ctx: &Ctx<'_>, input: &RunHook) -> Outcome {
    let name = &input.hook_name;
    let request = checks::Request {
        name,
        args: &input.args,
        run: None,
        expected_seq: None,
        idempotency_key: None,
    };
    let outcome = checks::run_check(ctx, &request);
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
fn map_unknown_hook(name: &str, mut problem: Problem) -> Problem {
    if problem.code == "unknown_check" {
        let known = problem.details.get("known").and_then(Value::as_array);
        let known = known.into_iter().flatten().filter_map(Value::as_str);
        let known: Vec<&str> = known.collect();
        problem.message = format!("Hook not found: {name}. Available: {}", known.join(", "));
    }
    problem
}
