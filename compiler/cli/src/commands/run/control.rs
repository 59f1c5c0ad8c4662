//! `pause`, `continue`, `cancel` and `force`: a run is stopped, resumed, or set by hand.

use statemark_runs::{
    CancelRun, ContinueRun, ForceState, Key, Operation, Order, PauseRun, RunId, Runs, Written,
};

use super::print_outcome;
use crate::args::{RunArgs, StoreArgs};
use crate::failure::{CommandResult, Failure, UNKNOWN_RUN};
use crate::printer::Printer;
use crate::{project, runs};

/// Pause a run until somebody continues it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark pause build-7 --reason 'the network is down'\n\n\
                        A paused run takes no event, and its timers fire when it is continued.")]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    stop: StopArgs,
}

/// Cancel a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark cancel build-7 --reason 'not needed any more'\n\n\
                        Its journal stays; `statemark rewind` can still undo the cancellation.")]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    stop: StopArgs,
}

/// A run, and the reason to stop it.
#[derive(Debug, clap::Args)]
pub(crate) struct StopArgs {
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    run: RunArgs,
}

/// Pauses a run.
pub(in crate::commands) fn pause(args: &PauseArgs, printer: &mut Printer) -> CommandResult {
    let reason = args.stop.reason.clone();
    stop(&args.stop, ("pause", &PauseRun { reason }), printer)
}

/// Cancels a run.
pub(in crate::commands) fn cancel(args: &CancelArgs, printer: &mut Printer) -> CommandResult {
    let reason = args.stop.reason.clone();
    stop(&args.stop, ("cancel", &CancelRun { reason }), printer)
}

fn stop<T>(
    args: &StopArgs,
    (deed, operation): (&str, &impl Operation<Order = Order, Response = Written<T>>),
    printer: &mut Printer,
) -> CommandResult {
    let StopArgs { run, key, .. } = args;
    let runs = runs::open(&run.store)?;
    let written = runs::execute_as_person(&runs, &run.id, deed, (key.as_ref(), operation))?;
    print_outcome(&written, &runs, &run.store, printer)
}

/// Continue a paused run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark continue build-7\n  \
                        statemark continue --latest build      the run of that workflow that was paused last\n\n\
                        A run that a person or the run itself has paused needs a person's token: see\n\
                        `statemark token --help`.")]
pub(crate) struct ContinueArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN", required_unless_present = "latest")]
    run: Option<String>,
    /// Instead: the run of this workflow that was paused last
    #[arg(long, value_name = "WORKFLOW", conflicts_with = "run")]
    latest: Option<String>,
    /// Only a run that was started for this project
    #[arg(long, value_name = "PATH", requires = "latest")]
    project: Option<String>,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    store: StoreArgs,
}

/// Continues a run.
pub(in crate::commands) fn resume(args: &ContinueArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let run = match (&args.run, &args.latest) {
        (Some(run), _) => runs::load(&runs, run)?.run,
        (None, latest) => latest_paused(&runs, latest.as_deref().unwrap_or_default(), args)?,
    };
    let order = {
        let deed = format!("continue run `{run}`");
        runs::person_order(&runs, run, args.key.as_ref(), &deed)?
    };
    let reason = args.reason.clone();
    let written = runs.execute(&order, &ContinueRun { reason })?;
    print_outcome(&written, &runs, &args.store, printer)
}

fn latest_paused(runs: &Runs, workflow: &str, args: &ContinueArgs) -> Result<RunId, Failure> {
    let project = args.project.as_deref().map(project::id).transpose()?;
    let run = statemark_runs::latest_paused(runs, workflow, project.as_deref())?;
    run.ok_or_else(|| {
        Failure::new(format!("no run of `{workflow}` is paused"))
            .with_code(UNKNOWN_RUN)
            .with_help("`statemark runs --status paused` lists the paused runs")
    })
}

/// Set a run to a state by hand.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
                        statemark force build-7 review --reason 'the hook was broken'\n\n\
                        Only where the definition has `\"meta\": {\"debug\": true}`, and only with a person's token: see\n\
                        `statemark token --help`. The journal keeps it forever.")]
pub(crate) struct ForceArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The state
    #[arg(value_name = "STATE")]
    state: String,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

impl From<&ForceArgs> for ForceState {
    fn from(args: &ForceArgs) -> Self {
        Self {
            to: args.state.clone(),
            reason: args.reason.clone(),
            ..Self::default()
        }
    }
}

/// Sets a run to a state.
pub(in crate::commands) fn force(args: &ForceArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open(&args.store)?;
    let written = {
        let force = ForceState::from(args);
        let deed = format!("force to `{}`", args.state);
        runs::execute_as_person(&runs, &args.run, &deed, (None, &force))?
    };
    print_outcome(&written, &runs, &args.store, printer)
}
