//! `fork`: a run that shares another's journal.

use statemark_store::runs::Fork;

use super::shown;
use crate::args::{ForkArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &ForkArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let input = runs::json("--input", args.input.as_deref())?;
    let all = runs::open(&args.store)?;
    let other = runs::load(&all, &args.run)?;
    let fork = Fork {
        input: input.unwrap_or_default(),
        drop_artifacts: args.drop_artifacts,
        ..Fork::new(other.run.clone(), args.at)
    };
    let workflow = &other.state.workflow;
    let written = runs::begin(args.run_id.as_deref(), workflow, None, |order| {
        all.fork(order, &fork)
    })?;
    let view = written.loaded.view()?;
    printer.result(&match args.store.format() {
        TextFormat::Json => shown::json(&view),
        TextFormat::Text => shown::view(&view, all.now(), printer.palette()),
    });
    Ok(ExitStatus::Clean)
}
