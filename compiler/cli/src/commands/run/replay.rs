//! `replay`: the machine runs again over a journal.

use statemark_runs::runs::{Difference, Replay};

use super::shown;
use crate::args::{ReplayArgs, TextFormat};
use crate::failure::Failure;
use crate::lines::{WIDTH, counted, cut};
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &ReplayArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let (all, run, under) = match &args.under {
        None => {
            let all = runs::open(&args.store)?;
            let run = runs::find(&all, &args.run)?;
            (all, run, None)
        }
        Some(word) => {
            let towards = runs::towards(&args.store, &args.specs, word, &args.run)?;
            (towards.runs, towards.run, Some(towards.workflow))
        }
    };
    let replay = all.replay(&run, under)?;
    printer.result(&match args.store.format() {
        TextFormat::Json => shown::json(&replay),
        TextFormat::Text => told(run.as_str(), &replay, printer.palette()),
    });
    Ok(match replay.difference {
        None => ExitStatus::Clean,
        Some(_) => ExitStatus::Findings,
    })
}

fn told(run: &str, replay: &Replay, palette: Palette) -> String {
    let count =
        |count: u64, word: &str| counted(usize::try_from(count).unwrap_or(usize::MAX), word);
    let records = count(replay.records, "record");
    let steps = count(replay.steps, "step");
    let run = palette.strong(run);
    match &replay.difference {
        None => format!(
            "{run}: {}; {records}, {steps} made again\n",
            palette.good("the same")
        ),
        Some(it) => format!(
            "{run}: {} at record {}; {records} before it, {steps} made again\n{}",
            palette.bad("different"),
            it.seq,
            difference(it)
        ),
    }
}

fn difference(it: &Difference) -> String {
    let path = it.path.as_ref();
    let path = path.map_or_else(String::new, |path| format!(", at `{path}`"));
    let mut text = format!("  {}{path}\n", it.what);
    for (who, value) in [("journal", &it.journal), ("machine", &it.again)] {
        if !(it.journal.is_null() && it.again.is_null()) {
            let value = cut(&value.to_string(), WIDTH - 12);
            text += &format!("    {who}: {value}\n");
        }
    }
    text
}
