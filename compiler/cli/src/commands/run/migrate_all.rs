//! `migrate --all`: the live runs of a workflow go on under another machine, by an order each.
//!
//! What to rely on: a run that can't follow, or fails, stops no other; runs that are there already are left alone.

use std::sync::Arc;

use serde::Serialize;
use statemark_runs::body::{Body, Refused};
use statemark_runs::runs::{MigrateRun, Obstacle};
use statemark_runs::{
    Order, Query, RunError, RunId, Runs, Status, StoreError, Workflow, list_all, plan_migration,
};

use super::migrate::MigrateArgs;
use crate::args::TextFormat;
use crate::failure::{CommandResult, ExitStatus, Failure};
use crate::printer::{Printer, columns, count};
use crate::runs;

/// The outcome for a run, or the outcome that it would have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// Possible, and not done.
    CanFollow,
    /// Done.
    Migrated,
    /// Done before.
    Same,
    /// Something is in its way.
    Obstructed,
    /// Refused.
    Refused,
    /// Failed to be read or written.
    Failed,
}

/// A row of the table.
#[derive(Debug, Serialize)]
struct Row {
    run: RunId,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    obstacles: Vec<Obstacle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The outcome of the command, as `--json` prints it.
#[derive(Serialize)]
struct Answer<'a> {
    workflow: &'a str,
    to: &'a str,
    dry_run: bool,
    runs: &'a [Row],
}

/// Migrates the runs of a workflow.
pub(super) fn migrate_all(
    args: &MigrateArgs,
    workflow: &str,
    migrate: &MigrateRun,
    (runs, to): (&Runs, &Arc<Workflow>),
    printer: &mut Printer,
) -> CommandResult {
    let open = open_runs(runs, workflow)?;
    check_mapping(runs, &open, migrate)?;
    let (amount, id) = (count(open.len(), "run"), to.id());
    let deed = format!("migrate {amount} of the workflow `{workflow}` to the workflow `{id}`");
    let caller = match (args.dry_run, open.is_empty()) {
        (_, true) => None,
        _ => Some(runs::person(runs, &deed)?),
    };
    let mut rows = Vec::new();
    for run in open {
        let order = caller
            .as_ref()
            .map(|caller| runs::order_of(caller, run.clone()));
        let row = match order {
            Some(Ok(order)) => row(runs, &order, migrate, to, args.dry_run),
            Some(Err(failure)) => failed(run, &failure),
            None => continue,
        };
        rows.push(row);
    }
    if args.format() == TextFormat::Json {
        printer.json(&Answer {
            workflow,
            to: id,
            dry_run: args.dry_run,
            runs: &rows,
        });
    } else {
        printer.result(&columns(&describe(&rows), printer.palette()));
        printer.remark(&summary(&rows, workflow, args.dry_run));
    }
    Ok(ExitStatus::clean_if(rows.iter().all(Row::is_well)))
}

/// Lists the runs of a workflow that aren't over, the oldest first.
fn open_runs(runs: &Runs, workflow: &str) -> Result<Vec<RunId>, StoreError> {
    let is_open = |status: &Status| !status.is_over();
    let statuses = Status::ALL.into_iter().filter(is_open);
    let query = Query {
        statuses: statuses.map(|it| it.name().to_owned()).collect(),
        workflow: Some(workflow.to_owned()),
        ..Query::default()
    };
    // All of them before the first is changed: what changes moves in the list.
    let mut found = list_all(runs.store(), query)?;
    found.sort_by(|one, other| (one.created, &one.run).cmp(&(other.created, &other.run)));
    Ok(found.into_iter().map(|head| head.run).collect())
}

/// Fails if a state is mapped that none of the runs knows: its name is wrong.
fn check_mapping(runs: &Runs, open: &[RunId], migrate: &MigrateRun) -> Result<(), Failure> {
    let mut unknown: Vec<&String> = migrate.states.keys().collect();
    for run in open {
        if unknown.is_empty() {
            break;
        }
        // One that can't be read has a row that says so.
        if let Ok(loaded) = runs.load(run) {
            unknown.retain(|old| loaded.workflow.table().state_named(old).is_none());
        }
    }
    match unknown.first().filter(|_| !open.is_empty()) {
        None => Ok(()),
        Some(old) => Err(
            Failure::new(format!("none of these runs knows the state `{old}`"))
                .with_help("`--map OLD=NEW` has the name that the state had before"),
        ),
    }
}

