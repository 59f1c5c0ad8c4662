//! `store prune`: runs that are over go.

use statemark_runs::maintenance::{self, Prune};

use super::report;
use crate::args::{PruneArgs, TextFormat};
use crate::bar::{Bar, Unit};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &PruneArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let age = args.older_than.as_deref().map(runs::milliseconds);
    let age = age.transpose()?;
    if args.yes {
        runs::check_may_write()?;
    }
    let all = runs::open(&args.store)?;
    let wanted = Prune {
        before: age.map(|age| all.now().saturating_sub(age)),
        keep: args.keep,
        delete: args.yes,
    };
    let pruned = {
        let mut bar = Bar::new(printer, "looking", Unit::Runs);
        maintenance::prune(all.store(), &wanted, &mut |it| bar.tell(it))
    };
    let pruned = pruned.map_err(FailureKind::Store)?;
    let format = args.store.format();
    printer.result(&report(&pruned, format));
    if !args.yes && format == TextFormat::Text && !pruned.runs.is_empty() {
        printer.talk("nothing was done; the same with `--yes` does it\n");
    }
    Ok(ExitStatus::Clean)
}
