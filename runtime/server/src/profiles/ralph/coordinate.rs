//! `report_progress`, `declare_complete` and `coordinate`: what an agent says of its work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::{Note, StepStatus};
use statemark_runs::policy::Gating;
use statemark_runs::runs::ReportProgress;
use statemark_runs::state::StepState;
use statemark_runs::{Advance, Advanced, Loaded, Order, Report, RunError, StoreError};

use super::shape;
use crate::ctx::Ctx;
use crate::envelope::find_refusal;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

/// What a worker may do.
const ACTIONS: [&str; 4] = ["claim", "release", "status", "ack"];

/// How often a claim is tried while others write. Why: each time somebody else got on.
const TRIES: u32 = 8;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Progress {
    /// What is going on.
    status: String,
    /// Whatever else there is to say.
    note: Option<String>,
    /// The run, where several are active.
    run_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Complete {
    /// What was done.
    summary: Option<String>,
    /// The run, where several are active.
    run_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Coordinate {
    /// What a worker does: claim, release, status, ack.
    action: String,
    /// The unit of work.
    work_unit_id: Option<String>,
    /// Whatever else there is to say.
    payload: Option<Map<String, Value>>,
    /// The run, where several are active.
    run_id: Option<String>,
}

pub(super) fn all() -> Vec<Tool> {
    vec![
        Tool::profile(
            ("report_progress", Set::Ralph, Annotations::ADDITIVE),
            ("Report progress", "Says how the work is getting on, for whoever watches."),
            shape,
            progress,
        )
        .gated_by(Gating::Needs("run.report_progress")),
        Tool::profile(
            ("declare_complete", Set::Ralph, Annotations::IDEMPOTENT),
            (
                "Declare completion",
                "Says that the work in the active step is done, which leads on if the step leads to an end.",
            ),
            shape,
            complete,
        )
        .equivalent_to("submit_artifact"),
        Tool::profile(
            ("coordinate", Set::Ralph, Annotations::ADDITIVE),
            (
                "Coordinate workers",
                "Claims or releases a unit of work of the active step, or says something to the other workers.",
            ),
            shape,
            coordinate,
        )
        .equivalent_to("submit_artifact"),
    ]
}

fn progress(ctx: &Ctx<'_>, input: &Progress) -> Outcome {
    let said = match &input.note {
        Some(note) => format!("{} ({note})", input.status),
        None => input.status.clone(),
    };
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let order = ctx.order(run, None, None)?;
    let report = ReportProgress {
        message: said.clone(),
        fraction: None,
        unit: None,
    };
    let written = ctx.runs().execute(&order, &report)?;
    match find_refusal(&written) {
        Some(refused) => Err(Problem::refused(&refused)),
        None => Ok(json!(format!("Progress reported: {said}"))),
    }
}

fn complete(ctx: &Ctx<'_>, input: &Complete) -> Outcome {
    let summary = input.summary.clone();
    let report = Report::Status {
        status: StepStatus::Completed,
        message: summary.clone(),
        data: Value::Null,
    };
    let advanced = advance(ctx, input.run_id.as_deref(), &Advance::new(report))?;
    let summary = summary.unwrap_or_else(|| "no summary".to_owned());
    let next = match (&advanced.left, &advanced.request) {
        _ if advanced.refused.is_some() => {
            let why = advanced.refused.as_ref().map_or("", |it| &it.reason);
            format!(" The run stays where it is: {why}.")
        }
        (Some(event), _) => format!(" `{}` was sent for it.", event.event),
        (None, Some(request)) => format!(" A person has to decide `{request}` before it goes on."),
        (None, None) => String::new(),
    };
    Ok(json!(format!("Task declared complete: {summary}.{next}")))
}

fn coordinate(ctx: &Ctx<'_>, input: &Coordinate) -> Outcome {
    let action = input.action.as_str();
    let unit = input.work_unit_id.as_deref();
    match action {
        "claim" | "release" => hold(ctx, input)?,
        "status" | "ack" => {
            let data = json!({"action": action, "work_unit_id": unit, "payload": input.payload});
            let text = format!("coordinate: {action}");
            let said = Advance::new(Report::Note(Note { text, data }));
            advance(ctx, input.run_id.as_deref(), &said)?;
        }
        _ => {
            let message = format!(
                "`action`: there is no action `{action}`; there are {}",
                ACTIONS.join(", ")
            );
            return Err(Problem::new("invalid_arguments", message));
        }
    }
    let unit = unit.map_or_else(String::new, |unit| format!(": {unit}"));
    Ok(json!(format!(
        "Coordination action '{action}' processed{unit}"
    )))
}

/// Claims a unit that nobody has, or releases one that somebody has.
fn hold(ctx: &Ctx<'_>, input: &Coordinate) -> Result<(), Problem> {
    let claims = input.action == "claim";
    let Some(unit) = input.work_unit_id.as_deref() else {
        let message = format!("`work_unit_id`: say which unit to {}", input.action);
        return Err(Problem::new("invalid_arguments", message));
    };
    let status = if claims {
        StepStatus::Running
    } else {
        StepStatus::NotStarted
    };
    let report = Report::Status {
        status,
        message: None,
        data: input.payload.clone().map_or(Value::Null, Value::Object),
    };
    let report = Advance::new(report).for_unit(unit);
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    for _ in 0..TRIES {
        let loaded = ctx.runs().catch_up(&run)?;
        let claimed = claimed(&loaded);
        match (claims, claimed.get(unit)) {
            (true, Some(held)) => return Err(taken(ctx, &loaded, unit, held)?),
            (false, None) => return Err(unclaimed(unit, &claimed)),
            _ => {}
        }
        // What was looked at has to be so still when it is written: two may claim at once.
        let order = ctx.order(run.clone(), None, None)?;
        let order = Order {
            expected: Some(loaded.head.seq),
            ..order
        };
        match ctx.runs().execute(&order, &report) {
            Err(RunError::Store(StoreError::Conflict { .. })) => {}
            advanced => return unrefused(advanced?).map(drop),
        }
    }
    Err(RunError::Contention { tries: TRIES }.into())
}

/// The units that are claimed in the visits that the run is in.
fn claimed(loaded: &Loaded) -> BTreeMap<&str, &StepState> {
    let state = &loaded.state;
    let mut claimed = BTreeMap::new();
    for leaf in &state.leaves {
        let entered = state.visits.get(leaf).map_or(0, |visit| visit.entered);
        for (unit, reported) in state.steps.get(leaf).into_iter().flatten() {
            let is_held = reported.status == StepStatus::Running && reported.seq >= entered;
            if is_held && !unit.is_empty() {
                claimed.insert(unit.as_str(), reported);
            }
        }
    }
    claimed
}

/// That another has the unit, and who.
fn taken(ctx: &Ctx<'_>, loaded: &Loaded, unit: &str, held: &StepState) -> Result<Problem, Problem> {
    let store = ctx.runs().store();
    let records = store.records(&loaded.run, held.seq.saturating_sub(1), 1)?;
    let by = records.first().map(|it| format!(" by {}", it.actor));
    let said = match &held.data {
        Value::Null => String::new(),
        data => format!(", who said {data}"),
    };
    let message = format!(
        "`{unit}` is claimed already{}{said}: claim another, or wait until it is released",
        by.unwrap_or_default()
    );
    Ok(Problem::new("claimed", message))
}

/// That nobody has the unit, and which units somebody has.
fn unclaimed(unit: &str, claimed: &BTreeMap<&str, &StepState>) -> Problem {
    let names: Vec<String> = claimed.keys().map(|it| format!("`{it}`")).collect();
    let which = match names.as_slice() {
        [] => "none is".to_owned(),
        all => format!("claimed are {}", all.join(", ")),
    };
    let message = format!("`work_unit_id`: no unit `{unit}` is claimed; {which}");
    Problem::new("invalid_arguments", message)
}

/// Reports on the active step of the run that is meant.
fn advance(ctx: &Ctx<'_>, run: Option<&str>, advance: &Advance) -> Result<Advanced, Problem> {
    let run = ctx.resolve_run(run)?;
    let order = ctx.order(run, None, None)?;
    unrefused(ctx.runs().execute(&order, advance)?)
}

/// What was reported, if the report stands.
fn unrefused(advanced: Advanced) -> Result<Advanced, Problem> {
    match &advanced.refused {
        // The report stands, and what would have come of it is refused.
        Some(_) if advanced.step.is_some() => Ok(advanced),
        Some(refused) => Err(Problem::new(refused.code.clone(), refused.reason.clone())),
        None => Ok(advanced),
    }
}
