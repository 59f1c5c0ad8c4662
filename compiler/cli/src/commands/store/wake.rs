//! `store wake`: a backup becomes the store.

use std::fmt;

use serde::Serialize;

use super::report;
use crate::args::WakeArgs;
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

/// What was done.
#[derive(Serialize)]
struct Woken {
    timers: usize,
}

impl fmt::Display for Woken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.timers {
            0 => out.write_str("no timer was asleep"),
            1 => out.write_str("woke 1 timer"),
            count => write!(out, "woke {count} timers"),
        }
    }
}

pub(super) fn run(args: &WakeArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let store = runs::open_file(&args.store, "woken")?;
    let timers = store.wake().map_err(FailureKind::Store)?;
    printer.result(&report(&Woken { timers }, args.store.format()));
    Ok(ExitStatus::Clean)
}
