//! `start`: a run of a workflow begins.

use statemark_runs::Start;

use super::shown;
use crate::args::{StartArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &StartArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let input = runs::json("--input", args.input.as_deref())?;
    let all = runs::open_with(&args.store, &args.specs, &args.workflow)?;
    let start = Start {
        workflow: args.workflow.clone(),
        input: input.unwrap_or_default(),
        title: args.title.clone(),
        project: Some(runs::project(None)?),
        ..Start::default()
    };
    let (given, key) = (args.run_id.as_deref(), args.key.as_deref());
    let written = runs::begin(given, &args.workflow, key, |order| {
        all.execute(order, &start)
    })?;
    let view = written.loaded.view()?;
    printer.result(&match args.store.format() {
        TextFormat::Json => shown::json(&view),
        TextFormat::Text => shown::view(&view, all.now(), printer.palette()),
    });
    Ok(ExitStatus::Clean)
}
