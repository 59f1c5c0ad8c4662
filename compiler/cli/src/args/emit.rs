//! The arguments of `emit`.

use super::{SpecsArgs, StoreArgs};

/// Report on a run: a step's status, a file, a remark.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        statemark emit --workflow build --type status_change --run-id R --step design --data '{\"status\": \"running\"}'\n  \
                        statemark emit --workflow build --type status_change --run-id R --step task-builder:building --unit T1 --data '{\"status\": \"running\"}'\n  \
                        statemark emit --workflow build --type artifact_registered --run-id R --step design --data '{\"path\": \"design.md\"}'\n  \
                        statemark emit --workflow build --type waiting_for_user --run-id R --data '{\"prompt\": \"Which of the two?\"}'\n\n\
                        Types and their data:\n  \
                        status_change        status: not_started, running, waiting, completed, failed or skipped; message\n  \
                        artifact_registered  path, feature, type, storageRoot, subflow\n  \
                        annotation_updated   docId, content, data, parentId\n  \
                        waiting_for_user     prompt, context\n  \
                        btw_update           message, metadata\n  \
                        subflow_registered   parentStepId, subflowName, steps or diagram\n\n\
                        The first report on a run starts it; a report on a step that isn't active enters it.\n\
                        Exit code 1: the report was refused; what would be legal is said with it.")]
pub(crate) struct EmitArgs {
    /// The run's workflow
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: String,
    /// What is reported
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: String,
    /// The run
    #[arg(long, value_name = "RUN")]
    pub(crate) run_id: String,
    /// The step: a state of the workflow, or `agent:state`
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Option<String>,
    /// The unit of work in it
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<String>,
    /// JSON object with what is reported
    #[arg(long, value_name = "JSON")]
    pub(crate) data: Option<String>,
    /// The project that a new run is kept under; else this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) project: Option<String>,
    /// A title for a new run
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Close the run with it: failed if the report says so, completed if nothing leads on, else cancelled
    #[arg(long)]
    pub(crate) close_run: bool,
    /// The program that the agent runs in
    #[arg(long, value_name = "NAME")]
    pub(crate) harness: Option<String>,
    /// The same key with the same report gives the first answer again
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) specs: SpecsArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}
