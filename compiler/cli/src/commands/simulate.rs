//! `simulate`: a machine driven by hand at a prompt, or by a script of events.
//!
//! The [`desk`] answers for the host (context and guards), the [`session`] sends events and tells what came of them as
//! [`record`]s, [`command`] reads what a person or a script says. Nothing here carries out an action: records name them.

mod command;
mod desk;
mod prompt;
mod record;
mod script;
mod session;
mod story;
mod text;

use std::path::Path;

pub(crate) use story::story;

use crate::args::SimulateArgs;
use crate::failure::{Failure, FailureKind};
use crate::loading::load;
use crate::printer::Printer;
use crate::status::ExitStatus;

pub(super) fn run(args: &SimulateArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let stdin = Path::new("-");
    let spec_is_stdin = args.spec == stdin;
    if spec_is_stdin && args.events.as_deref().is_none_or(|events| events == stdin) {
        return Err(FailureKind::NeedsTerminal.into());
    }
    let Some(loaded) = load(
        &args.spec,
        args.machine.as_deref(),
        args.output_format,
        printer,
    )?
    else {
        return Ok(ExitStatus::Findings);
    };
    match &args.events {
        Some(events) => script::run(&loaded.table, events, args.output_format, printer),
        None => prompt::run(&loaded.table, args.output_format, printer),
    }
}
