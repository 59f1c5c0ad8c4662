//! `store export`: runs as lines of JSON.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use statemark_runs::maintenance::{self, Exported};
use statemark_runs::{RunId, Runs};

use super::report;
use crate::args::ExportArgs;
use crate::bar::{Bar, Unit};
use crate::failure::{Failure, FailureKind};
use crate::files::Fresh;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &ExportArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let only = args.run.as_deref().map(|run| runs::find(&all, run));
    let only = only.transpose()?;
    if args.file == Path::new("-") {
        let mut out = Pipe {
            out: io::stdout().lock(),
            is_closed: false,
        };
        let exported = write(&all, only.as_ref(), &mut BufWriter::new(&mut out), printer)?;
        // The lines are the result; what is said of them is talk.
        printer.talk(&report(&exported, args.store.format()));
        return Ok(ExitStatus::Clean);
    }
    let fresh = Fresh::new(&args.file, args.overwrite)?;
    let mut out = BufWriter::new(fresh.make()?);
    let exported = write(&all, only.as_ref(), &mut out, printer)?;
    drop(out);
    fresh.settle()?;
    printer.result(&report(&exported, args.store.format()));
    Ok(ExitStatus::Clean)
}

fn write(
    all: &Runs,
    only: Option<&RunId>,
    out: &mut dyn Write,
    printer: &mut Printer,
) -> Result<Exported, Failure> {
    let mut bar = Bar::new(printer, "writing", Unit::Records);
    let exported = maintenance::export(all.store(), only, out, &mut |it| bar.tell(it));
    Ok(exported.map_err(FailureKind::Store)?)
}

/// Standard output, whose reader may go away: what is left is dropped without a word.
struct Pipe<W> {
    out: W,
    is_closed: bool,
}

impl<W: Write> Pipe<W> {
    fn forgive<T>(&mut self, outcome: io::Result<T>, otherwise: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(otherwise)
            }
            outcome => outcome,
        }
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        let outcome = self.out.write(bytes);
        self.forgive(outcome, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let outcome = self.out.flush();
        self.forgive(outcome, ())
    }
}
