//! `wait`: until a run is over or needs somebody.

use std::time::{Duration, Instant};

use statemark_runs::{RunState, Status, WaitingFor};

use super::{runs as listing, shown};
use crate::args::{TextFormat, WaitArgs};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn run(
    args: &WaitArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    listing::check(&args.statuses)?;
    let timeout = args.timeout.as_deref().map(runs::milliseconds);
    let timeout = timeout.transpose()?.map(Duration::from_millis);
    let began = Instant::now();
    let all = runs::open(&args.store)?;
    let run = runs::find(&all, &args.run)?;
    let status = loop {
        let loaded = all.caught_up(&run)?;
        let status = loaded.state.status();
        let is_met = if args.statuses.is_empty() {
            needs_somebody(&loaded.state)
        } else {
            args.statuses.iter().any(|it| it == status.name())
        };
        let is_late = timeout.is_some_and(|most| began.elapsed() >= most);
        if is_met || is_late || status.is_over() {
            let view = loaded.view()?;
            printer.result(&match args.store.format() {
                TextFormat::Json => shown::json(&view),
                TextFormat::Text => shown::view(&view, all.now(), printer.palette()),
            });
            break is_met;
        }
        std::thread::sleep(runs::PAUSE);
    };
    Ok(if status {
        ExitStatus::Clean
    } else {
        ExitStatus::Findings
    })
}

/// Whether the run is over, or somebody has to do something: continue it, decide, answer, report. A child that runs is none
/// of that.
fn needs_somebody(state: &RunState) -> bool {
    let status = state.status();
    let is_child = |it: &WaitingFor| matches!(it, WaitingFor::Child { .. });
    status.is_over()
        || status == Status::Paused
        || !state.open_requests().is_empty()
        || !state.waiting_for().iter().all(is_child)
}
