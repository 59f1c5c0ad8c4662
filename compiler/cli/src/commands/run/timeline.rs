//! `timeline`: everything that has become of a run.

use std::fmt::Write as _;

use statemark_runs::runs::{Marked, Timeline};

use super::shown;
use crate::args::{TextFormat, TimelineArgs};
use crate::failure::Failure;
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &TimelineArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let run = runs::find(&all, &args.run)?;
    let timeline = all.timeline(&run)?;
    printer.result(&match args.store.format() {
        TextFormat::Json => shown::json(&timeline),
        TextFormat::Text => drawn(&timeline, printer.palette()),
    });
    Ok(ExitStatus::Clean)
}

/// Visits and marks in the order of their records; what was taken back is dim.
fn drawn(timeline: &Timeline, palette: Palette) -> String {
    let mut lines: Vec<(u64, bool, String)> = Vec::new();
    for visit in &timeline.visits {
        let length = visit
            .until
            .map(|until| runs::length(until.saturating_sub(visit.since)));
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
        lines.push((
            visit.entered,
            visit.counts,
            format!("in {state}{number}  {stay}"),
        ));
    }
    for mark in &timeline.marks {
        if mark.what != Marked::Started {
            lines.push((mark.seq, mark.counts, marked(&mark.what)));
        }
    }
    for fork in &timeline.forks {
        let leaves = fork.leaves.join(", ");
        let text = format!("forked as {}: {} in {leaves}", fork.run, fork.status);
        lines.push((fork.at, true, text));
    }
    lines.sort_by_key(|(seq, _, _)| *seq);
    let mut text = format!(
        "{} up to record {}\n",
        palette.strong(&timeline.run),
        timeline.seq
    );
    for (run, at) in &timeline.origins {
        let _ = writeln!(text, "       begins with {run} up to record {at}");
    }
    for (seq, counts, line) in lines {
        let taken_back = if counts { "" } else { "  taken back" };
        let _ = writeln!(text, "{seq:>5}  {line}{}", palette.dim(taken_back));
    }
    text
}

fn marked(what: &Marked) -> String {
    match what {
        Marked::Started => "began".to_owned(),
        Marked::Forked { from, at } => format!("forked from {from} at {at}"),
        Marked::Forced { to } => format!("forced to {to}"),
        Marked::Rewound { to, crossed, .. } if crossed.is_empty() => format!("back to {to}"),
        Marked::Rewound { to, crossed, .. } => {
            format!("back to {to}, leaving behind {}", crossed.join(", "))
        }
        Marked::CheckpointTaken { name } => format!("checkpoint {name}"),
        Marked::CheckpointRestored { name, done: true } => format!("files back to {name}"),
        Marked::CheckpointRestored { name, done: false } => format!("about to restore {name}"),
        Marked::Migrated { workflow: None } => "under another table".to_owned(),
        Marked::Migrated {
            workflow: Some(workflow),
        } => format!("under another table, as {workflow}"),
        Marked::Paused => "paused".to_owned(),
        Marked::Continued => "goes on".to_owned(),
        Marked::Cancelled => "cancelled".to_owned(),
        Marked::Closed => "closed".to_owned(),
    }
}
