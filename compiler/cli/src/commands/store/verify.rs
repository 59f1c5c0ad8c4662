//! `store verify`: whether everything is as it was written.

use serde::Serialize;
use statemark_runs::{StoreError, maintenance};

use super::report;
use crate::args::{TextFormat, VerifyArgs};
use crate::bar::{Bar, Unit};
use crate::commands::run::json;
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &VerifyArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let format = args.store.format();
    let verified = match look(args, printer) {
        Ok(verified) => verified,
        Err(failure) => return unreadable(failure, format, printer),
    };
    printer.result(&report(&verified, format));
    Ok(if verified.differences.is_empty() {
        ExitStatus::Clean
    } else {
        ExitStatus::Findings
    })
}

fn look(args: &VerifyArgs, printer: &mut Printer) -> Result<maintenance::Verified, Failure> {
    let all = runs::open(&args.store)?;
    let only = args.run.as_deref().map(|run| runs::find(&all, run));
    let only = only.transpose()?;
    let mut bar = Bar::new(printer, "verifying", Unit::Records);
    let verified = maintenance::verify(all.store(), only.as_ref(), &mut |it| bar.tell(it));
    Ok(verified.map_err(FailureKind::Store)?)
}

/// What `--json` prints of a store that can't be read far enough to tell its runs.
#[derive(Serialize)]
struct Unreadable {
    unreadable: String,
}

/// A store that is damaged beyond its runs is a finding, too.
fn unreadable(
    failure: Failure,
    format: TextFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let Some(error @ StoreError::Corrupt { .. }) = failure.of_store() else {
        return Err(failure);
    };
    let unreadable = error.to_string();
    printer.result(&match format {
        TextFormat::Json => json(&Unreadable { unreadable }),
        TextFormat::Text => unreadable + "\n",
    });
    Ok(ExitStatus::Findings)
}
