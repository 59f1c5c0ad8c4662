//! `transcript`: what was said in the attempts of a run, the tools that were called, and what it cost.

use std::fmt::Write as _;

use serde_json::{Value, json};
use statemark_runs::body::{AttemptStarted, ToolVerdict, Usage};
use statemark_runs::{Body, MAX_PAGE, Record, RunError, RunId, Runs, StoreError};
use statemark_text::visible;

use crate::args::RunArgs;
use crate::clock::format_time;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Palette, Printer};
use crate::runs;

/// The kinds of records of a transcript.
const KINDS: [&str; 5] = [
    "attempt.started",
    "attempt.ended",
    "message",
    "tool",
    "usage",
];

/// Show what agents said and did in the attempts of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark transcript bug-fix-1\n  \
                        statemark transcript bug-fix-1 --attempt 3 --prompt\n  \
                        statemark transcript bug-fix-1 --follow      as it happens")]
pub(crate) struct TranscriptArgs {
    /// Only this attempt
    #[arg(long, value_name = "N")]
    attempt: Option<u64>,
    /// Show the prompts as well
    #[arg(long)]
    prompt: bool,
    /// Keep showing what happens until the run is over
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Shows the transcript of a run.
pub(in crate::commands) fn run(args: &TranscriptArgs, printer: &mut Printer) -> CommandResult {
    let (runs, loaded) = runs::open_run(&args.run)?;
    let made = loaded.state.attempted;
    if let Some(attempt) = args
        .attempt
        .filter(|it| *it == 0 || *it > made && !args.follow)
    {
        let message = format!("`{}` has no attempt {attempt}", loaded.run);
        return Err(Failure::new(message).with_help(match made {
            0 => "no executor has worked on it: `statemark agent run --help`".to_owned(),
            made => format!("it has attempts 1 to {made}"),
        }));
    }
    let run = loaded.run;
    let mut after = 0;
    loop {
        print(&runs, &run, &mut after, args, printer)?;
        if !args.follow || runs.catch_up(&run)?.state.status().is_over() {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        std::thread::sleep(runs::PAUSE);
    }
}

/// Prints the records after one, and moves on.
fn print(
    runs: &Runs,
    run: &RunId,
    after: &mut u64,
    args: &TranscriptArgs,
    printer: &mut Printer,
) -> Result<(), RunError> {
    loop {
        let records = runs.store().records(run, *after, MAX_PAGE)?;
        let Some(last) = records.last() else {
            return Ok(());
        };
        *after = last.seq;
        for record in records.iter().filter(|it| KINDS.contains(&&*it.kind)) {
            let body = record.read().map_err(|error| StoreError::Corrupt {
                run: Some(run.clone()),
                seq: Some(record.seq),
                what: error.to_string(),
            })?;
            let of = attempt_of(&body);
            if args.attempt.is_some() && of != args.attempt {
                continue;
            }
            if args.run.store.json {
                printer.json(&described(runs, record, &body, args)?);
            } else {
                let text = text(runs, record, &body, args, printer.palette())?;
                printer.result(&text);
            }
        }
    }
}

/// Returns the attempt that a record belongs to.
const fn attempt_of(body: &Body) -> Option<u64> {
    match body {
        Body::AttemptStarted(it) => Some(it.attempt),
        Body::AttemptEnded(it) => Some(it.attempt),
        Body::Message(it) => it.attempt,
        Body::Tool(it) => it.attempt,
        Body::Usage(it) => it.attempt,
        _ => None,
    }
}

fn prompt_of(runs: &Runs, started: &AttemptStarted) -> Result<String, RunError> {
    let bytes = runs.store().blob(&started.prompt)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a record as JSON.
fn described(
    runs: &Runs,
    record: &Record,
    body: &Body,
    args: &TranscriptArgs,
) -> Result<Value, RunError> {
    let said: Value = serde_json::from_str(&body.to_json()).unwrap_or_default();
    let mut described = json!({
        "seq": record.seq,
        "time": record.time,
        "kind": record.kind,
        "actor": record.actor,
        "body": said,
    });
    if let (Body::AttemptStarted(started), Value::Object(map), true) =
        (body, &mut described, args.prompt)
    {
        map.insert("prompt".to_owned(), json!(prompt_of(runs, started)?));
    }
    Ok(described)
}

/// Describes what was spent.
pub(in crate::commands) fn describe_usage(usage: &Usage) -> String {
    let cost = usage.cost;
    let cost = cost.map_or_else(String::new, |cost| format!(", {cost} µ$"));
    format!(
        "{} tokens read, {} written{cost}",
        usage.input_tokens, usage.output_tokens
    )
}

/// Returns a record as text; nothing for what says nothing of its own.
fn text(
    runs: &Runs,
    record: &Record,
    body: &Body,
    args: &TranscriptArgs,
    palette: Palette,
) -> Result<String, RunError> {
    let mut text = String::new();
    match body {
        Body::AttemptStarted(started) => {
            let model = started.model.as_ref();
            let model = model.map_or_else(String::new, |model| format!(" with {model}"));
            let title = format!(
                "attempt {} in {} by {}{model}",
                started.attempt, started.state, started.executor
            );
            let _ = writeln!(
                text,
                "\n{} {}",
                palette.strong(&visible::line(&title)),
                palette.dim(&format_time(record.time))
            );
            if args.prompt {
                for line in prompt_of(runs, started)?.lines() {
                    let _ = writeln!(text, "  {}", palette.dim(&format!("│ {line}")));
                }
            }
        }
        Body::AttemptEnded(ended) => {
            let reason = ended.reason.as_ref();
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            let line = format!("{}{reason}", ended.outcome.name());
            let line = visible::line(&line);
            let line = if ended.outcome.is_failure() {
                palette.bad(&line)
            } else {
                palette.good(&line)
            };
            let _ = writeln!(text, "  {line}");
        }
        Body::Message(message) => {
            let role = visible::line(&message.role);
            for (number, line) in message.text.lines().enumerate() {
                // What is said stays apart from what happened, however it is broken into lines.
                let head = if number == 0 {
                    format!("{role}: ")
                } else {
                    "│ ".to_owned()
                };
                let _ = writeln!(text, "  {}{line}", palette.dim(&head));
            }
        }
        Body::Tool(tool) => {
            let name = visible::line(&tool.name);
            let _ = match tool.verdict {
                ToolVerdict::Denied => {
                    let reason = tool.reason.as_deref().unwrap_or_default();
                    writeln!(
                        text,
                        "  {name} {} {}",
                        palette.bad("denied:"),
                        visible::line(reason)
                    )
                }
                // Its result has a record of its own.
                _ if tool.reserved => Ok(()),
                verdict => {
                    let time = tool.milliseconds.unwrap_or_default();
                    let bytes = tool.output.unwrap_or_default();
                    let failed = if verdict == ToolVerdict::Failed {
                        ", failed"
                    } else {
                        ""
                    };
                    writeln!(
                        text,
                        "  {name} {}",
                        palette.dim(&format!("{time} ms, {bytes} bytes{failed}"))
                    )
                }
            };
        }
        Body::Usage(usage) => {
            let _ = writeln!(text, "  {}", palette.dim(&describe_usage(usage)));
        }
        _ => {}
    }
    Ok(text)
}
