//! `events`: the journal of a run.

use serde_json::Value;
use statemark_runs::{Body, Record, RunId, Runs, StoreError, state};

use super::shown;
use crate::args::{EventsArgs, TextFormat};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &EventsArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let loaded = runs::load(&all, &args.run)?;
    // A newer version may have written kinds that this one doesn't know.
    if loaded.state.unknown == 0 {
        check_kinds(&args.kind)?;
    }
    let run = loaded.run;
    let mut after = args.after;
    loop {
        show(&all, &run, &mut after, args, printer).map_err(FailureKind::Store)?;
        if !args.watch || all.caught_up(&run)?.state.status().is_over() {
            return Ok(ExitStatus::Clean);
        }
        printer.flush();
        std::thread::sleep(runs::PAUSE);
    }
}

/// That these are kinds of records.
fn check_kinds(kinds: &[String]) -> Result<(), Failure> {
    let is_none = |kind: &&String| !Body::KINDS.contains(&kind.as_str());
    match kinds.iter().find(is_none) {
        None => Ok(()),
        Some(kind) => Err(FailureKind::BadWord {
            name: "--kind",
            word: kind.clone(),
            words: Body::KINDS.join(", "),
        }
        .into()),
    }
}

/// Shows the records behind one, and goes on behind them. Refusals that repeat the one before are shown as a number.
fn show(
    all: &Runs,
    run: &RunId,
    after: &mut u64,
    args: &EventsArgs,
    printer: &mut Printer,
) -> Result<(), StoreError> {
    let mut last: Option<(Record, u64)> = None;
    state::for_each_record(all.store(), run, *after, None, |record| {
        *after = record.seq;
        if !args.kind.is_empty() && !args.kind.contains(&record.kind) {
            return Ok(());
        }
        if args.store.format() == TextFormat::Json {
            printer.result(&shown::json(&whole(record)));
            return Ok(());
        }
        match &mut last {
            Some((before, times)) if repeats(before, record) => *times += 1,
            _ => {
                tell(last.as_ref(), printer);
                last = Some((record.clone(), 1));
            }
        }
        Ok(())
    })?;
    tell(last.as_ref(), printer);
    Ok(())
}

/// A record as programs read it: what it says as JSON, not as a text of JSON.
fn whole(record: &Record) -> Value {
    let mut whole = serde_json::to_value(record).unwrap_or_default();
    if let (Some(body), Ok(parsed)) = (whole.get_mut("body"), serde_json::from_str(&record.body)) {
        *body = parsed;
    }
    whole
}

/// Whether a record says the same as the one before it, and neither changes anything.
fn repeats(before: &Record, record: &Record) -> bool {
    record.kind == "refused"
        && before.kind == record.kind
        && before.body == record.body
        && before.actor == record.actor
}

fn tell(shown: Option<&(Record, u64)>, printer: &mut Printer) {
    let Some((record, times)) = shown else {
        return;
    };
    let palette = printer.palette();
    let times = match times {
        1 => String::new(),
        times => format!(" ({times} times)"),
    };
    let line = format!(
        "{:>5}  {}  {}{times}  {}\n",
        record.seq,
        palette.dim(&runs::time(record.time)),
        record.summary(),
        palette.dim(&format!("by {}", record.actor))
    );
    printer.result(&line);
}
