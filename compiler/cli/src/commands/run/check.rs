//! `run-check`: a check that the workflow or the project declares, for a run or on its own.

use std::borrow::Cow;

use serde::Serialize;
use statemark_runs::body::Refused;
use statemark_runs::check::{self, CheckResult};
use statemark_runs::{Checked, Key, Redactor, RunCheck, RunCheckIn, RunId};

use crate::args::{SpecsArgs, StoreArgs, TextFormat};
use crate::checks::{self, CheckSource};
use crate::clock::format_length;
use crate::environment;
use crate::failure::{CommandResult, ExitStatus};
use crate::places;
use crate::printer::Printer;
use crate::runs;
use crate::signals::watch_end;

/// Longest time that isn't printed. Unit: milliseconds.
const QUIET: u64 = 1_000;

/// Run a check that the workflow or the project declares.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark run-check tests\n  \
                        statemark run-check tests --run build-7        the run records the outcome\n  \
                        statemark run-check tests -- --nocapture       with more arguments; that counts for no run\n\n\
                        `checks` in a workflow's definition or in statemark.toml declares checks:\n  \
                        [checks.tests]\n  \
                        command = [\"cargo\", \"test\"]\n  \
                        timeout = \"10m\"\n\n\
                        A run's own workflow comes first, then statemark.toml. A check that a workflow `requires` is\n\
                        always its own. A command is a list of words; no shell reads it. It runs in the project's\n\
                        folder: that of statemark.toml, else the root of the repository; `cwd = \"…\"` names one below.\n\
                        It gets no token and, of other secrets of the environment, what `inherit = [\"…\"]` names. On\n\
                        Linux it writes below the repository and the folder for temporary files; others need a line\n\
                        in ~/.config/statemark/places. It ends with everything that it began.\n\
                        Exit code 1: the check didn't pass.")]
pub(crate) struct RunCheckArgs {
    /// The check
    #[arg(value_name = "CHECK")]
    name: String,
    /// The run that it is for, or the beginning of its id [env: STATEMARK_RUN]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The workflow that declares the check, if it is for no run
    #[arg(long, value_name = "WORKFLOW", conflicts_with = "run")]
    workflow: Option<String>,
    /// Idempotency key: the same key doesn't run the check again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    /// More arguments, after the check's own
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<String>,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

/// The outcome, as `--json` prints it.
#[derive(Default, Serialize)]
struct Answer {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<String>,
    /// True if it was cancelled before it ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancelled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// The folder that it ran in.
    #[serde(skip_serializing_if = "String::is_empty")]
    folder: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    stdout: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    stderr: String,
    /// The length of the output that was left out. Unit: bytes.
    left_out: u64,
    /// The run that records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    replayed: bool,
}

/// Runs a check.
pub(in crate::commands) fn run(args: &RunCheckArgs, printer: &mut Printer) -> CommandResult {
    let from_environment = || environment::RUN.text().filter(|_| args.workflow.is_none());
    let Some(run) = args.run.clone().or_else(from_environment) else {
        return run_alone(args, printer);
    };
    let runs = runs::open(&args.store)?;
    let loaded = runs::load(&runs, &run)?;
    let found = checks::find(&args.name, CheckSource::Run(&loaded))?;
    let order = runs::order(&runs, loaded.run, args.key.as_ref())?;
    let is_ended = watch_end()?;
    let check = RunCheckIn {
        what: RunCheck {
            name: args.name.clone(),
            declared: found.declaration,
            arguments: args.arguments.clone(),
        },
        place: &places::check_place(&found.folder)?,
        cancelled: &is_ended,
    };
    let written = runs.execute(&order, &check)?;
    let Checked { check, refused } = written.outcome;
    let result = check.map(|check| redact(check.ran));
    let answer = Answer {
        run: Some(written.loaded.run),
        refused,
        replayed: written.replayed,
        ..Answer::new(&args.name, result.as_ref())
    };
    Ok(answer.print(result.as_ref(), args.store.format(), printer))
}

/// Runs a check that is for no run.
fn run_alone(args: &RunCheckArgs, printer: &mut Printer) -> CommandResult {
    let specs = &args.specs.specs;
    let source = match &args.workflow {
        Some(id) => CheckSource::Workflow(id, specs),
        None => CheckSource::Any(specs),
    };
    let found = checks::find(&args.name, source)?;
    let is_ended = watch_end()?;
    let result = check::run(
        &found.declaration,
        &args.arguments,
        &places::check_place(&found.folder)?,
        &is_ended,
    );
    let result = redact(result.map_err(|error| checks::bad_check(&args.name, &error))?);
    let answer = Answer::new(&args.name, Some(&result));
    Ok(answer.print(Some(&result), args.store.format(), printer))
}

/// Returns an outcome without the secrets that a check prints which was given them by name.
fn redact(mut result: CheckResult) -> CheckResult {
    let redactor = Redactor::from_environment(&[]);
    for output in [&mut result.stdout, &mut result.stderr] {
        if let Cow::Owned(redacted) = redactor.redact_str(output) {
            *output = redacted;
        }
    }
    result
}

impl Answer {
    fn new(name: &str, result: Option<&CheckResult>) -> Self {
        let name = name.to_owned();
        let Some(result) = result.cloned() else {
            return Self {
                name,
                ..Self::default()
            };
        };
        let time = std::time::Duration::from_millis(result.milliseconds);
        Self {
            name,
            passed: Some(result.passed),
            exit_code: result.exit_code,
            problem: result.problem,
            remark: result.remark,
            cancelled: result.cancelled,
            seconds: Some(time.as_secs_f64()),
            folder: result.folder,
            stdout: result.stdout,
            stderr: result.stderr,
            left_out: result.left_out,
            ..Self::default()
        }
    }

    fn print(
        &self,
        result: Option<&CheckResult>,
        format: TextFormat,
        printer: &mut Printer,
    ) -> ExitStatus {
        if format == TextFormat::Json {
            printer.json(self);
        } else {
            self.print_text(result, printer);
        }
        ExitStatus::clean_if(self.passed == Some(true))
    }

    /// Prints the output of the check, each part where the check has printed it, and the outcome.
    fn print_text(&self, result: Option<&CheckResult>, printer: &mut Printer) {
        if self.replayed {
            printer.remark("run before, under the same key\n");
        }
        if let Some(refused) = &self.refused {
            printer.refusal(&refused.reason);
        }
        let Some(result) = result else {
            return;
        };
        printer.remark(&end_line(&result.stderr));
        let palette = printer.palette();
        let outcome = if result.passed {
            palette.good(&result.outcome())
        } else {
            palette.bad(&result.outcome())
        };
        let time = match result.milliseconds {
            short if short < QUIET => String::new(),
            long => palette.dim(&format!("  after {}", format_length(long))),
        };
        if let Some(remark) = &result.remark {
            printer.remark(&format!("note: {remark}\n"));
        }
        let name = palette.strong(&self.name);
        let output = end_line(&result.stdout);
        printer.result(&format!("{output}{name} {outcome}{time}\n"));
    }
}

/// Returns a text whose last line is ended.
fn end_line(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}
