//! `checkpoint`: working copies that are saved with a run, and restored.

use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use statemark_runs::body::{Body, CheckpointRestored, CheckpointTaken, LeftOut, Refused};
use statemark_runs::runs::{RestoreFiles, TakeCheckpoint};
use statemark_runs::state::Checkpoint as SavedCheckpoint;
use statemark_runs::{FinishRestore, GiveUpRestore, Key, Written, shell_word};
use statemark_text::visible;

use super::REPLAYED;
use crate::args::{RunArgs, StoreArgs, TextFormat};
use crate::clock::format_time;
use crate::failure::{CommandResult, ExitStatus};
use crate::printer::{Palette, Printer};
use crate::runs;

/// Save working copies with a run, and restore them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark checkpoint take build-7 --name before-refactoring\n  \
                        statemark checkpoint list build-7\n  \
                        statemark checkpoint restore build-7 before-refactoring")]
pub(crate) struct CheckpointArgs {
    /// The subcommand
    #[command(subcommand)]
    command: CheckpointCommand,
}

/// A subcommand of `checkpoint`.
#[derive(Debug, Subcommand)]
enum CheckpointCommand {
    Take(TakeArgs),
    Restore(RestoreArgs),
    List(ListArgs),
}

/// Save the files of a git repository with a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark checkpoint take build-7\n  \
                        statemark checkpoint take build-7 --name green --reason 'all tests pass'\n\n\
                        Saves tracked files, and others that git doesn't ignore, in .statemark/checkpoints.git. Branch,\n\
                        index and stash stay as they are, and nothing that the repository configures is run. Stores and\n\
                        folders .statemark are no part of it.\n\
                        Exit code 1: there is a checkpoint of that name already.")]
struct TakeArgs {
    /// The checkpoint's name; by default, the number of its record
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A folder in the repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    run: RunArgs,
}

/// Restore files; the run stays where it is.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("how").required(true),
    after_help = "Examples:\n  \
                  statemark checkpoint restore build-7 green\n  \
                  statemark checkpoint restore build-7 --finish                     an interrupted restore\n  \
                  statemark checkpoint restore build-7 --give-up 'the disk is gone'\n\n\
                  Overwritten files are saved first, in a safety copy: it isn't listed, and its name, which is\n\
                  printed, restores it. Afterwards the files are compared.\n\
                  `statemark rewind RUN --to SEQ --scope both` rewinds the run along with the files.\n\
                  Exit code 1: there is no such checkpoint, or a restore is under way."
)]
struct RestoreArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The checkpoint
    #[arg(value_name = "NAME", group = "how")]
    name: Option<String>,
    /// Finish a restore that was interrupted
    #[arg(long, group = "how")]
    finish: bool,
    /// Give up a restore that can't be finished, for this reason; the files stay as they are
    #[arg(long, value_name = "TEXT", group = "how")]
    give_up: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY", conflicts_with = "finish")]
    key: Option<Key>,
    #[command(flatten)]
    store: StoreArgs,
}

/// List the checkpoints of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark checkpoint list build-7\n  \
                        statemark checkpoint list build-7 --json     one checkpoint a line")]
struct ListArgs {
    #[command(flatten)]
    run: RunArgs,
}

impl From<&TakeArgs> for TakeCheckpoint {
    fn from(args: &TakeArgs) -> Self {
        Self {
            folder: args.folder.clone(),
            name: args.name.clone(),
            reason: args.reason.clone(),
        }
    }
}

/// Runs a subcommand.
pub(in crate::commands) fn run(args: &CheckpointArgs, printer: &mut Printer) -> CommandResult {
    match &args.command {
        CheckpointCommand::Take(args) => {
            let (run, checkpoint) = (&args.run, TakeCheckpoint::from(args));
            let runs = runs::open(&run.store)?;
            let written = runs::execute(&runs, &run.id, args.key.as_ref(), &checkpoint)?;
            Ok(Answer::new(&written).print(run.store.format(), printer))
        }
        CheckpointCommand::Restore(args) => restore(args, printer),
        CheckpointCommand::List(args) => list(args, printer),
    }
}

