//! `run-check`: a check that the workflow or the project declares, for a run or by itself.

use serde::Serialize;
use statemark_runs::body::Refused;
use statemark_runs::check::{self, CheckResult};
use statemark_runs::{Checked, RunCheck, RunCheckIn, RunId};

use super::shown;
use crate::args::{RunCheckArgs, TextFormat};
use crate::ending::is_asked_to_end;
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs::{self, Whose};
use crate::status::ExitStatus;

/// The run that is meant where no argument says it.
const VARIABLE: &str = "STATEMARK_RUN";

/// What takes no longer isn't said.
const QUIET: u64 = 1_000;

/// What `--json` prints.
#[derive(Default, Serialize)]
struct Answer {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Whether it was given up before it ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancelled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// Where it ran.
    #[serde(skip_serializing_if = "String::is_empty")]
    folder: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    stdout: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    stderr: String,
    /// How much of both was left out. Unit: bytes.
    left_out: u64,
    /// The run that remembers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    /// Whether the same request was answered before.
    replayed: bool,
}

pub(in crate::commands) fn run(
    args: &RunCheckArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let from_environment = || std::env::var(VARIABLE).ok().filter(|it| !it.is_empty());
    let named = args.workflow.is_none().then(from_environment).flatten();
    let Some(run) = args.run.clone().or(named) else {
        return alone(args, printer);
    };
    let all = runs::open(&args.store)?;
    let loaded = runs::load(&all, &run)?;
    let found = runs::find_check(&args.name, Whose::Run(&loaded))?;
    let order = runs::order(loaded.run, args.key.as_deref())?;
    let what = RunCheck {
        name: args.name.clone(),
        declared: found.declared,
        arguments: args.arguments.clone(),
    };
    let is_ended = is_asked_to_end().map_err(FailureKind::Signals)?;
    let check = RunCheckIn {
        what,
        root: &found.root,
        cancelled: &is_ended,
    };
    let written = all.execute(&order, &check)?;
    let Checked { check, refused } = written.outcome;
    let ran = check.map(|it| it.ran);
    let mut answer = Answer::of(&args.name, ran.as_ref());
    answer.run = Some(written.loaded.run);
    answer.refused = refused;
    answer.replayed = written.replayed;
    Ok(answer.show(ran.as_ref(), args.store.format(), printer))
}

fn alone(args: &RunCheckArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let specs = &args.specs.specs;
    let whose = match &args.workflow {
        Some(id) => Whose::Workflow(id, specs),
        None => Whose::Any(specs),
    };
    let found = runs::find_check(&args.name, whose)?;
    let is_ended = is_asked_to_end().map_err(FailureKind::Signals)?;
    let ran = check::run(&found.declared, &args.arguments, &found.root, &is_ended);
    let ran = ran.map_err(|cause| runs::bad_check(&args.name, cause))?;
    let answer = Answer::of(&args.name, Some(&ran));
    Ok(answer.show(Some(&ran), args.store.format(), printer))
}

impl Answer {
    fn of(name: &str, ran: Option<&CheckResult>) -> Self {
        let name = name.to_owned();
        let Some(ran) = ran.cloned() else {
            return Self {
                name,
                ..Self::default()
            };
        };
        let time = std::time::Duration::from_millis(ran.milliseconds);
        Self {
            name,
            passed: Some(ran.passed),
            exit_code: ran.exit_code,
            problem: ran.problem,
            cancelled: ran.cancelled,
            seconds: Some(time.as_secs_f64()),
            folder: ran.folder,
            stdout: ran.stdout,
            stderr: ran.stderr,
            left_out: ran.left_out,
            ..Self::default()
        }
    }

    fn show(
        &self,
        ran: Option<&CheckResult>,
        format: TextFormat,
        printer: &mut Printer,
    ) -> ExitStatus {
        if format == TextFormat::Json {
            printer.result(&shown::json(self));
        } else {
            self.text(ran, printer);
        }
        match self.passed {
            Some(true) => ExitStatus::Clean,
            _ => ExitStatus::Findings,
        }
    }

    /// What the check has said, each where it has said it, and what came of it.
    fn text(&self, ran: Option<&CheckResult>, printer: &mut Printer) {
        if self.replayed {
            printer.talk("run before, under the same key\n");
        }
        if let Some(refused) = &self.refused {
            let word = printer.talk_palette().bad("refused:");
            printer.talk(&format!("{word} {}\n", refused.reason));
        }
        let Some(ran) = ran else {
            return;
        };
        printer.talk(&ended(&ran.stderr));
        let palette = printer.palette();
        let told = if ran.passed {
            palette.good(&ran.outcome())
        } else {
            palette.bad(&ran.outcome())
        };
        let time = match ran.milliseconds {
            short if short < QUIET => String::new(),
            long => palette.dim(&format!("  after {}", runs::length(long))),
        };
        let name = palette.strong(&self.name);
        printer.result(&format!("{}{name} {told}{time}\n", ended(&ran.stdout)));
    }
}

/// A text that ends with its line.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}
