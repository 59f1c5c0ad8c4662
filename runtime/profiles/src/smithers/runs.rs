//! Tools for workflows and runs: list, start, look, wait, explain.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::RequestKind;
use statemark_runs::runs::TakeCheckpoint;
use statemark_runs::state::Request;
use statemark_runs::{
    Blocker, ContinueRun, Loaded, MAX_PAGE, Query, Reason, Remedy, RunId, StartRun, Status,
    StoreError, explain, fire_all_due,
};
use statemark_tools::envelope::set_field;
use statemark_tools::lookup::{broken_spec, missing_workflow};
use statemark_tools::{Ctx, Outcome, Problem, ProfileTool, Spec, Tool, Work};

use super::nodes::{self, Nodes, Visit};
use super::summary::{self, Summarizer};
use super::travel::{self, Target};
use super::{MAX_WAIT, REACHING, READ_ONLY, RunInput, count, invalid, is_approval, requests, tool};
use crate::execute;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "list_workflows",
            title: "List workflows",
            description: "The workflows that runs can be started of; `id` is the `workflowId` of `run_workflow`.",
            annotations: READ_ONLY,
            output: "workflows: array",
            equivalent: Some("list_workflows"),
            run: list_workflows,
        }),
        tool(&ProfileTool {
            name: "run_workflow",
            title: "Run a workflow",
            description: "Starts a run of a workflow or continues one. It waits for its agent: nothing is executed here.",
            annotations: REACHING,
            output: "workflow: object, runId: string, launchMode: string, requestedResume: boolean, status: string, observedRun, result",
            equivalent: Some("start_run"),
            run: run_workflow,
        })
        .judged_with("force", "rewind_run"),
        tool(&ProfileTool {
            name: "list_runs",
            title: "List runs",
            description: "Recent runs, each in short.",
            annotations: READ_ONLY,
            output: "runs: array",
            equivalent: Some("list_runs"),
            run: list_runs,
        }),
        tool(&ProfileTool {
            name: "get_run",
            title: "Get a run",
            description: "A run with its steps, approvals, loops, lineage, configuration and error.",
            annotations: READ_ONLY,
            output: "run: object",
            equivalent: Some("get_run"),
            run: get_run,
        }),
        tool(&ProfileTool {
            name: "watch_run",
            title: "Watch a run",
            description: "Waits until a run ends or the time is up. `timedOut` says that the run continues: call again.",
            annotations: READ_ONLY,
            output: "runId: string, intervalMs: integer, pollCount: integer, reachedTerminal: boolean, timedOut: boolean, finalRun: object, snapshots: array",
            equivalent: Some("wait_run"),
            run: watch_run,
        }),
        tool(&ProfileTool {
            name: "explain_run",
            title: "Explain a run",
            description: "The reasons why a run is blocked or waits, each with the call that removes it.",
            annotations: READ_ONLY,
            output: "diagnosis: object",
            equivalent: Some("explain_run"),
            run: explain_run,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NoInput {}

fn list_workflows(ctx: &Ctx<'_>, _: &NoInput) -> Outcome {
    let mut specs = ctx.catalog().specs();
    specs.sort_by(|a, b| a.id.cmp(&b.id));
    let specs = specs.iter().map(|spec| describe_spec(ctx, spec));
    Ok(json!({"workflows": specs.collect::<Vec<Value>>()}))
}

/// Returns the words of a definition's `meta` under a key, such as its `tags`.
fn words(ctx: &Ctx<'_>, id: &str, key: &str) -> Vec<String> {
    let workflow = ctx.catalog().find(id);
    let meta = workflow.as_ref().and_then(|it| it.meta().get("meta"));
    let words = meta.and_then(|it| it.get(key)?.as_array());
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    words.map(str::to_owned).collect()
}

fn describe_spec(ctx: &Ctx<'_>, spec: &Spec) -> Value {
    json!({
        "id": spec.id,
        "metadataVersion": 1,
        "displayName": spec.title.as_ref().unwrap_or(&spec.id),
        "scope": if spec.global { "global" } else { "local" },
        "entryFile": spec.source,
        "path": spec.source,
        "sourceType": "user",
        "description": spec.description.clone().unwrap_or_default(),
        "tags": words(ctx, &spec.id, "tags"),
        "aliases": words(ctx, &spec.id, "aliases"),
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunWorkflow {
    /// The workflow, by its id in `list_workflows`.
    workflow_id: String,
    /// The run's input.
    input: Option<Map<String, Value>>,
    /// Short for an `input` with nothing but `prompt`.
    prompt: Option<String>,
    /// The run's id; by default one that nobody can guess.
    run_id: Option<String>,
    /// Continue a run; needs `runId`.
    #[serde(default)]
    resume: bool,
    /// Take an existing run back to its beginning.
    #[serde(default)]
    force: bool,
    /// Wait until the run ends, or waits for a person: needs an executor, unless it has ended.
    #[serde(default)]
    wait_for_terminal: bool,
    /// Time to wait for a run in the background to appear: it appears at once.
    #[schemars(extend("default" = 1000))]
    wait_for_start_ms: Option<u64>,
    /// Of another engine: ignored.
    max_concurrency: Option<u64>,
    /// Of another engine: ignored.
    root_dir: Option<String>,
    /// Of another engine: ignored.
    log_dir: Option<String>,
    /// Of another engine: ignored.
    #[schemars(extend("default" = false))]
    allow_network: Option<bool>,
    /// Of another engine: ignored.
    max_output_bytes: Option<u64>,
    /// Of another engine: ignored.
    tool_timeout_ms: Option<u64>,
    /// Of another engine: ignored.
    #[schemars(extend("default" = false))]
    hot: Option<bool>,
    /// With `force`: leave irreversible effects.
    #[serde(default)]
    confirm: bool,
}

impl RunWorkflow {
    /// Returns the input that a new run gets.
    fn run_input(&self) -> Value {
        match (&self.input, &self.prompt) {
            (Some(input), _) => json!(input),
            (None, Some(prompt)) => json!({"prompt": prompt}),
            (None, None) => json!({}),
        }
    }

    /// Lists the given options that only an executor obeys.
    fn ignored(&self) -> Vec<&'static str> {
        let options = [
            ("maxConcurrency", self.max_concurrency.is_some()),
            ("rootDir", self.root_dir.is_some()),
            ("logDir", self.log_dir.is_some()),
            ("allowNetwork", self.allow_network.is_some()),
            ("maxOutputBytes", self.max_output_bytes.is_some()),
            ("toolTimeoutMs", self.tool_timeout_ms.is_some()),
            ("hot", self.hot.is_some()),
            ("waitForStartMs", self.wait_for_start_ms.is_some()),
        ];
        let given = options.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(name, _)| name).collect()
    }
}

fn run_workflow(ctx: &Ctx<'_>, input: &RunWorkflow) -> Outcome {
    let spec = find_spec(ctx, &input.workflow_id)?;
    let waited = input.wait_for_terminal;
    let loaded = match find_existing(ctx, input)? {
        None if waited && ctx.executor().is_none() => return Err(no_executor(None)),
        None => start(ctx, &spec.id, input)?,
        Some(loaded) => continue_run(ctx, &spec.id, input, loaded)?,
    };
    let launched = Launched {
        workflow: describe_spec(ctx, &spec),
        waited,
        resume: input.resume,
        ignored: input.ignored(),
    };
    if !waited || summary::is_terminal(&loaded) {
        return launched.answer(ctx, &loaded);
    }
    let Some(executor) = ctx.executor() else {
        return Err(no_executor(Some(&loaded)));
    };
    // A run that waits for a person is as far as it comes without one: its status says so.
    Err(
        ctx.work(executor, Work::on(loaded.run.clone()), move |ctx, _| {
            launched.answer(ctx, &ctx.runs().catch_up(&loaded.run)?)
        }),
    )
}

/// A run that was launched, as far as its answer doesn't depend on how far it is.
struct Launched {
    workflow: Value,
    waited: bool,
    resume: bool,
    ignored: Vec<&'static str>,
}

impl Launched {
    fn answer(&self, ctx: &Ctx<'_>, loaded: &Loaded) -> Outcome {
        let status = summary::status(loaded)?;
        Ok(json!({
            "workflow": self.workflow,
            "runId": loaded.run,
            "launchMode": if self.waited { "waited" } else { "background" },
            "requestedResume": self.resume,
            "status": status,
            "observedRun": Summarizer::new(ctx).summarize(ctx, loaded)?,
            "result": self.waited.then(|| result(loaded, status)),
            "ignored": self.ignored,
        }))
    }
}

/// Finds a spec by its id, or by one of its aliases.
fn find_spec(ctx: &Ctx<'_>, id: &str) -> Result<Spec, Problem> {
    let catalog = ctx.catalog();
    let specs = catalog.specs();
    let is_alias = |spec: &&Spec| words(ctx, &spec.id, "aliases").iter().any(|it| it == id);
    let found = specs.iter().find(|spec| spec.id == id);
    if let Some(spec) = found.or_else(|| specs.iter().find(is_alias)) {
        return Ok(spec.clone());
    }
    if let Some(findings) = broken_spec(catalog, id) {
        let message = format!(
            "`{id}` has errors, and defines no workflow before they are mended: `statemark lint` lists them"
        );
        let details = json!({"known": catalog.ids(), "findings": findings});
        return Err(Problem::new("RUN_NOT_FOUND", message).with(details));
    }
    if catalog.lacks_machine(id) {
        let message = format!("the document `{id}` has no machine to run");
        return Err(Problem::new("WORKFLOW_MISSING_DEFAULT", message));
    }
    Err(missing_workflow(catalog, id))
}

/// Finds the run that the call names, if it exists.
fn find_existing(ctx: &Ctx<'_>, input: &RunWorkflow) -> Result<Option<Loaded>, Problem> {
    if input.run_id.is_none() && ctx.bound_run().is_none() {
        if input.resume {
            return Err(invalid("`resume` needs the `runId` of the run to continue"));
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

fn start(ctx: &Ctx<'_>, workflow: &str, input: &RunWorkflow) -> Result<Loaded, Problem> {
    let run = ctx.new_run_id(input.run_id.as_deref())?;
    let order = ctx.order(run, None, None)?;
    let start = StartRun {
        workflow: workflow.to_owned(),
        input: input.run_input(),
        project: ctx.caller.project.clone(),
        ..StartRun::default()
    };
    let loaded = ctx.runs().execute(&order, &start)?.loaded;
    match save_files(ctx, &loaded.run) {
        Some(saved) => Ok(saved),
        None => Ok(loaded),
    }
}

/// Saves the files of the project as a run begins, if they are in a git repository.
///
/// A run doesn't fail for want of them.
fn save_files(ctx: &Ctx<'_>, run: &RunId) -> Option<Loaded> {
    let checkpoint = TakeCheckpoint {
        folder: ctx.catalog().project().ok()??.root,
        name: None,
        reason: Some("the files as the run began".to_owned()),
    };
    Some(execute(ctx, run, &checkpoint).ok()?.loaded)
}

/// Continues an existing run, or takes it back to its beginning.
fn continue_run(
    ctx: &Ctx<'_>,
    workflow: &str,
    input: &RunWorkflow,
    loaded: Loaded,
) -> Result<Loaded, Problem> {
    let run = &loaded.run;
    if loaded.state.workflow != workflow {
        let message = format!("run `{run}` is of `{}`", loaded.state.workflow);
        return Err(invalid(message));
    }
    if input.resume {
        return if loaded.state.status() == Status::Paused {
            Ok(execute(ctx, run, &ContinueRun::default())?.loaded)
        } else {
            Ok(loaded)
        };
    }
    let may_start = ctx.check_may_start().is_ok();
    if !input.force {
        let options = if may_start {
            "`resume` it, `force` it back to its beginning, or leave `runId` out"
        } else {
            "`resume` it, or `force` it back to its beginning"
        };
        let message = format!("there is a run `{run}` already: {options}");
        return Err(invalid(message));
    }
    let before = loaded.state.input.as_object().cloned().unwrap_or_default();
    let is_given = input.input.is_some() || input.prompt.is_some();
    if is_given && json!(before) != input.run_input() {
        let option = if may_start {
            "leave `runId` out to start another run"
        } else {
            "leave `input` and `prompt` out to go back to its beginning"
        };
        let message = format!(
            "run `{run}` began with another input, and its journal isn't overwritten: {option}"
        );
        return Err(invalid(message));
    }
    let first = travel::end_of_append(ctx, run, 1)?;
    if first == loaded.head.seq {
        return Ok(loaded);
    }
    let target = Target {
        seq: first,
        with_files: false,
        confirm: input.confirm,
    };
    Ok(travel::rewind(ctx, &loaded, &target)?.loaded)
}

fn no_executor(loaded: Option<&Loaded>) -> Problem {
    let message = "no executor is configured that would carry the run to its end: leave `waitForTerminal` out, and it waits for its agent";
    let run = loaded.map(|it| &it.run);
    Problem::new("EXECUTOR_UNAVAILABLE", message).with(json!({"runId": run}))
}

/// Returns the result of a run that has ended.
fn result(loaded: &Loaded, status: &str) -> Value {
    let mut result = json!({"runId": loaded.run, "status": status});
    let (key, value) = if loaded.state.status() == Status::Completed {
        ("output", json!(loaded.state.context))
    } else {
        ("error", error(loaded))
    };
    set_field(&mut result, key, value);
    result
}

/// Returns the reason why a run has ended badly.
fn error(loaded: &Loaded) -> Value {
    let state = &loaded.state;
    let message = match state.status() {
        Status::Cancelled => {
            let reason = state.cancelled.clone().filter(|it| !it.is_empty());
            let by = state.cancelled_by.as_ref();
            let by = by.map_or_else(String::new, |by| format!(" by {by}"));
            reason.unwrap_or_else(|| format!("it was cancelled{by}"))
        }
        Status::Failed => format!("it has ended badly, in {}", state.leaves.join(", ")),
        _ => return Value::Null,
    };
    json!({"message": message})
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListRuns {
    /// Most runs to return.
    #[schemars(range(min = 1, max = 200), extend("default" = 20))]
    limit: Option<u64>,
    /// Only runs with this status, such as `running`, `finished`, `failed`.
    status: Option<String>,
}

fn list_runs(ctx: &Ctx<'_>, input: &ListRuns) -> Outcome {
    let limit = input.limit.unwrap_or(20);
    if !(1..=200).contains(&limit) {
        return Err(invalid(format!("`limit`: {limit} isn't from 1 to 200")));
    }
    let statuses = map_status(input.status.as_deref())?;
    let summarizer = Summarizer::new(ctx);
    let runs = ctx.runs();
    if ctx.bound_run().is_none() {
        // Overdue timers would change the statuses.
        fire_all_due(runs)?;
    }
    let Some(statuses) = statuses else {
        return Ok(json!({"runs": []}));
    };
    let mut query = Query {
        statuses,
        project: ctx.caller.project.clone(),
        limit: MAX_PAGE,
        ..Query::default()
    };
    let mut found = Vec::new();
    'pages: loop {
        let page = runs.store().list(&query)?;
        for head in page.heads {
            if ctx.bound_run().is_some_and(|bound| *bound != head.run) {
                continue;
            }
            let loaded = runs.load(&head.run)?;
            let wanted = input.status.as_deref();
            if wanted.is_none_or(|wanted| summary::status(&loaded).is_ok_and(|it| it == wanted)) {
                found.push(summarizer.summarize(ctx, &loaded)?);
            }
            if count(found.len()) >= limit {
                break 'pages;
            }
        }
        query.after = page.next;
        if query.after.is_none() {
            break;
        }
    }
    Ok(json!({"runs": found}))
}

/// The document's statuses.
const STATUSES: &str = "\
    running, waiting-approval, waiting-event, waiting-timer, finished, failed, cancelled, \
    continued";

/// Returns our statuses for one of the document's; `None` for one that no run can have.
fn map_status(wanted: Option<&str>) -> Result<Option<Vec<String>>, Problem> {
    let ours: &[Status] = match wanted {
        Some("running" | "waiting-timer") => &[Status::Running],
        Some("waiting-approval") => &[Status::Waiting],
        Some("waiting-event") => &[Status::Waiting, Status::Paused],
        Some("finished") => &[Status::Completed],
        Some("failed") => &[Status::Failed],
        Some("cancelled") => &[Status::Cancelled],
        None => &[],
        Some("continued") => return Ok(None),
        Some(other) => {
            let message = format!("`status`: there is no status `{other}`; there are {STATUSES}");
            return Err(invalid(message));
        }
    };
    Ok(Some(ours.iter().map(|it| it.name().to_owned()).collect()))
}

fn get_run(ctx: &Ctx<'_>, input: &RunInput) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let state = &loaded.state;
    let open = summary::open_approvals(&loaded).into_iter();
    let open = open.map(|request| requests::describe_approval(ctx, &loaded, request));
    let open = open.collect::<Result<Vec<Value>, Problem>>()?;
    let origins: Vec<_> = state.forked.iter().map(|(run, _)| run).collect();
    let mut children = state.children.iter();
    let child = children.find(|(_, child)| child.ended.is_none() && state.is_current_child(child));
    let mut run = Summarizer::new(ctx).summarize(ctx, &loaded)?;
    for (key, value) in [
        ("steps", json!(steps(&loaded, &nodes))),
        ("activeNodeInstructions", json!(instructions(&loaded))),
        ("enabledEvents", json!(loaded.legality().enabled_events())),
        ("approvals", json!(open)),
        ("loops", json!(loops(&loaded))),
        ("continuedFromRunIds", json!(origins)),
        ("activeDescendantRunId", json!(child.map(|(run, _)| run))),
        ("config", config(&loaded)),
        ("error", error(&loaded)),
    ] {
        set_field(&mut run, key, value);
    }
    Ok(json!({"run": run}))
}

/// Returns the instructions of the active states, outer ones first.
fn instructions(loaded: &Loaded) -> Option<String> {
    let view = loaded.view().ok()?;
    let texts = view.active.iter().filter_map(|it| it.instructions.clone());
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Lists every visit, and the states that weren't entered.
fn steps(loaded: &Loaded, nodes: &Nodes) -> Vec<Value> {
    let mut steps = Vec::new();
    for (_, name) in loaded.workflow.visible_states() {
        let visits = nodes.visits.iter().filter(|it| it.node == name);
        let before = steps.len();
        steps.extend(visits.map(|visit| visit.describe(loaded)));
        if steps.len() == before {
            steps.push(json!({
                "nodeId": name,
                "iteration": 0,
                "state": "pending",
                "lastAttempt": null,
                "updatedAtMs": null,
                "outputTable": null,
                "label": nodes::label(loaded, name),
            }));
        }
    }
    steps
}

/// Lists the states that were entered again, or whose visits are limited.
fn loops(loaded: &Loaded) -> Vec<Value> {
    let mut loops = Vec::new();
    for (_, name) in loaded.workflow.visible_states() {
        let most = loaded.limit(name, "max_visits");
        let visits = loaded.state.visits.get(name).map_or(0, |visit| visit.count);
        if visits > 1 || most.is_some() {
            loops.push(json!({
                "loopId": name,
                "iteration": visits.saturating_sub(1),
                "maxIterations": most,
            }));
        }
    }
    loops
}

/// Returns the run's input and data, and the definition's `meta`.
fn config(loaded: &Loaded) -> Value {
    let mut config = json!({"input": loaded.state.input, "context": loaded.state.context});
    if let Some(meta) = loaded.workflow.meta().get("meta") {
        set_field(&mut config, "meta", meta.clone());
    }
    config
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WatchRun {
    /// The run.
    run_id: String,
    /// Time between two polls; 500 at least.
    #[schemars(range(min = 1), extend("default" = 1000))]
    interval_ms: Option<u64>,
    /// Time to wait; 25000 at most in one call.
    #[schemars(extend("default" = 30_000))]
    timeout_ms: Option<u64>,
}

/// Shortest time between two polls. Unit: milliseconds.
const MIN_INTERVAL: u64 = 500;

fn watch_run(ctx: &Ctx<'_>, input: &WatchRun) -> Outcome {
    let interval = input.interval_ms.unwrap_or(1000);
    if interval == 0 {
        return Err(invalid("`intervalMs`: it is 1 at least"));
    }
    let interval = interval.max(MIN_INTERVAL);
    let timeout = Duration::from_millis(input.timeout_ms.unwrap_or(30_000).min(MAX_WAIT));
    let run = ctx.resolve_run(Some(&input.run_id))?;
    let watch = Watch {
        run,
        interval,
        timeout,
        began: Instant::now(),
        snapshots: Vec::new(),
        polls: 0,
    };
    watch.look(ctx)
}

/// A run that is watched.
struct Watch {
    run: RunId,
    /// Time between two polls. Unit: milliseconds.
    interval: u64,
    timeout: Duration,
    began: Instant,
    snapshots: Vec<Value>,
    polls: u64,
}

impl Watch {
    /// Takes a snapshot, and waits for the next until the run or the time is over.
    fn look(mut self, ctx: &Ctx<'_>) -> Outcome {
        let loaded = ctx.runs().catch_up(&self.run)?;
        let summarizer = Summarizer::new(ctx);
        let now = summarizer.summarize(ctx, &loaded)?;
        self.polls = self.polls.saturating_add(1);
        if self.snapshots.last().and_then(|it| it.get("run")) != Some(&now) {
            let snapshot = json!({"observedAtMs": summarizer.now, "run": now});
            self.snapshots.push(snapshot);
        }
        let is_terminal = summary::is_terminal(&loaded);
        let deadline = self.began + self.timeout;
        if is_terminal || Instant::now() >= deadline || ctx.is_cancelled() {
            return Ok(json!({
                "runId": self.run,
                "intervalMs": self.interval,
                "pollCount": self.polls,
                "reachedTerminal": is_terminal,
                "timedOut": !is_terminal,
                "finalRun": now,
                "snapshots": self.snapshots,
            }));
        }
        let share = self.began.elapsed().as_secs_f64() / self.timeout.as_secs_f64();
        ctx.report_progress(share, &format!("watching `{}`", self.run));
        let until = Instant::now() + Duration::from_millis(self.interval);
        // Its document has polls, so a change alone doesn't wake it.
        Err(ctx.wait(None, until.min(deadline), move |ctx| self.look(ctx)))
    }
}

fn explain_run(ctx: &Ctx<'_>, input: &RunInput) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let now = ctx.runs().now();
    let reasons = explain(&loaded, None)?.reasons;
    let nodes = Nodes::read(ctx, &loaded)?;
    let status = summary::status(&loaded)?;
    let blockers = reasons
        .iter()
        .map(|reason| describe_blocker(ctx, reason, &loaded, &nodes));
    let blockers = blockers.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({"diagnosis": {
        "runId": loaded.run,
        "status": status,
        "summary": diagnose(&loaded, status, &reasons),
        "generatedAtMs": now,
        "blockers": if summary::is_terminal(&loaded) { Vec::new() } else { blockers },
        "currentNodeId": nodes::active_node(&loaded),
    }}))
}

/// Returns the diagnosis as a sentence.
fn diagnose(loaded: &Loaded, status: &str, reasons: &[Reason]) -> String {
    let node = nodes::active_node(loaded);
    let first = reasons.first().map(Reason::text);
    match (status, node, first) {
        ("waiting-approval", Some(node), _) => {
            format!("Run is waiting for a human approval on node '{node}'.")
        }
        ("running", Some(node), None) => format!("Run is at node '{node}', and nothing blocks it."),
        ("running", Some(node), Some(first)) => {
            format!("Run is at node '{node}' and waits for its agent: {first}.")
        }
        (_, _, Some(first)) => format!("Run is {status}: {}.", first.trim_end_matches('.')),
        _ => format!("Run is {status}."),
    }
}

fn describe_blocker(ctx: &Ctx<'_>, reason: &Reason, loaded: &Loaded, nodes: &Nodes) -> Outcome {
    let now = ctx.runs().now();
    let request = request_id(reason);
    let request = request.and_then(|it| loaded.state.requests.get(it));
    let node = request.and_then(|it| it.opened.states.first().map(String::as_str));
    let node = node
        .or_else(|| nodes::active_node(loaded))
        .unwrap_or_default();
    let visit = loaded.state.visits.get(node);
    let since = request.map(|it| it.time);
    let since = since.or_else(|| visit.map(|visit| visit.since));
    let kind = blocker_kind(reason, request);
    let unblocker = match &reason.remedy {
        Some(remedy) => describe_remedy(ctx, remedy, loaded),
        None => "Nothing from outside.".to_owned(),
    };
    let mut blocker = json!({
        "kind": kind,
        "nodeId": node,
        "iteration": nodes.find(node, None).map_or(0, |it| it.iteration),
        "reason": reason.text(),
        "waitingSince": since.unwrap_or(loaded.state.updated),
        "unblocker": unblocker,
        "signalName": null,
        "firesAtMs": null,
        "remainingMs": null,
        "attempt": nodes.find(node, None).map(Visit::last_attempt),
        "maxAttempts": loaded.limit(node, "max_visits"),
    });
    if let Some(Remedy::Send { event, .. }) = &reason.remedy {
        set_field(&mut blocker, "signalName", json!(event));
    }
    if kind == "waiting-timer"
        && let Some(due) = summary::own_timers(loaded).map(|timer| timer.due).min()
    {
        set_field(&mut blocker, "firesAtMs", json!(due));
        set_field(&mut blocker, "remainingMs", json!(due.saturating_sub(now)));
    }
    if let Some(request) = request {
        set_field(&mut blocker, "context", json!(request.opened.prompt));
    }
    Ok(blocker)
}

/// Returns the kind of a blocker: this system's where it has one, else our code.
fn blocker_kind(reason: &Reason, request: Option<&Request>) -> String {
    let kind = match &reason.blocker {
        Blocker::RequestPending { .. } if request.is_some_and(is_approval) => "approval",
        Blocker::RequestPending { request, .. } if request.kind == RequestKind::Approval => {
            "approval"
        }
        Blocker::RequestPending { .. }
        | Blocker::StepWaiting { .. }
        | Blocker::Paused { .. }
        | Blocker::Queued { .. }
        | Blocker::EventAwaited { .. } => "waiting-event",
        Blocker::TimerPending { .. } => "waiting-timer",
        Blocker::ChildRunning { .. }
        | Blocker::ChildOutcome { .. }
        | Blocker::ChildUnknown { .. } => "waiting-child",
        _ => return reason.code().replace('_', "-"),
    };
    kind.to_owned()
}

/// Returns the request that a reason is about.
fn request_id(reason: &Reason) -> Option<&str> {
    match (&reason.remedy, &reason.blocker) {
        (Some(Remedy::Approve { request } | Remedy::Answer { request }), _) => Some(request),
        (_, Blocker::RequestPending { request, .. }) if request.is_waited_for() => {
            Some(&request.id)
        }
        _ => None,
    }
}

/// Returns the remedy as a sentence: a call of a tool that is offered, else the command.
///
/// Only tools that the caller has are named.
fn describe_remedy(ctx: &Ctx<'_>, remedy: &Remedy, loaded: &Loaded) -> String {
    let run = &loaded.run;
    let call = match remedy {
        Remedy::OneOf { remedies } => {
            let each = remedies.iter().map(|it| describe_remedy(ctx, it, loaded));
            return each.collect::<Vec<String>>().join(" Or: ");
        }
        Remedy::Approve { .. } | Remedy::Deny { .. } => {
            let arguments = "action=approve or action=deny";
            Some(("resolve_approval", arguments.to_owned()))
        }
        Remedy::Look { run } => Some(("explain_run", format!("runId={run}"))),
        Remedy::Start { workflow } => Some(("run_workflow", format!("workflowId={workflow}"))),
        Remedy::Continue => {
            let workflow = &loaded.state.workflow;
            let arguments = format!("workflowId={workflow} runId={run} resume=true");
            Some(("run_workflow", arguments))
        }
        Remedy::Rewind { to, .. } => Some(("rewind_run", format!("frameNo={to} confirm=true"))),
        Remedy::Send {
            event,
            fields,
            claims,
        } => {
            let mut arguments = format!("runId={run} event={event}");
            if !fields.is_empty() {
                arguments += &format!(", and data with {}", fields.join(", "));
            }
            if !claims.is_empty() {
                arguments += &format!(", and claims {claims:?}");
            }
            Some(("send_event", arguments))
        }
        Remedy::SubmitArtifact { artifact } => {
            let arguments = format!("runId={run} name={artifact} mode=final");
            Some(("submit_artifact", arguments))
        }
        Remedy::FinalizeArtifact { artifact, revision } => {
            let arguments =
                format!("runId={run} name={artifact} mode=final baseRevision={revision}");
            Some(("submit_artifact", arguments))
        }
        Remedy::RunCheck { check } => Some(("run_check", format!("runId={run} name={check}"))),
        _ => None,
    };
    if let Some((tool, arguments)) = call.filter(|(tool, _)| ctx.can_call(tool)) {
        return format!("Call {tool} with {arguments}.");
    }
    match remedy.as_commands(run, loaded.workflow.id()).as_slice() {
        [] => "Wait: the timer fires by itself.".to_owned(),
        commands => format!("Run `{}`.", commands.join("` or `")),
    }
}
