//! `start` and `send`: a run begins, and takes an event.

use serde_json::Value;
use statemark_runs::{Key, Order, RunId, SendEvent, StartRun};

use super::{print_outcome, print_run};
use crate::args::{self, SpecsArgs, StoreArgs};
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::Printer;
use crate::{project, runs};

/// Start a run of a workflow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark start build\n  \
                        statemark start build --run-id build-7 --input '{\"branch\": \"main\"}'\n\n\
                        The workflow is one that the specs below this folder define. The run keeps the machine that it\n\
                        started with, even when the spec changes.")]
pub(crate) struct StartArgs {
    /// The workflow's id
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
    /// The run's id; by default, one is made up
    #[arg(long, value_name = "RUN")]
    run_id: Option<RunId>,
    /// JSON object that is merged into the initial data
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    input: Option<Value>,
    /// A title for people
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    #[command(flatten)]
    specs: SpecsArgs,
    #[command(flatten)]
    store: StoreArgs,
}

impl From<&StartArgs> for StartRun {
    fn from(args: &StartArgs) -> Self {
        Self {
            workflow: args.workflow.clone(),
            input: args.input.clone().unwrap_or_default(),
            title: args.title.clone(),
            ..Self::default()
        }
    }
}

/// Starts a run.
pub(in crate::commands) fn start(args: &StartArgs, printer: &mut Printer) -> CommandResult {
    let runs = runs::open_with(&args.store, &args.specs, &args.workflow)?;
    let start = StartRun {
        project: Some(project::id(".")?),
        ..args.into()
    };
    let (id, key) = (args.run_id.as_ref(), args.key.as_ref());
    let written = runs::begin(&runs, id, &args.workflow, key, |order| {
        runs.execute(order, &start)
    })?;
    print_run(&written.loaded, runs.now(), &args.store, printer)?;
    Ok(ExitStatus::Clean)
}

/// Send an event to a run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark send build-7 plan_ready\n  \
                        statemark send build-7 tests_done --data '{\"passed\": true}'\n  \
                        statemark send build-7 publish --claim 'the user agrees'\n  \
                        statemark send build-7 paid --key order-17          sent again, it gets the same answer\n\n\
                        Exit code 1: the event was refused; the message says what could be sent.")]
pub(crate) struct SendArgs {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    run: String,
    /// The event
    #[arg(value_name = "EVENT")]
    event: String,
    /// The event's data, as JSON
    #[arg(long, value_name = "JSON", value_parser = args::json)]
    data: Option<Value>,
    /// What you claim to be so: a guard that nothing defines, in its words; may be repeated
    #[arg(long = "claim", value_name = "TEXT")]
    claims: Vec<String>,
    /// Idempotency key: a repeated order gets the first answer again
    #[arg(long, value_name = "KEY")]
    key: Option<Key>,
    /// The record that the run must end with
    #[arg(long, value_name = "SEQ")]
    expected_seq: Option<u64>,
    #[command(flatten)]
    store: StoreArgs,
}

impl TryFrom<&SendArgs> for SendEvent {
    type Error = Failure;

    fn try_from(args: &SendArgs) -> Result<Self, Failure> {
        Ok(Self {
            event: args.event.clone(),
            data: args.data.clone(),
            claims: args::claims(&args.claims)?,
        })
    }
}

/// Sends an event.
pub(in crate::commands) fn send(args: &SendArgs, printer: &mut Printer) -> CommandResult {
    let send = SendEvent::try_from(args)?;
    let runs = runs::open(&args.store)?;
    let run = runs::load(&runs, &args.run)?.run;
    let order = Order {
        expected: args.expected_seq,
        ..runs::order(&runs, run, args.key.as_ref())?
    };
    let written = runs.execute(&order, &send)?;
    print_outcome(&written, &runs, &args.store, printer)
}