/// Plans the migration of a run, and carries it out unless it is only tried.
fn row(runs: &Runs, order: &Order, migrate: &MigrateRun, to: &Workflow, dry_run: bool) -> Row {
    let run = order.run.clone();
    match try_row(runs, order, migrate, to, dry_run) {
        Ok(row) => row,
        Err(error) => failed(run, &Failure::from(error)),
    }
}

fn try_row(
    runs: &Runs,
    order: &Order,
    migrate: &MigrateRun,
    to: &Workflow,
    dry_run: bool,
) -> Result<Row, RunError> {
    let run = order.run.clone();
    let row = |outcome| Row {
        run: run.clone(),
        outcome,
        obstacles: Vec::new(),
        reason: None,
    };
    let loaded = runs.catch_up(&run)?;
    // A timer that was due may have ended it.
    if loaded.workflow.hash() == to.hash() || loaded.state.status().is_over() {
        return Ok(row(Outcome::Same));
    }
    // Runs began under several versions: what one of them never had isn't mapped.
    let mut migrate = migrate.clone();
    let table = loaded.workflow.table();
    migrate
        .states
        .retain(|old, _| table.state_named(old).is_some());
    let plan = plan_migration(runs, &run, &migrate, order.actor.role)?;
    if dry_run || !plan.obstacles.is_empty() {
        let outcome = match plan.obstacles.is_empty() {
            true => Outcome::CanFollow,
            false => Outcome::Obstructed,
        };
        return Ok(Row {
            obstacles: plan.obstacles,
            ..row(outcome)
        });
    }
    let written = runs.execute(order, &migrate)?;
    let bodies = written.records.iter().filter_map(|it| it.read().ok());
    let refused = bodies.into_iter().find_map(|body| match body {
        Body::Refused(Refused { reason, .. }) => Some(reason),
        _ => None,
    });
    Ok(match refused {
        None => row(Outcome::Migrated),
        Some(reason) => Row {
            reason: Some(reason),
            ..row(Outcome::Refused)
        },
    })
}

fn failed(run: RunId, failure: &Failure) -> Row {
    Row {
        run,
        outcome: Outcome::Failed,
        obstacles: Vec::new(),
        reason: Some(failure.to_string()),
    }
}

impl Row {
    /// Reports whether the run is where it was to go, or could be.
    const fn is_well(&self) -> bool {
        matches!(
            self.outcome,
            Outcome::CanFollow | Outcome::Migrated | Outcome::Same
        )
    }
}

/// Returns a line for each run, and one for each further thing that is in its way.
fn describe(rows: &[Row]) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for row in rows {
        let reasons = row.obstacles.iter().map(|it| it.reason.as_str());
        let mut reasons = reasons.chain(row.reason.as_deref());
        let mut said = match row.outcome {
            Outcome::CanFollow => "can follow".to_owned(),
            Outcome::Migrated => "migrated".to_owned(),
            Outcome::Same => "is there already".to_owned(),
            Outcome::Obstructed => "can't follow: ".to_owned(),
            Outcome::Refused => "refused: ".to_owned(),
            Outcome::Failed => "failed: ".to_owned(),
        };
        said += reasons.next().unwrap_or_default();
        lines.push((row.run.to_string(), said));
        lines.extend(reasons.map(|reason| (String::new(), reason.to_owned())));
    }
    lines
}

/// Says how many runs are where they were to go.
fn summary(rows: &[Row], workflow: &str, dry_run: bool) -> String {
    let there = rows.iter().filter(|row| row.outcome == Outcome::Same);
    let there = there.count();
    let well = rows.iter().filter(|row| row.is_well()).count() - there;
    let all = count(rows.len(), "run");
    let is_there = match there {
        0 => String::new(),
        1 => ", 1 is there already".to_owned(),
        many => format!(", {many} are there already"),
    };
    match (rows, dry_run) {
        ([], _) => format!("no run of `{workflow}` goes on\n"),
        (_, true) => format!(
            "{well} of {all} can follow{is_there}; nothing was done: leave out `--dry-run` to do it\n"
        ),
        (_, false) => format!("{well} of {all} followed{is_there}\n"),
    }
}
