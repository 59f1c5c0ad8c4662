//! `why`: explains why a run is where it is, and what would move it.

use statemark_runs::{Loaded, Reason, Remedy, explain};

use super::shown;
use crate::args::{TextFormat, WhyArgs};
use crate::failure::Failure;
use crate::palette::Palette;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &WhyArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let loaded = runs::load(&all, &args.run)?;
    let explanation = explain(&loaded, args.event.as_deref())?;
    if args.store.format() == TextFormat::Json {
        printer.result(&shown::json(&explanation));
        return Ok(ExitStatus::Clean);
    }
    let palette = printer.palette();
    printer.result(&format!(
        "{} is {}\n",
        palette.strong(loaded.run.as_str()),
        shown::status(explanation.status, palette)
    ));
    for reason in &explanation.reasons {
        printer.result(&line(reason, &loaded, all.now(), palette));
    }
    Ok(ExitStatus::Clean)
}

fn line(reason: &Reason, loaded: &Loaded, now: u64, palette: Palette) -> String {
    let remedy = reason.remedy.as_ref().map(|it| as_command(it, loaded, now));
    let remedy = remedy.map_or_else(String::new, |it| palette.dim(&format!("  ({it})")));
    format!("  {}{remedy}\n", reason.text())
}

/// Returns the remedy as a user types it; of a wait, how long it takes.
pub(super) fn as_command(remedy: &Remedy, loaded: &Loaded, now: u64) -> String {
    match (remedy, remedy.as_command(&loaded.run, loaded.workflow.id())) {
        (_, Some(command)) => command,
        (Remedy::Wait { until }, None) if *until > now => {
            format!("in {}", runs::length(until - now))
        }
        (_, None) => "now".to_owned(),
    }
}
