//! `emit`: a report on a run, in rp1's words.

mod read;

use std::fmt::Write as _;

use serde::Serialize;
use statemark_runs::body::{Cause, Event, Refused, Step};
use statemark_runs::{Advance, Advanced, RunError, RunId, RunView, Start};

use super::shown;
use crate::args::{EmitArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    /// The run whose journal has the report: an agent's own for an agent's step.
    run: &'a RunId,
    started: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    entered: Option<&'a Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a Event>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a Refused>,
    untracked: bool,
    /// Whether the same report was answered before.
    replayed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<RunView>,
}

pub(in crate::commands) fn run(
    args: &EmitArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let (report, unread) = read::report(args)?;
    for field in unread {
        let kind = &args.kind;
        printer.talk(&format!(
            "note: `{field}` isn't a field of {kind}, and isn't kept\n"
        ));
    }
    let run: RunId = runs::named("--run-id", args.run_id.parse())?;
    let (all, broken) = runs::open_for_reports(&args.store, &args.specs, &args.workflow)?;
    runs::take_due(&all, &run)?;
    let mut order = runs::order(run, args.key.as_deref())?;
    let named = order.actor.name.take();
    order.actor.name = named.or_else(|| args.harness.clone());
    let advance = Advance {
        step: args.step.clone(),
        unit: args.unit.clone(),
        report,
        start: Some(Start {
            workflow: args.workflow.clone(),
            project: Some(runs::project(args.project.as_deref())?),
            title: args.name.clone(),
            ..Start::default()
        }),
        close: args.close_run,
    };
    let advanced = match all.execute(&order, &advance) {
        Err(RunError::UnknownWorkflow { id, known }) => {
            return Err(runs::unknown_workflow(&id, known, &broken));
        }
        advanced => advanced?,
    };
    match args.store.format() {
        TextFormat::Json => printer.result(&shown::json(&answer(&advanced)?)),
        TextFormat::Text => tell(args, &advanced, printer)?,
    }
    // A step that waits for an approval isn't entered: whoever goes on by the exit code must not.
    let is_done = advanced.refused.is_none() && advanced.request.is_none();
    Ok(if is_done {
        ExitStatus::Clean
    } else {
        ExitStatus::Findings
    })
}

fn answer(advanced: &Advanced) -> Result<Answer<'_>, Failure> {
    let written = advanced.written.as_ref();
    Ok(Answer {
        run: &advanced.run,
        started: advanced.started,
        entered: advanced.entered.as_ref(),
        step: advanced.step.as_ref(),
        left: advanced.left.as_ref(),
        request: advanced.request.as_ref(),
        refused: advanced.refused.as_ref(),
        untracked: advanced.untracked,
        replayed: written.is_some_and(|it| it.replayed),
        state: written.map(|it| it.loaded.view()).transpose()?,
    })
}

fn tell(args: &EmitArgs, advanced: &Advanced, printer: &mut Printer) -> Result<(), Failure> {
    if advanced.untracked {
        let workflow = &args.workflow;
        printer.talk(&format!(
            "note: `{workflow}` has no state machine: nothing is checked, and nothing recorded\n"
        ));
        return Ok(());
    }
    if advanced.written.as_ref().is_some_and(|it| it.replayed) {
        printer.talk("answered before, under the same key\n");
    }
    if let Some(refused) = &advanced.refused {
        printer.talk(&format!("Error: {}\n", refused.reason));
    }
    if let Some(request) = &advanced.request {
        printer.talk(&format!(
            "the step isn't entered yet: somebody has to decide `{request}` first\n"
        ));
    }
    if advanced.refusal().is_some() || advanced.request.is_some() {
        return Ok(());
    }
    let Some(written) = &advanced.written else {
        return Ok(());
    };
    let view = written.loaded.view()?;
    let mut line = match &advanced.step {
        Some(step) => told(step),
        None => format!("{} recorded", args.kind),
    };
    line += &taken(advanced.entered.as_ref(), "entered");
    line += &taken(advanced.left.as_ref(), "left");
    let _ = writeln!(line, "; {} is {}", advanced.run, view.status.name());
    printer.result(&line);
    printer.result(&shown::next(&view.next, printer.palette()));
    Ok(())
}

fn told(step: &Step) -> String {
    let unit = step
        .unit
        .as_ref()
        .map_or_else(String::new, |unit| format!(" ({unit})"));
    let unchecked = if step.unchecked { ", unchecked" } else { "" };
    let status = step.status.name().replace('_', " ");
    format!("{}{unit} {status}{unchecked}", step.step)
}

fn taken(event: Option<&Event>, word: &str) -> String {
    let Some(event) = event else {
        return String::new();
    };
    let mut text = format!(", {word} by {}", event.event);
    if let Some(Cause::Advance { others, .. }) = &event.cause
        && !others.is_empty()
    {
        let _ = write!(text, " (or by {})", others.join(", "));
    }
    text
}
