//! The arguments of `run-check`.

use super::{SpecsArgs, StoreArgs};

/// Run a check that the workflow or the project declares.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark run-check tests\n  \
                        statemark run-check tests --run build-7        the run remembers what came of it\n  \
                        statemark run-check tests -- --nocapture       with more arguments; that counts for no run\n\n\
                        Checks stand in `checks` of a workflow's definition, or in statemark.toml:\n  \
                        [checks.tests]\n  \
                        command = [\"cargo\", \"test\"]\n  \
                        timeout = \"10m\"\n\n\
                        A run's own workflow comes first, then statemark.toml. What a workflow `requires` is the\n\
                        check that it declares itself, as it declares it. No shell is asked: a command is a list of\n\
                        words. It runs in the project's folder: that of statemark.toml, else the root of the\n\
                        repository; `cwd = \"…\"` names one below.\n\
                        Exit code 1: the check didn't pass.")]
pub(crate) struct RunCheckArgs {
    /// The check
    #[arg(value_name = "CHECK")]
    pub(crate) name: String,
    /// The run that it is for, or the beginning of its id [env: STATEMARK_RUN]
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// The workflow whose check is meant, where no run is
    #[arg(long, value_name = "WORKFLOW", conflicts_with = "run")]
    pub(crate) workflow: Option<String>,
    /// The same key isn't run again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// More arguments, behind the check's own
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) specs: SpecsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
