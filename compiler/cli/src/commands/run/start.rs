//! `start`: a run of a workflow begins.

use statemark_store::{RunError, RunId, Start, StoreError};

use super::shown;
use crate::args::{StartArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// How often a name is made up that somebody else has already.
const TRIES: u32 = 8;

pub(in crate::commands) fn run(
    args: &StartArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let input = runs::json("--input", args.input.as_deref())?;
    let given: Option<RunId> = args
        .run_id
        .as_ref()
        .map(|id| runs::named("--run-id", id.parse()))
        .transpose()?;
    let all = runs::open_with(&args.store, &args.specs, &args.workflow)?;
    let start = Start {
        workflow: args.workflow.clone(),
        input: input.unwrap_or_default(),
        title: args.title.clone(),
        ..Start::default()
    };
    let mut tries = 0;
    let written = loop {
        let id = given.clone();
        let id = id.unwrap_or_else(|| RunId::of_workflow(&args.workflow));
        let order = runs::order(id, args.key.as_deref())?;
        match all.start(&order, &start) {
            Err(RunError::Store(StoreError::Conflict { .. }))
                if given.is_none() && tries < TRIES =>
            {
                tries += 1;
            }
            written => break written?,
        }
    };
    let view = written.loaded.view()?;
    printer.result(&match args.store.format() {
        TextFormat::Json => shown::json(&view),
        TextFormat::Text => shown::view(&view, all.now(), printer.palette()),
    });
    Ok(ExitStatus::Clean)
}
