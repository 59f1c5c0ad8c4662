//! `store`: looking after the place where runs are kept. One file each.

mod backup;
mod export;
mod import;
mod migrate;
mod prune;
mod verify;
mod wake;

use std::fmt::Display;

use serde::Serialize;

use crate::args::{Keep, KeepArgs, TextFormat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::status::ExitStatus;

/// Does what the arguments say.
pub(super) fn run(args: &KeepArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    match &args.what {
        Keep::Verify(args) => verify::run(args, printer),
        Keep::Backup(args) => backup::run(args, printer),
        Keep::Wake(args) => wake::run(args, printer),
        Keep::Export(args) => export::run(args, printer),
        Keep::Import(args) => import::run(args, printer),
        Keep::Prune(args) => prune::run(args, printer),
        Keep::Migrate(args) => migrate::run(args, printer),
    }
}

/// A report, for people or for programs.
fn report(report: &(impl Display + Serialize), format: TextFormat) -> String {
    match format {
        TextFormat::Json => super::run::json(report),
        TextFormat::Text => format!("{report}\n"),
    }
}
