//! `debug`: looks inside, for comparing Statemark with other programs.

mod diagram;

use crate::args::{DebugArgs, DebugWhat};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::status::ExitStatus;

pub(super) fn run(args: &DebugArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    match &args.what {
        DebugWhat::Diagram(args) => diagram::run(args, printer),
    }
}
