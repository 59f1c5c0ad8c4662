//! `store migrate`: all runs of a store, into another.

use statemark_runs::maintenance;

use super::report;
use crate::args::{MoveArgs, TextFormat};
use crate::bar::{Bar, Unit};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &MoveArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let from = runs::store_at(&args.from, true)?;
    let to = runs::store_at(&args.to, false)?;
    let moved = {
        let mut bar = Bar::new(printer, "moving", Unit::Records);
        maintenance::migrate(&*from, &*to, &mut |it| bar.tell(it))
    };
    let moved = moved.map_err(FailureKind::Store)?;
    let format = if args.json {
        TextFormat::Json
    } else {
        TextFormat::Text
    };
    printer.result(&report(&moved, format));
    Ok(ExitStatus::Clean)
}
