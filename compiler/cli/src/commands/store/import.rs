//! `store import`: runs that `export` wrote.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use statemark_runs::maintenance::{self, Progress};

use super::report;
use crate::args::ImportArgs;
use crate::bar::{Bar, Unit};
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(super) fn run(args: &ImportArgs, printer: &mut Printer) -> Result<ExitStatus, Failure> {
    let (input, all): (Box<dyn Read>, u64) = if args.file == Path::new("-") {
        (Box::new(io::stdin().lock()), 0)
    } else {
        let file = files::open(&args.file)?;
        let size = file.metadata().map_or(0, |facts| facts.len());
        (Box::<File>::new(file), size)
    };
    let into = runs::open_or_make(&args.store)?;
    let imported = {
        let counted = Counted {
            input,
            progress: Progress {
                done: 0,
                total: all,
            },
            bar: Bar::new(printer, "reading", Unit::Bytes),
        };
        maintenance::import(into.store(), &mut BufReader::new(counted))
    };
    let imported = imported.map_err(FailureKind::Import)?;
    printer.result(&report(&imported, args.store.format()));
    Ok(ExitStatus::Clean)
}

/// Says how much was read.
struct Counted<'p> {
    input: Box<dyn Read>,
    progress: Progress,
    bar: Bar<'p>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.done += count as u64;
        self.bar.tell(self.progress);
        Ok(count)
    }
}
