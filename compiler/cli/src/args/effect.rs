//! The arguments of `effect`.

use clap::{Subcommand, ValueEnum};
use statemark_runs::body::EffectStatus;

use super::StoreArgs;

/// Say what became of what a run had to do in the world.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark effect list build-7 --open\n  \
                        statemark effect report build-7 build-7:4:1 intended\n  \
                        statemark effect report build-7 build-7:4:1 succeeded --detail '{\"id\": 17}'")]
pub(crate) struct EffectArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) what: EffectWhat,
}

/// What to do about effects.
#[derive(Debug, Subcommand)]
pub(crate) enum EffectWhat {
    List(EffectsArgs),
    Report(ReportArgs),
}

/// List the effects of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark effect list build-7\n  \
                        statemark effect list build-7 --open     that nobody has carried out for certain\n  \
                        statemark effect list build-7 --json     one effect a line")]
pub(crate) struct EffectsArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Only those that nobody has carried out for certain
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Say what became of an effect.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark effect report build-7 build-7:4:1 intended        before it is done\n  \
                        statemark effect report build-7 build-7:4:1 succeeded\n  \
                        statemark effect report build-7 build-7:4:1 failed --detail '{\"error\": \"timeout\"}'\n\n\
                        intended     somebody is about to carry it out\n  \
                        succeeded    it is done\n  \
                        failed       it has done nothing, and may be tried again\n  \
                        unknown      nobody knows whether it was done\n  \
                        compensated  it was done, and taken back\n\n\
                        An action that its definition calls idempotent may be reported when it is done.\n\
                        Exit code 1: that can't have become of it; what could have is said with it.")]
pub(crate) struct ReportArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The effect, as its step names it: RUN:SEQ:NUMBER
    #[arg(value_name = "EFFECT")]
    pub(crate) effect: String,
    /// What became of it: intended, succeeded, failed, unknown or compensated
    #[arg(value_enum, value_name = "STATUS", hide_possible_values = true)]
    pub(crate) status: StatusArg,
    /// JSON with whatever else there is to say
    #[arg(long, value_name = "JSON")]
    pub(crate) detail: Option<String>,
    /// The same key with the same report gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// What became of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusArg {
    Intended,
    Succeeded,
    Failed,
    Unknown,
    Compensated,
}

impl From<StatusArg> for EffectStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Intended => Self::Intended,
            StatusArg::Succeeded => Self::Succeeded,
            StatusArg::Failed => Self::Failed,
            StatusArg::Unknown => Self::Unknown,
            StatusArg::Compensated => Self::Compensated,
        }
    }
}
