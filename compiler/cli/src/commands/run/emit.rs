//! `emit`: a report on a run, in rp1's terms.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use statemark_runs::body::{Annotation, Cause, Event, Note, Refused, Step, StepStatus, Subflow};
use statemark_runs::{
    Advance, Advanced, Key, Registered, Report, RunError, RunId, RunView, StartRun,
};

use statemark_stores::file_of;

use super::{REPLAYED, describe_next};
use crate::args::{self, SpecsArgs, StoreArgs, TextFormat};
use crate::catalog::unknown_workflow;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::Printer;
use crate::{files, project, runs};

/// The types of reports, in the order of the help.
const TYPES: [&str; 6] = [
    "status_change",
    "artifact_registered",
    "annotation_updated",
    "waiting_for_user",
    "btw_update",
    "subflow_registered",
];

/// Report on a run: a step's status, a file, a remark.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark emit --workflow build --type status_change --run-id R --step design --data '{\"status\": \"running\"}'\n  \
                        statemark emit --workflow build --type status_change --run-id R --step task-builder:building --unit T1 --data '{\"status\": \"running\"}'\n  \
                        statemark emit --workflow build --type artifact_registered --run-id R --step design --data '{\"path\": \"design.md\"}'\n  \
                        statemark emit --workflow build --type waiting_for_user --run-id R --data '{\"prompt\": \"Which of the two?\"}'\n\n\
                        Types and their data:\n  \
                        status_change        status: not_started, running, waiting, completed, failed or skipped; message\n  \
                        artifact_registered  path, feature, type, storageRoot, subflow\n  \
                        annotation_updated   docId, content, data, parentId\n  \
                        waiting_for_user     prompt, context\n  \
                        btw_update           message, metadata\n  \
                        subflow_registered   parentStepId, subflowName, steps or diagram\n\n\
                        The first report on a run starts it; a report on a step that isn't active enters it.\n\
                        Exit code 1: the report was refused; the message says what could be reported.")]
pub(crate) struct EmitArgs {
    /// The run's workflow
    #[arg(long, value_name = "WORKFLOW")]
    workflow: String,
    /// The type of the report
    #[arg(long = "type", value_name = "TYPE")]
    kind: String,
    /// The run
    #[arg(long, value_name = "RUN")]
    run_id: RunId,
    /// The step: a state of the workflow, or `agent:state`
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// The unit of work in the step
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// The report's data, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    data: Option<Value>,
    /// What you claim to be so: a guard that nothing defines, in its words; may be repeated
    #[arg(long = "claim", value_name = "TEXT")]
    claims: Vec<String>,
    /// A folder of the project: its specs and its runs are meant; by default, this folder
    #[arg(long, value_name = "PATH")]
    project: Option<PathBuf>,
    /// A title for a new run
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Close the run: failed if the report says so, completed if no transition leads on, else cancelled
    #[arg(long)]
    close_run: bool,
    /// The program that the agent runs in
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// Idempotency key: a repeated report gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// The outcome, as `--json` prints it.
#[derive(Serialize)]
struct Answer<'a> {
    /// The run whose journal has the report: an agent's own for an agent's step.
    run: &'a RunId,
    started: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    entered: Option<&'a Event>,
    /// The steps before it that are completed by that.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    completed: &'a [Step],
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    untracked: bool,
    replayed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<RunView>,
}

/// Reports on a run.
pub(in crate::commands) fn run(args: &EmitArgs, printer: &mut Printer) -> CommandResult {
    let (report, unread) = read_report(args)?;
    for field in unread {
        let kind = &args.kind;
        printer.remark(&format!(
            "note: `{field}` isn't a field of {kind}, and isn't kept\n"
        ));
    }
    let (specs, store) = enter_project(args)?;
    let (runs, broken) = runs::open_for_reports(&store, &specs, &args.workflow)?;
    runs::take_due(&runs, &args.run_id)?;
    let mut order = runs::order(&runs, args.run_id.clone(), args.key.as_ref())?;
    let name = order.actor.name.take();
    order.actor.name = name.or_else(|| args.harness.clone());
    let advance = Advance {
        step: args.step.clone(),
        unit: args.unit.clone(),
        report,
        claims: args::claims(&args.claims)?,
        start: Some(StartRun {
            workflow: args.workflow.clone(),
            project: Some(project::id(".")?),
            title: args.name.clone(),
            ..StartRun::default()
        }),
        close: args.close_run,
    };
    let advanced = match runs.execute(&order, &advance) {
        Err(RunError::UnknownWorkflow { id, known }) => {
            return Err(unknown_workflow(&id, &known, &broken));
        }
        advanced => advanced?,
    };
    match args.store.format() {
        TextFormat::Json => printer.json(&make_answer(&advanced)?),
        TextFormat::Text => print_text(args, &advanced, printer)?,
    }
    // A step that waits for an approval isn't entered: a caller that reads the exit code must not go on.
    let is_done = advanced.refused.is_none() && advanced.request.is_none();
    Ok(ExitStatus::clean_if(is_done))
}

