//! The arguments of `checkpoint`.

use std::path::PathBuf;

use clap::Subcommand;

use super::StoreArgs;

/// Save working copies with a run, and put them back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark checkpoint take build-7 --name before-refactoring\n  \
                        statemark checkpoint list build-7\n  \
                        statemark checkpoint restore build-7 before-refactoring")]
pub(crate) struct CheckpointArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: CheckpointWhat,
}

/// What to do with working copies.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointWhat {
    Take(TakeArgs),
    Restore(RestoreArgs),
    List(CheckpointsArgs),
}

/// Save the files of a git repository with a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark checkpoint take build-7\n  \
                        statemark checkpoint take build-7 --name green --reason 'all tests pass'\n\n\
                        Tracked files, and others that git doesn't ignore. No branch, index or stash is touched: the files\n\
                        become a commit under refs/statemark/.\n\
                        Exit code 1: there is a checkpoint of that name already.")]
pub(crate) struct TakeArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// What to call it; else the number of its record
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A folder in the repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The same key with the same order gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Put files back as they were; the run stays where it is.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("how").required(true),
    after_help = "Examples:\n  \
                  statemark checkpoint restore build-7 green\n  \
                  statemark checkpoint restore build-7 --finish                     what was interrupted\n  \
                  statemark checkpoint restore build-7 --give-up 'the disk is gone'\n\n\
                  What is overwritten is saved first, as a checkpoint of its own. Afterwards the files are compared.\n\
                  `statemark rewind RUN --to SEQ --scope both` takes the run back along with the files.\n\
                  Exit code 1: there is no such checkpoint, or files are being put back already."
)]
pub(crate) struct RestoreArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The checkpoint
    #[arg(value_name = "NAME", group = "how")]
    pub(crate) name: Option<String>,
    /// Go on with a restore that was interrupted
    #[arg(long, group = "how")]
    pub(crate) finish: bool,
    /// Give up a restore that can't be finished, and say why; the files stay as they are
    #[arg(long, value_name = "TEXT", group = "how")]
    pub(crate) give_up: Option<String>,
    /// The same key with the same order gives the first answer again
    #[arg(long, value_name = "KEY", conflicts_with = "finish")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// List the working copies that were saved with a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark checkpoint list build-7\n  \
                        statemark checkpoint list build-7 --json     one checkpoint a line")]
pub(crate) struct CheckpointsArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
