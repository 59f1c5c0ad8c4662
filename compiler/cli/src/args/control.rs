//! The arguments of the commands that stop runs, let them go on, or set them by hand.

use super::StoreArgs;

/// Let a run stand still until somebody continues it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark pause build-7 --reason 'the network is down'\n\n\
                        No event is taken, and nothing that is due comes; it comes when the run goes on.")]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    pub(crate) on: OnRunArgs,
}

/// Let a paused run go on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark continue build-7\n  \
                        statemark continue --latest build      the run of that workflow that was paused last\n\n\
                        What a person or the run itself has paused needs a person's token: see `statemark token --help`.")]
pub(crate) struct ContinueArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN", required_unless_present = "latest")]
    pub(crate) run: Option<String>,
    /// Instead: the run of this workflow that was paused last
    #[arg(long, value_name = "WORKFLOW", conflicts_with = "run")]
    pub(crate) latest: Option<String>,
    /// Only one that was started for this project
    #[arg(long, value_name = "PATH", requires = "latest")]
    pub(crate) project: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The same key gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Give a run up.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark cancel build-7 --reason 'not needed any more'\n\n\
                        Its journal stays; `statemark rewind` can still take the cancelling back.")]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    pub(crate) on: OnRunArgs,
}

/// Set a run to a state by hand.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark force build-7 review --reason 'the hook was broken'\n\n\
                        Only where the definition says `\"meta\": {\"debug\": true}`, and only with a person's token: see\n\
                        `statemark token --help`. The journal shows it for ever.")]
pub(crate) struct ForceArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The state
    #[arg(value_name = "STATE")]
    pub(crate) state: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// A run and a reason.
#[derive(Debug, clap::Args)]
pub(crate) struct OnRunArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The same key gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
