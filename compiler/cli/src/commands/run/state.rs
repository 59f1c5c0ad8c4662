//! `state`: where a run is.

use statemark_store::{Loaded, fold};

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
    let view = loaded.view()?;
    let now = args.at.map_or(all.now(), |_| view.updated);
    printer.result(&match args.store.format() {
        TextFormat::Json => shown::json(&view),
        TextFormat::Text => shown::view(&view, now, printer.palette()),
    });
    Ok(ExitStatus::Clean)
}

/// The run as it was after one of its records.
fn past(all: &statemark_store::Runs, now: Loaded, at: u64) -> Result<Loaded, Failure> {
    if at == 0 || at > now.head.seq {
        return Err(FailureKind::BadWord {
            name: "--at",
            word: at.to_string(),
            words: format!("1 to {}", now.head.seq),
        }
        .into());
    }
    let state = fold::read_anew(all.store(), &now.run, Some(at)).map_err(FailureKind::Store)?;
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
