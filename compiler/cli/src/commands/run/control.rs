//! `pause`, `continue`, `cancel` and `force`.

use statemark_runs::body::Refused;
use statemark_runs::{Cancel, Continue, Force, Operation, Pause, RunId, Written};

use super::outcome;
use crate::args::{CancelArgs, ContinueArgs, ForceArgs, OnRunArgs, PauseArgs};
use crate::failure::{Failure, FailureKind};
use crate::printer::Printer;
use crate::runs;
use crate::status::ExitStatus;

pub(in crate::commands) fn pause(
    args: &PauseArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    stop(&args.on, |reason| Pause { reason }, printer)
}

pub(in crate::commands) fn go_on(
    args: &ContinueArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let run: RunId = match (&args.run, &args.latest) {
        (Some(run), _) => runs::current(&all, run)?,
        (None, latest) => {
            let workflow = latest.clone().unwrap_or_default();
            let project = args.project.as_deref();
            let project = project.map(|it| runs::project(Some(it))).transpose()?;
            let found = all.latest_paused(&workflow, project.as_deref())?;
            found.ok_or(FailureKind::NonePaused { workflow })?
        }
    };
    let order = runs::order_of_person(run, args.key.as_deref())?;
    let reason = args.reason.clone();
    let written = all.execute(&order, &Continue { reason })?;
    outcome::show(&written, &all, &args.store, printer)
}

pub(in crate::commands) fn cancel(
    args: &CancelArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    stop(&args.on, |reason| Cancel { reason }, printer)
}

pub(in crate::commands) fn force(
    args: &ForceArgs,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&args.store)?;
    let run = runs::current(&all, &args.run)?;
    let order = runs::order_of_person(run, None)?;
    let force = Force {
        to: args.state.clone(),
        reason: args.reason.clone(),
        ..Force::default()
    };
    let written = all.execute(&order, &force)?;
    outcome::show(&written, &all, &args.store, printer)
}

/// Stops a run, for now or for good.
fn stop<O: Operation<Response = Written<Result<(), Refused>>>>(
    on: &OnRunArgs,
    how: impl Fn(Option<String>) -> O,
    printer: &mut Printer,
) -> Result<ExitStatus, Failure> {
    let all = runs::open(&on.store)?;
    let run = runs::current(&all, &on.run)?;
    let order = runs::order_of_person(run, on.key.as_deref())?;
    let written = all.execute(&order, &how(on.reason.clone()))?;
    outcome::show(&written, &all, &on.store, printer)
}