/// Goes on in the project that is named, if one is, and returns specs and store as seen from there.
fn enter_project(args: &EmitArgs) -> Result<(SpecsArgs, StoreArgs), Failure> {
    let (mut specs, mut store) = (args.specs.clone(), args.store.clone());
    if let Some(folder) = &args.project {
        let absolute = |path: &Path| {
            std::path::absolute(path).map_err(|error| files::unreadable(path, &error))
        };
        // Nobody has named the default, which means the project then.
        if specs.specs != [Path::new(".")] {
            let paths = specs.specs.iter().map(|path| absolute(path));
            specs.specs = paths.collect::<Result<_, _>>()?;
        }
        if let Some(file) = store.store.as_deref().and_then(file_of) {
            store.store = Some(format!("sqlite:{}", absolute(file)?.display()));
        }
        project::enter(folder)?;
    }
    Ok((specs, store))
}

fn make_answer(advanced: &Advanced) -> Result<Answer<'_>, Failure> {
    let written = advanced.written.as_ref();
    Ok(Answer {
        run: &advanced.run,
        started: advanced.started,
        entered: advanced.entered.as_ref(),
        completed: &advanced.completed,
        step: advanced.step.as_ref(),
        left: advanced.left.as_ref(),
        request: advanced.request.as_ref(),
        refused: advanced.refused.as_ref(),
        untracked: advanced.untracked,
        replayed: written.is_some_and(|written| written.replayed),
        state: written.map(|written| written.loaded.view()).transpose()?,
    })
}

fn print_text(args: &EmitArgs, advanced: &Advanced, printer: &mut Printer) -> Result<(), Failure> {
    if advanced.untracked {
        let workflow = &args.workflow;
        printer.remark(&format!(
            "note: `{workflow}` has no state machine: nothing is checked or recorded\n"
        ));
        return Ok(());
    }
    let written = advanced.written.as_ref();
    if written.is_some_and(|written| written.replayed) {
        printer.remark(REPLAYED);
    }
    if let Some(refused) = &advanced.refused {
        printer.remark(&format!("Error: {}\n", refused.reason));
    }
    if let Some(request) = &advanced.request {
        printer.remark(&format!(
            "the step isn't entered yet: somebody has to decide `{request}` first\n"
        ));
    }
    if advanced.refusal().is_some() || advanced.request.is_some() {
        return Ok(());
    }
    let Some(written) = written else {
        return Ok(());
    };
    let view = written.loaded.view()?;
    let mut line = match &advanced.step {
        Some(step) => describe_step(step),
        None => format!("{} recorded", args.kind),
    };
    if advanced.step.as_ref().is_some_and(|step| step.detached) {
        line += ", beside what is active";
    }
    line += &describe_event(advanced.entered.as_ref(), "entered");
    line += &describe_event(advanced.left.as_ref(), "left");
    for step in &advanced.completed {
        let _ = write!(line, "; {} completed", step.step);
    }
    let _ = writeln!(line, "; {} is {}", advanced.run, view.status.name());
    printer.result(&line);
    printer.result(&describe_next(&view.next, printer.palette()));
    Ok(())
}

fn describe_step(step: &Step) -> String {
    let unit = step.unit.as_ref();
    let unit = unit.map_or_else(String::new, |unit| format!(" ({unit})"));
    let unchecked = if step.unchecked { ", unchecked" } else { "" };
    let status = step.status.name().replace('_', " ");
    format!("{}{unit} {status}{unchecked}", step.step)
}

fn describe_event(event: Option<&Event>, verb: &str) -> String {
    let Some(event) = event else {
        return String::new();
    };
    let mut text = format!(", {verb} by {}", event.event);
    if let Some(Cause::Advance { others, .. }) = &event.cause
        && !others.is_empty()
    {
        let _ = write!(text, " (or by {})", others.join(", "));
    }
    text
}

