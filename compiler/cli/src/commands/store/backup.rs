//! `store backup`: a copy in a file, while others write.

use std::path::Path;

use super::report;
use crate::args::BackupArgs;
use crate::bar::{Bar, Unit};
use crate::failure::{Failure, FailureKind};
use crate::files::Fresh;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &BackupArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let store = runs::open_file(&args.store, "copied")?;
    let fresh = Fresh::new(&args.file, args.overwrite)?;
    not_in_use(&args.file, store.path())?;
    let copied = {
        let mut bar = Bar::new(printer, "copying", Unit::Pages);
        statemark_stores::backup(&store, fresh.temporary(), &mut |it| bar.tell(it))
    };
    let mut copied = copied.map_err(FailureKind::Store)?;
    fresh.settle()?;
    copied.path.clone_from(&args.file);
    printer.result(&report(&copied, args.store.format()));
    Ok(ExitStatus::Clean)
}

/// A store that somebody uses has files beside it that belong to it: in another's place they would ruin that one.
fn not_in_use(path: &Path, store: &Path) -> Result<(), Failure> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let same = match (path.canonicalize(), store.canonicalize()) {
        (Ok(path), Ok(store)) => path == store,
        _ => false,
    };
    if same || Path::new(&log).exists() {
        let path = path.to_owned();
        return Err(FailureKind::InUse { path }.into());
    }
    Ok(())
}
