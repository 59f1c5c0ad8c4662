//! `show`: a machine as a person reads it, as JSON, or row by row.

mod facts;
mod json;
mod proofs;
mod text;

pub(super) use text::LONG_GUARD;

use crate::args::{Dump, ShowArgs, TextFormat};
use crate::failure::Failure;
use crate::loading::load;
use crate::printer::Printer;
use crate::status::ExitStatus;

pub(super) fn run(args: &ShowArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let Some(loaded) = load(
        &args.spec,
        args.machine.as_deref(),
        args.output_format,
        printer,
    )?
    else {
        return Ok(ExitStatus::Findings);
    };
    let proofs = || loaded.valid.as_ref().map(statemark_compiler::proofs::prove);
    let text = match (args.dump, args.output_format) {
        (Some(Dump::Table), _) => statemark_runtime::dump(loaded.table.sections()),
        (None, TextFormat::Text) => {
            let proofs = proofs().unwrap_or_default();
            text::text(&loaded, &proofs, printer.palette())
        }
        (None, TextFormat::Json) => json::json(&loaded, proofs()),
    };
    printer.result(&text);
    Ok(ExitStatus::Clean)
}