fn restore(args: &RestoreArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let (run, key) = (args.run.as_str(), args.key.as_ref());
    let written = match (args.name.clone(), args.give_up.clone()) {
        (Some(name), _) => runs::execute(&runs, run, key, &RestoreFiles { name })?,
        (None, Some(reason)) => runs::execute(&runs, run, key, &GiveUpRestore { reason })?,
        (None, None) => runs::execute(&runs, run, key, &FinishRestore)?,
    };
    Ok(Answer::new(&written).print(args.store.format(), printer))
}

/// The outcome of an order, as `--json` prints it.
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
    replayed: bool,
}

impl Answer {
    fn new<T>(written: &Written<T>) -> Self {
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

    fn print(&self, format: TextFormat, printer: &mut Printer) -> ExitStatus {
        if format == TextFormat::Json {
            printer.json(self);
            return ExitStatus::clean_if(self.refused.is_none());
        }
        if self.replayed {
            printer.remark(REPLAYED);
        }
        printer.result(&self.describe(printer.palette()));
        if let Some(refused) = &self.refused {
            printer.refusal(&refused.reason);
        }
        ExitStatus::clean_if(self.refused.is_none())
    }

    fn describe(&self, palette: Palette) -> String {
        let mut text = String::new();
        for checkpoint in &self.taken {
            let name = palette.strong(&checkpoint.name);
            let commit = palette.dim(&format!("  {}", checkpoint.commit));
            let what = if checkpoint.safety {
                "what was there is saved as"
            } else {
                "saved as"
            };
            text += &format!("{what} {name}{commit}\n");
            for nested in &checkpoint.nested {
                text += &format!("  without {nested}, which is a repository of its own\n");
            }
            for LeftOut { path, cause } in &checkpoint.left_out {
                text += &format!("  without {path}, which {cause}\n");
            }
        }
        if let Some(restored) = &self.restored {
            let name = palette.strong(&restored.name);
            text += &match (&restored.given_up, restored.done) {
                (Some(_), _) => {
                    format!("the restore of {name} was given up; the files stay as they are\n")
                }
                (None, true) => format!("the files are as they were in {name}\n"),
                (None, false) => format!("the files are being restored to {name}\n"),
            };
        }
        text
    }
}

/// A checkpoint, as `--json` prints it.
#[derive(Serialize)]
struct CheckpointLine<'a> {
    #[serde(flatten)]
    checkpoint: &'a CheckpointTaken,
    seq: u64,
    time: u64,
    /// True if the files were last seen like that.
    current: bool,
}

fn list(args: &ListArgs, printer: &mut Printer) -> CommandResult {
    let (_, loaded) = runs::open_run(&args.run)?;
    let state = &loaded.state;
    let saved = state.saved_checkpoints();
    let palette = printer.palette();
    let width = saved.iter().map(|saved| saved.taken.name.chars().count());
    let width = width.max().unwrap_or(0);
    for saved in &saved {
        let current = state.workspace.as_ref() == Some(&saved.taken.name);
        if args.run.store.format() == TextFormat::Json {
            printer.json(&CheckpointLine {
                checkpoint: &saved.taken,
                seq: saved.seq,
                time: saved.time,
                current,
            });
        } else {
            printer.result(&checkpoint_line(saved, current, width, palette));
        }
    }
    let word = shell_word(loaded.run.as_str());
    if let Some(restoring) = &state.restoring {
        let name = &restoring.name;
        printer.remark(&format!(
            "the files are being restored to {name}; `statemark checkpoint restore {word} --finish` finishes it\n"
        ));
    } else if saved.is_empty() {
        printer.remark(&format!(
            "no checkpoints; `statemark checkpoint take {word}` takes one\n"
        ));
    }
    Ok(ExitStatus::Clean)
}

fn checkpoint_line(
    SavedCheckpoint { taken, seq, time }: &SavedCheckpoint,
    current: bool,
    width: usize,
    palette: Palette,
) -> String {
    let reason = taken
        .reason
        .as_ref()
        .map(|reason| format!("  {}", visible::line(reason)));
    let current = if current {
        "  (the files as last seen)"
    } else {
        ""
    };
    let time = palette.dim(&format_time(*time));
    let remark = match reason.unwrap_or_default() + current {
        none if none.is_empty() => none,
        some => " ".repeat(width.saturating_sub(taken.name.chars().count())) + &some,
    };
    let name = palette.strong(&taken.name);
    format!("{seq:>5}  {time}  {name}{remark}\n")
}
