//! The arguments of the commands that drive runs.

use std::path::PathBuf;

use super::TextFormat;

/// Where runs are kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Where runs are kept: a file or an address [env: STATEMARK_STORE; else statemark.toml; default: .statemark/runs.db]
    #[arg(long, value_name = "STORE", global = false)]
    pub(crate) store: Option<String>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

impl StoreArgs {
    /// For people or for programs.
    pub(crate) const fn format(&self) -> TextFormat {
        if self.json {
            TextFormat::Json
        } else {
            TextFormat::Text
        }
    }
}

/// Where workflows come from.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SpecsArgs {
    /// Files and folders with the specs of workflows
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) specs: Vec<PathBuf>,
}

/// Start a run of a workflow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark start build\n  \
                        statemark start build --run-id build-7 --input '{\"branch\": \"main\"}'\n\n\
                        The workflow is one that the specs below this folder define. The run goes on under the machine\n\
                        that it started with, whatever becomes of the spec.")]
pub(crate) struct StartArgs {
    /// The workflow's id
    #[arg(value_name = "WORKFLOW")]
    pub(crate) workflow: String,
    /// What to call the run; else it gets a name
    #[arg(long, value_name = "RUN")]
    pub(crate) run_id: Option<String>,
    /// JSON object that is merged into the data that the run begins with
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// A title for people
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// The same key gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) specs: SpecsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Send an event to a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark send build-7 plan_ready\n  \
                        statemark send build-7 tests_done --data '{\"passed\": true}'\n  \
                        statemark send build-7 paid --key order-17          sent again, it is answered, not taken again\n\n\
                        Exit code 1: the event was refused; what would be legal is said with it.")]
pub(crate) struct SendArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The event
    #[arg(value_name = "EVENT")]
    pub(crate) event: String,
    /// JSON that comes with it
    #[arg(long, value_name = "JSON")]
    pub(crate) data: Option<String>,
    /// The same key with the same event gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The record that the run must end with
    #[arg(long, value_name = "SEQ")]
    pub(crate) expected_seq: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Show where a run is and what it could do next.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark state build-7\n  \
                        statemark state build-7 --at 12      as it was after record 12\n  \
                        statemark state build-7 --watch\n  \
                        statemark state build-7 --json")]
pub(crate) struct StateArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Show it as it was after this record
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: Option<u64>,
    /// Show it again whenever it changes, until the run is over
    #[arg(long, conflicts_with = "at")]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Say why a run stands where it does, and what would move it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark why build-7\n  \
                        statemark why build-7 --event plan_ready     why that event would be taken or not")]
pub(crate) struct WhyArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// About one event
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Show the journal of a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark events build-7\n  \
                        statemark events build-7 --after 12 --watch     what comes, as it comes\n  \
                        statemark events build-7 --json                 one record a line")]
pub(crate) struct EventsArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Only records behind this one
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub(crate) after: u64,
    /// Only of this kind, such as `event` or `refused`; may be given several times
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    /// Go on showing what comes until the run is over
    #[arg(long)]
    pub(crate) watch: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// List runs, the latest first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark runs\n  \
                        statemark runs --status waiting,paused\n  \
                        statemark runs --workflow build --limit 5")]
pub(crate) struct RunsArgs {
    /// Only with these statuses: running, waiting, paused, completed, failed, cancelled
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Only of this workflow
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: Option<String>,
    /// Most of them
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Wait until a run is over or needs somebody.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark wait build-7\n  \
                        statemark wait build-7 --for completed --timeout 10m\n\n\
                        Exit code 1: the time was over, or the run ended otherwise than waited for.")]
pub(crate) struct WaitArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Until it has one of these statuses; else until it isn't running
    #[arg(long = "for", value_name = "STATUS", value_delimiter = ',')]
    pub(crate) statuses: Vec<String>,
    /// Longest time to wait, such as 30s or 10m; else for ever
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
