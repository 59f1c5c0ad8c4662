//! `state`: where a run is.

use statemark_runs::{Loaded, Runs, state};

use super::shown;
use crate::args::{StateArgs, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &StateArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let mut loaded = runs::load(&all, &args.run)?;
    if let Some(at) = args.at {
        loaded = past(&all, loaded, at)?;
    }
    loop {
        let view = loaded.view()?;
        let now = args.at.map_or(all.now(), |_| view.updated);
        printer.result(&match args.store.format() {
            TextFormat::Json => shown::json(&view),
            TextFormat::Text => shown::view(&view, now, printer.palette()),
        });
        if !args.watch || view.status.is_over() {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        loaded = changed(&all, &loaded)?;
        if args.store.format() == TextFormat::Text {
            printer.result("\n");
        }
    }
}

/// The run as soon as something has been written behind that.
fn changed(all: &Runs, before: &Loaded) -> Result<Loaded, Failure> {
    loop {
        std::thread::sleep(runs::PAUSE);
        let loaded = all.caught_up(&before.run)?;
        if loaded.head.seq != before.head.seq {
            return Ok(loaded);
        }
    }
}

/// The run as it was after one of its records.
fn past(all: &Runs, now: Loaded, at: u64) -> Result<Loaded, Failure> {
    if at == 0 || at > now.head.seq {
        return Err(FailureKind::BadWord {
            name: "--at",
            word: at.to_string(),
            words: format!("1 to {}", now.head.seq),
        }
        .into());
    }
    let state = state::replay(all.store(), &now.run, Some(at)).map_err(FailureKind::Store)?;
    let table = state.table.unwrap_or(now.workflow.hash());
    let mut head = now.head;
    head.seq = at;
    Ok(Loaded {
        workflow: all.workflow_of(&table)?,
        run: now.run,
        head,
        state,
    })
}
