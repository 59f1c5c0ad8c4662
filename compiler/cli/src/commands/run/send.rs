//! `send`: an event for a run.

use statemark_runs::{Order, Send};

use super::outcome;
use crate::args::SendArgs;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &SendArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let data = runs::json("--data", args.data.as_deref())?;
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let order = Order {
        expected: args.expected_seq,
        ..runs::order(run, args.key.as_deref())?
    };
    let event = args.event.clone();
    let written = all.execute(&order, &Send { event, data })?;
    outcome::show(&written, &all, &args.store, printer)
}
