//! The arguments of `store`: keeping the place where runs are kept.

use std::path::PathBuf;

use clap::{ArgGroup, Subcommand};

use super::StoreArgs;

/// Look after the place where runs are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store verify                            is everything as it was written?\n  \
                        statemark store backup copy.db                    while others write\n  \
                        statemark store export runs.jsonl                 as lines of JSON\n  \
                        statemark store migrate .statemark/runs.db postgres://runs.example.org/statemark")]
pub(crate) struct KeepArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: Keep,
}

/// What to do with a store.
#[derive(Debug, Subcommand)]
pub(crate) enum Keep {
    Verify(VerifyArgs),
    Backup(BackupArgs),
    Wake(WakeArgs),
    Export(ExportArgs),
    Import(ImportArgs),
    Prune(PruneArgs),
    Migrate(MoveArgs),
}

/// Say whether everything is as it was written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store verify\n  \
                        statemark store verify --run build-7\n  \
                        statemark store verify --store copy.db --json\n\n\
                        Every record, fold and blob is read and compared with its hash; nothing is written.\n\
                        Exit code 1: something isn't as it was written; each is named with its run and record.")]
pub(crate) struct VerifyArgs {
    /// Only this run, or the beginning of its id
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Copy the store to a file, while others write to it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store backup copy.db\n  \
                        statemark store backup copy.db --overwrite\n\n\
                        The copy is the store at one moment. It sleeps, so that two stores never act on one run: it is\n\
                        read, and nothing is sent or comes due in it before `statemark store wake --store copy.db`\n\
                        makes it the store. It is for stores in a file; a server has backups of its own, and\n\
                        `statemark store export` writes the runs of any store.")]
pub(crate) struct BackupArgs {
    /// The new file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Make a backup the store: from now on its timers go off.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store wake --store copy.db\n\n\
                        The store that it was copied from must not be used any more: both would act on the same runs.")]
pub(crate) struct WakeArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Write runs as lines of JSON.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store export runs.jsonl\n  \
                        statemark store export --run build-7 build-7.jsonl\n  \
                        statemark store export - | gzip > runs.jsonl.gz\n\n\
                        Blobs, keys and hashes are in it: `statemark store import` makes the same runs of it.\n\
                        Runs may hold what nobody else should read: the file is the owner's alone.\n\
                        A damaged run isn't exported: see `statemark store verify`.")]
pub(crate) struct ExportArgs {
    /// The file to write, or `-` for standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Only this run, or the beginning of its id, with those that it was forked from and those that work for it
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Replace the file if it is there
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Read runs that `export` wrote.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store import runs.jsonl\n  \
                        statemark store import runs.jsonl --store other.db\n  \
                        gunzip -c runs.jsonl.gz | statemark store import -\n\n\
                        Each run comes whole or not at all, and only if its hashes are right. One that is there already\n\
                        is passed over if it is the same; nothing is ever overwritten.")]
pub(crate) struct ImportArgs {
    /// The file to read, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Throw runs away that are over.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("which").required(true).multiple(true),
    after_help = "Examples:\n  \
                  statemark store prune --older-than 30d              what would go\n  \
                  statemark store prune --older-than 30d --yes        it goes\n  \
                  statemark store prune --keep 100 --yes              all that are over but the last 100\n\n\
                  Only runs that are completed, failed or cancelled go. One that a fork begins with stays, and one\n\
                  that works for a run that isn't over."
)]
pub(crate) struct PruneArgs {
    /// Those that were changed last so long ago, such as 12h or 30d
    #[arg(long, value_name = "TIME", group = "which")]
    pub(crate) older_than: Option<String>,
    /// All but the last so many of those that are over
    #[arg(long, value_name = "N", group = "which")]
    pub(crate) keep: Option<usize>,
    /// Really; else it is only said which would go
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Put all runs of a store into another.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark store migrate .statemark/runs.db postgres://runs.example.org/statemark\n  \
                        statemark store migrate copy.db new.db\n\n\
                        The first store is only read, and should rest meanwhile. Each run comes whole or not at all;\n\
                        asked again, it goes on where it was. Then tell the project where its runs are: STATEMARK_STORE,\n\
                        or `store` in statemark.toml.")]
pub(crate) struct MoveArgs {
    /// The store that the runs are in: a file or an address
    #[arg(value_name = "FROM")]
    pub(crate) from: String,
    /// The store that they go to; a file is made if it isn't there
    #[arg(value_name = "TO")]
    pub(crate) to: String,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
