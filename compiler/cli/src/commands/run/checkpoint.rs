//! `checkpoint`: working copies that are saved with a run, and put back.

use serde::Serialize;
use statemark_runs::body::{Body, CheckpointRestored, CheckpointTaken, Refused};
use statemark_runs::runs::{Checkpoint, Restore};
use statemark_runs::state::Checkpoint as Kept;
use statemark_runs::{FinishRestore, GiveUpRestore, Written};

use super::shown;
use crate::args::{
    CheckpointArgs, CheckpointWhat, CheckpointsArgs, RestoreArgs, TakeArgs, TextFormat,
};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &CheckpointArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    match &args.what {
        CheckpointWhat::Take(args) => take(args, printer),
        CheckpointWhat::Restore(args) => restore(args, printer),
        CheckpointWhat::List(args) => list(args, printer),
    }
}

/// What came of it; what `--json` prints.
#[derive(Default, Serialize)]
struct Answer {
    /// The checkpoints that were taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<CheckpointTaken>,
    /// The restore, as far as it has come.
    #[serde(skip_serializing_if = "Option::is_none")]
    restored: Option<CheckpointRestored>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    /// Whether the same request was answered before.
    replayed: bool,
}

impl Answer {
    fn of<T>(written: &Written<T>) -> Self {
        let mut answer = Self {
            replayed: written.replayed,
            ..Self::default()
        };
        for body in written.records.iter().filter_map(|it| it.read().ok()) {
            match body {
                Body::CheckpointTaken(taken) => answer.taken.push(taken),
                Body::CheckpointRestored(restored) => answer.restored = Some(restored),
                Body::Refused(refused) => answer.refused = Some(refused),
                _ => {}
            }
        }
        answer
    }

    fn show(&self, format: TextFormat, printer: &mut Printer) -> ExitStatus {
        if format == TextFormat::Json {
            printer.result(&shown::json(self));
        } else {
            if self.replayed {
                printer.talk("answered before, under the same key\n");
            }
            printer.result(&self.text(printer));
        }
        match &self.refused {
            None => ExitStatus::Clean,
            Some(refused) => {
                if format == TextFormat::Text {
                    let bad = printer.talk_palette().bad("refused:");
                    printer.talk(&format!("{bad} {}\n", refused.reason));
                }
                ExitStatus::Findings
            }
        }
    }

    fn text(&self, printer: &Printer) -> String {
        let palette = printer.palette();
        let mut text = String::new();
        for taken in &self.taken {
            let name = palette.strong(&taken.name);
            text += &format!(
                "saved as {name}{}\n",
                palette.dim(&format!("  {}", taken.commit))
            );
            for nested in &taken.nested {
                text += &format!("  without {nested}, which is a repository of its own\n");
            }
        }
        if let Some(restored) = &self.restored {
            let name = palette.strong(&restored.name);
            text += &match (&restored.given_up, restored.done) {
                (Some(_), _) => format!("{name} was given up; the files stay as they are\n"),
                (None, true) => format!("the files are as they were in {name}\n"),
                (None, false) => format!("the files are being put back to {name}\n"),
            };
        }
        text
    }
}

fn take(args: &TakeArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let checkpoint = Checkpoint {
        folder: args.folder.clone(),
        name: args.name.clone(),
        reason: args.reason.clone(),
    };
    let written = all.execute(&runs::order(run, args.key.as_deref())?, &checkpoint)?;
    Ok(Answer::of(&written).show(args.store.format(), printer))
}

fn restore(args: &RestoreArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let order = runs::order(run, args.key.as_deref())?;
    let written = match (&args.name, &args.give_up) {
        (Some(name), _) => all.execute(&order, &Restore { name: name.clone() }),
        (None, Some(reason)) => {
            let reason = reason.clone();
            all.execute(&order, &GiveUpRestore { reason })
        }
        (None, None) => all.execute(&order, &FinishRestore),
    };
    Ok(Answer::of(&written?).show(args.store.format(), printer))
}

/// A checkpoint as programs read it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    taken: &'a CheckpointTaken,
    seq: u64,
    time: u64,
    /// Whether the files were last seen like that.
    current: bool,
}

fn list(args: &CheckpointsArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let loaded = runs::load(&all, &args.run)?;
    let state = &loaded.state;
    let mut kept: Vec<&Kept> = state.checkpoints.values().collect();
    kept.sort_by_key(|it| it.seq);
    let palette = printer.palette();
    let width = kept.iter().map(|it| it.taken.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for Kept { taken, seq, time } in &kept {
        let current = state.workspace.as_ref() == Some(&taken.name);
        if args.store.format() == TextFormat::Json {
            let (seq, time) = (*seq, *time);
            printer.result(&shown::json(&Line {
                taken,
                seq,
                time,
                current,
            }));
            continue;
        }
        let reason = taken.reason.as_ref().map(|it| format!("  {it}"));
        let reason = reason.unwrap_or_default();
        let current = if current {
            "  (the files as last seen)"
        } else {
            ""
        };
        let time = palette.dim(&runs::time(*time));
        let name = &taken.name;
        let behind = match format!("{reason}{current}") {
            none if none.is_empty() => none,
            some => " ".repeat(width.saturating_sub(name.chars().count())) + &some,
        };
        let name = palette.strong(name);
        printer.result(&format!("{seq:>5}  {time}  {name}{behind}\n"));
    }
    if let Some(restoring) = &state.restoring {
        let (run, name) = (&loaded.run, &restoring.name);
        printer.talk(&format!(
            "the files are being put back to {name}; `statemark checkpoint restore {run} --finish` goes on\n"
        ));
    } else if kept.is_empty() {
        let run = &loaded.run;
        printer.talk(&format!(
            "no checkpoints; `statemark checkpoint take {run}` takes one\n"
        ));
    }
    Ok(ExitStatus::Clean)
}
