//! The arguments of the commands that go back in a run's past, or leave it.

use clap::ValueEnum;

use super::StoreArgs;

/// Show everything that has become of a run, what was taken back included.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark timeline build-7\n  \
                        statemark timeline build-7 --json")]
pub(crate) struct TimelineArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Begin a run that shares another's journal up to a record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark fork build-7 --at 12\n  \
                        statemark fork build-7 --at 12 --run-id try-2 --input '{\"retries\": 0}'\n  \
                        statemark fork build-7 --at 12 --reset review    as it was before `review` was entered last\n  \
                        statemark fork build-7 --at 12 --restore-workspace --dry-run    which files would change\n\n\
                        The other run is untouched. Files that are overwritten are saved before.")]
pub(crate) struct ForkArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The last record that counts in both
    #[arg(long, value_name = "SEQ")]
    pub(crate) at: u64,
    /// States that shall not have been entered yet: it begins before the first of them was, or with the first records
    #[arg(long, value_name = "STATE", value_delimiter = ',')]
    pub(crate) reset: Vec<String>,
    /// What to call the new run; else it gets a name
    #[arg(long, value_name = "RUN")]
    pub(crate) run_id: Option<String>,
    /// JSON object with the data that is different from there on
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// Begin without artifacts
    #[arg(long)]
    pub(crate) drop_artifacts: bool,
    /// Put the files back to the checkpoint that has them as they were then
    #[arg(long)]
    pub(crate) restore_workspace: bool,
    /// Only show what the new run would begin with
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Take back what came after a record.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark rewind build-7 --to 12                    what it would undo, and a token\n  \
                        statemark rewind build-7 --to 12 --token 5f0c…      does it\n\n\
                        Nothing is deleted: the journal keeps what was taken back, and the rewind itself.")]
pub(crate) struct RewindArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The last record that still counts
    #[arg(long, value_name = "SEQ")]
    pub(crate) to: u64,
    /// What is taken back: state, workspace or both
    #[arg(long, value_enum, value_name = "SCOPE", default_value_t = ScopeArg::State, hide_possible_values = true)]
    pub(crate) scope: ScopeArg,
    /// The token of the dry run; without it, this is the dry run
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Leave effects behind that nothing takes back; it stays recorded
    #[arg(long, requires = "token")]
    pub(crate) force: bool,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// What a rewind takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArg {
    /// What the journal says.
    State,
    /// The files.
    Workspace,
    /// Both.
    Both,
}
