//! The arguments of `artifacts`.

use std::path::PathBuf;

use clap::Subcommand;

use super::StoreArgs;

/// Hand in what a run has to produce, checked against its contract.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark artifacts list build-7\n  \
                        statemark artifacts check build-7 plan plan.md       what its contract says; nothing is kept\n  \
                        statemark artifacts put build-7 plan plan.md         a draft\n  \
                        statemark artifacts put build-7 plan plan.md --final\n  \
                        statemark artifacts show build-7 plan > plan.md")]
pub(crate) struct ArtifactsArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: ArtifactsWhat,
}

/// What to do with artifacts.
#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactsWhat {
    /// List the artifacts of a run, and those that it still wants
    List {
        /// The run, or the beginning of its id
        #[arg(value_name = "RUN")]
        run: String,
        /// Every revision
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Print a revision: the newest that isn't discarded, or the one that is named
    Show {
        #[command(flatten)]
        on: OnArtifactArgs,
    },
    /// Check a file against the contract of an artifact
    Check {
        #[command(flatten)]
        from: FromFileArgs,
    },
    /// Hand a file in as the next revision: a draft, unless it is --final
    Put {
        #[command(flatten)]
        from: FromFileArgs,
        /// It is what counts; what its contract refuses stays a draft
        #[arg(long = "final")]
        is_final: bool,
        /// The revision that it was made from: refused if another is newer
        #[arg(long, value_name = "REVISION")]
        base: Option<u64>,
        /// Its media type
        #[arg(long, value_name = "TYPE")]
        media: Option<String>,
        /// The same key gives the first answer again
        #[arg(long, value_name = "KEY")]
        key: Option<String>,
    },
    /// Make a draft final
    Final {
        #[command(flatten)]
        on: OnArtifactArgs,
    },
    /// Throw a revision away: the newest if it is a draft, or the one that is named
    Discard {
        #[command(flatten)]
        on: OnArtifactArgs,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

/// A revision of an artifact.
#[derive(Debug, clap::Args)]
pub(crate) struct OnArtifactArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The artifact
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Which revision
    #[arg(long, value_name = "REVISION")]
    pub(crate) revision: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// A file for an artifact.
#[derive(Debug, clap::Args)]
pub(crate) struct FromFileArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The artifact
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
