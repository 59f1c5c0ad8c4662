//! `events` and `timeline`: the journal of a run, and its visits.

use std::fmt::Write as _;

use serde_json::Value;
use statemark_runs::runs::{Marked, Timeline};
use statemark_runs::{Body, Record, RunId, Runs, StoreError, load_timeline, state};
use statemark_text::visible;

use crate::args::{RunArgs, TextFormat};
use crate::clock::{format_length, format_time};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Palette, Printer};
use crate::runs;

/// Show the journal of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark events build-7\n  \
                        statemark events build-7 --after 12 --watch     new records, as they come\n  \
                        statemark events build-7 --json                 one record a line")]
pub(crate) struct EventsArgs {
    /// Only records after this one
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// Only of this kind, such as `event` or `refused`; may be given several times
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Keep showing new records until the run is over
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Shows the journal of a run.
pub(in crate::commands) fn events(args: &EventsArgs, printer: &mut Printer) -> CommandResult {
    let (runs, loaded) = runs::open_run(&args.run)?;
    // A newer version may have written kinds that this one doesn't know.
    if loaded.state.unknown == 0 {
        check_kinds(&args.kind)?;
    }
    let run = loaded.run;
    let mut after = args.after;
    loop {
        print_records(&runs, &run, &mut after, args, printer)?;
        if !args.watch || runs.catch_up(&run)?.state.status().is_over() {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        std::thread::sleep(runs::PAUSE);
    }
}

fn check_kinds(kinds: &[String]) -> Result<(), Failure> {
    let is_unknown = |kind: &&String| !Body::KINDS.contains(&kind.as_str());
    match kinds.iter().find(is_unknown) {
        None => Ok(()),
        Some(kind) => Err(Failure::bad_value("--kind", kind, &Body::KINDS.join(", "))),
    }
}

/// Prints the records after one, and moves on. Repeated refusals are printed as a number.
fn print_records(
    runs: &Runs,
    run: &RunId,
    after: &mut u64,
    args: &EventsArgs,
    printer: &mut Printer,
) -> Result<(), StoreError> {
    let mut last: Option<(Record, u64)> = None;
    state::for_each_record(runs.store(), run, *after, None, |record| {
        *after = record.seq;
        if !args.kind.is_empty() && !args.kind.contains(&record.kind) {
            return Ok(());
        }
        if args.run.store.format() == TextFormat::Json {
            printer.json(&record_json(record));
            return Ok(());
        }
        match &mut last {
            Some((before, times)) if repeats(before, record) => *times += 1,
            _ => {
                print_record(last.as_ref(), printer);
                last = Some((record.clone(), 1));
            }
        }
        Ok(())
    })?;
    print_record(last.as_ref(), printer);
    Ok(())
}

/// Returns a record with its body as JSON, not as a string of JSON.
fn record_json(record: &Record) -> Value {
    let mut json = serde_json::to_value(record).unwrap_or_default();
    if let (Some(body), Ok(parsed)) = (json.get_mut("body"), serde_json::from_str(&record.body)) {
        *body = parsed;
    }
    json
}

/// Reports whether a refusal repeats the record before.
fn repeats(before: &Record, record: &Record) -> bool {
    record.kind == "refused"
        && before.kind == record.kind
        && before.body == record.body
        && before.actor == record.actor
}

fn print_record(record: Option<&(Record, u64)>, printer: &mut Printer) {
    let Some((record, times)) = record else {
        return;
    };
    let times = match times {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    printer.result(&record_line(record, &times, printer.palette()));
}

/// Describes a record, with a remark on how often it was repeated.
pub(in crate::commands) fn record_line(record: &Record, times: &str, palette: Palette) -> String {
    format!(
        "{:>5}  {}  {}{times}  {}\n",
        record.seq,
        palette.dim(&format_time(record.time)),
        visible::line(&record.summary()),
        palette.dim(&format!("by {}", record.actor))
    )
}

/// Show the visits of a run, rewound ones included.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark timeline build-7\n  \
                        statemark timeline build-7 --json")]
pub(crate) struct TimelineArgs {
    #[command(flatten)]
    run: RunArgs,
}

/// Shows the timeline of a run.
pub(in crate::commands) fn timeline(args: &TimelineArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.run.store)?;
    let run = runs::find(runs.store(), &args.run.id)?;
    let timeline = load_timeline(&runs, &run)?;
    match args.run.store.format() {
        TextFormat::Json => printer.json(&timeline),
        TextFormat::Text => printer.result(&describe_timeline(&timeline, printer.palette())),
    }
    Ok(ExitStatus::Clean)
}

/// Describes visits and marks in the order of their records.
pub(in crate::commands) fn describe_timeline(timeline: &Timeline, palette: Palette) -> String {
    let mut lines: Vec<(u64, bool, String)> = Vec::new();
    for visit in &timeline.visits {
        let length = visit.until;
        let length = length.map(|until| format_length(until.saturating_sub(visit.since)));
        let stay = match (length, visit.left) {
            (Some(length), Some(left)) => format!("left at {left}, after {length}"),
            _ if visit.counts => "still there".to_owned(),
            _ => String::new(),
        };
        let number = match visit.number {
            0 | 1 => String::new(),
            number => format!(" (visit {number})"),
        };
        let state = palette.strong(&visit.state);
        let line = format!("in {state}{number}  {stay}");
        lines.push((visit.entered, visit.counts, line));
    }
    for mark in &timeline.marks {
        if mark.what != Marked::Started {
            lines.push((mark.seq, mark.counts, describe_mark(&mark.what)));
        }
    }
    for fork in &timeline.forks {
        let leaves = fork.leaves.join(", ");
        let line = format!("forked as {}: {} in {leaves}", fork.run, fork.status);
        lines.push((fork.at, true, line));
    }
    lines.sort_by_key(|(seq, _, _)| *seq);
    let run = palette.strong(&timeline.run);
    let mut text = format!("{run} up to record {}\n", timeline.seq);
    for (run, at) in &timeline.origins {
        let _ = writeln!(text, "       begins with {run} up to record {at}");
    }
    for (seq, counts, line) in lines {
        let rewound = if counts { "" } else { "  rewound" };
        let _ = writeln!(text, "{seq:>5}  {line}{}", palette.dim(rewound));
    }
    text
}

pub(super) fn describe_mark(mark: &Marked) -> String {
    match mark {
        Marked::Started => "started".to_owned(),
        Marked::Forked { from, at } => format!("forked from {from} at {at}"),
        Marked::Forced { to } => format!("forced to {to}"),
        Marked::Rewound { to, crossed, .. } if crossed.is_empty() => format!("rewound to {to}"),
        Marked::Rewound { to, crossed, .. } => {
            format!("rewound to {to}, abandoning {}", crossed.join(", "))
        }
        Marked::CheckpointTaken { name } => format!("checkpoint {name}"),
        Marked::CheckpointRestored { name, done: true } => format!("files restored to {name}"),
        Marked::CheckpointRestored { name, done: false } => format!("about to restore {name}"),
        Marked::Migrated { workflow: None } => "migrated to another table".to_owned(),
        Marked::Migrated {
            workflow: Some(workflow),
        } => format!("migrated to another table, as {workflow}"),
        Marked::Paused => "paused".to_owned(),
        Marked::Continued => "continued".to_owned(),
        Marked::Cancelled => "cancelled".to_owned(),
        Marked::Closed => "closed".to_owned(),
    }
}
