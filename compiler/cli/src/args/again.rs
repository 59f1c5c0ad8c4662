//! The arguments of the commands that hold a run against a machine: its own, or another.

use super::{SpecsArgs, StoreArgs};

/// Run the machine again over a journal, and compare.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark replay build-7\n  \
                        statemark replay build-7 --under build.md     what another version would have done\n\n\
                        Every step is made again from the same data at the same time; nothing is written.\n\
                        Exit code 1: a record isn't what the machine does; the first one is shown.")]
pub(crate) struct ReplayArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Under this machine instead of the run's own: a spec, a table, or a workflow's id
    #[arg(long, value_name = "SPEC")]
    pub(crate) under: Option<String>,
    #[command(flatten)]
    pub(crate) specs: SpecsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Let a run go on under another machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark migrate build-7 --to build --dry-run          can it go on under the spec as it is now?\n  \
                        statemark migrate build-7 --to build.md\n  \
                        statemark migrate build-7 --to build --map review=check\n\n\
                        What the run stands on must be there under the same name, or under the one that `--map` gives:\n\
                        active states, what histories remember, timers, and what waits for an approval.\n\
                        No state is entered or left, and no action is carried out.\n\
                        An agent moves a run only to a spec with other words; a person, to whatever they decide.\n\
                        Exit code 1: something has no counterpart, or needs a person; all of it is\n\
                        listed, and the run is as it was.")]
pub(crate) struct MigrateArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The machine that it goes on under: a spec, a table, or a workflow's id
    #[arg(long, value_name = "SPEC|WORKFLOW")]
    pub(crate) to: String,
    /// A state that has another name there; may be given several times
    #[arg(long = "map", value_name = "OLD=NEW")]
    pub(crate) states: Vec<String>,
    /// A timer that has another name there; those of a renamed state have its new name by themselves
    #[arg(long = "map-timer", value_name = "OLD=NEW")]
    pub(crate) timers: Vec<String>,
    /// Only say what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The same key with the same order gives the first answer again
    #[arg(long, value_name = "KEY", conflicts_with = "dry_run")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) specs: SpecsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