/// Reads the report, and returns it with the fields of the data that nobody reads.
fn read_report(args: &EmitArgs) -> Result<(Report, Vec<String>), Failure> {
    let kind = args.kind.as_str();
    let Some(kind) = TYPES.into_iter().find(|known| *known == kind) else {
        return Err(Failure::bad_value("--type", kind, &TYPES.join(", ")));
    };
    if matches!(kind, "status_change" | "subflow_registered") && args.step.is_none() {
        return Err(missing("--step", kind));
    }
    let mut data = Data {
        kind,
        fields: read_fields(args)?,
    };
    let report = match kind {
        "status_change" => {
            let status = parse_status(&data.require("status")?)?;
            let message = data.string(&["message"])?;
            let data = match std::mem::take(&mut data.fields) {
                rest if rest.is_empty() => Value::Null,
                rest => Value::Object(rest),
            };
            Report::Status {
                status,
                message,
                data,
            }
        }
        "artifact_registered" => Report::Artifact(Registered {
            path: data.require("path")?,
            storage_root: data.string(&["storageRoot", "storage_root"])?,
            feature: data.string(&["feature"])?,
            kind: data.string(&["type"])?,
            subflow: data.take(&["subflow"]) == Value::Bool(true),
        }),
        "annotation_updated" => Report::Annotation(Annotation {
            document: data.require("docId")?,
            text: data.require("content")?,
            parent: data.string(&["parentId"])?,
            data: data.take(&["data"]),
        }),
        "waiting_for_user" => Report::Waiting {
            prompt: data.require("prompt")?,
            data: data.take(&["context"]),
        },
        "btw_update" => Report::Note(Note {
            text: data.require("message")?,
            data: data.take(&["metadata"]),
        }),
        _ => read_subflow(args, &mut data)?,
    };
    let unread = data.fields.into_iter().map(|(name, _)| name);
    Ok((report, unread.collect()))
}

fn read_fields(args: &EmitArgs) -> Result<Map<String, Value>, Failure> {
    match args.data.clone() {
        Some(Value::Object(fields)) => Ok(fields),
        None => Ok(Map::new()),
        Some(other) => {
            let data = other.to_string();
            Err(Failure::bad_value("--data", &data, "a JSON object"))
        }
    }
}

fn read_subflow(args: &EmitArgs, data: &mut Data) -> Result<Report, Failure> {
    let steps = data.take(&["steps"]);
    let steps = steps.as_array().into_iter().flatten();
    // A step is its name, or an object with one.
    let name = |step: &Value| {
        let id = step.get("id").or_else(|| step.get("name")).unwrap_or(step);
        id.as_str().map(str::to_owned)
    };
    let parent = data.string(&["parentStepId"])?;
    Ok(Report::Subflow(Subflow {
        parent: parent
            .or_else(|| args.step.clone())
            .ok_or_else(|| missing("--step", data.kind))?,
        name: data.require("subflowName")?,
        steps: steps.filter_map(name).collect(),
        diagram: data.string(&["diagram"])?,
    }))
}

/// The fields of `--data` that weren't read yet.
struct Data {
    kind: &'static str,
    fields: Map<String, Value>,
}

impl Data {
    /// Takes the first of some fields, or null.
    fn take(&mut self, names: &[&str]) -> Value {
        let mut values = names.iter().filter_map(|name| self.fields.remove(*name));
        values.next().unwrap_or_default()
    }

    /// Takes the first of some fields as a string.
    fn string(&mut self, names: &[&str]) -> Result<Option<String>, Failure> {
        let name = names.first().copied().unwrap_or_default();
        match self.take(names) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            other => Err(Failure::bad_value(name, &other.to_string(), "a string")),
        }
    }

    /// Takes a field that must be there.
    fn require(&mut self, name: &str) -> Result<String, Failure> {
        let text = self.string(&[name])?;
        text.filter(|text| !text.is_empty())
            .ok_or_else(|| missing(name, self.kind))
    }
}

fn parse_status(name: &str) -> Result<StepStatus, Failure> {
    let mut all = StepStatus::ALL.into_iter();
    all.find(|status| status.name() == name).ok_or_else(|| {
        let allowed = StepStatus::ALL.map(StepStatus::name).join(", ");
        Failure::bad_value("status", name, &allowed)
    })
}

fn missing(name: &str, kind: &str) -> Failure {
    Failure::new(format!("{kind} needs {name}"))
        .with_help("`statemark emit --help` lists the data of each type")
}
