//! An agent's reports on its work: `report_progress`, `declare_complete`, `coordinate`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::{Note, StepStatus};
use statemark_runs::runs::ReportProgress;
use statemark_runs::state::StepState;
use statemark_runs::{Advance, Advanced, Loaded, Order, Report, RunError, StoreError};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Tool};

use super::{run_or_begin, tool};
use crate::{execute, read_record};

/// The actions of a worker.
const ACTIONS: [&str; 4] = ["claim", "release", "status", "ack"];

/// Most tries of a claim while others write. Why: each time, another one succeeded.
const TRIES: u32 = 8;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "report_progress",
            title: "Report progress",
            description: "Says how the work is getting on, for everybody who watches.",
            annotations: Annotations::ADDITIVE,
            output: "",
            equivalent: None,
            run: report_progress,
        }),
        tool(&ProfileTool {
            name: "declare_complete",
            title: "Declare completion",
            description: "Says that the work in the active step is done. The run continues if the step leads to an end.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("submit_artifact"),
            run: declare_complete,
        }),
        tool(&ProfileTool {
            name: "coordinate",
            title: "Coordinate workers",
            description: "Claims or releases a unit of work of the active step, or tells the other workers something.",
            annotations: Annotations::ADDITIVE,
            output: "",
            equivalent: Some("submit_artifact"),
            run: coordinate,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReportProgressInput {
    /// The state of the work.
    status: String,
    /// More about it.
    note: Option<String>,
    /// The run, if several are active.
    run_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeclareComplete {
    /// A summary of the work.
    summary: Option<String>,
    /// The run, if several are active.
    run_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Coordinate {
    /// The action: claim, release, status, ack.
    action: String,
    /// The unit of work.
    work_unit_id: Option<String>,
    /// More about it.
    payload: Option<Map<String, Value>>,
    /// The run, if several are active.
    run_id: Option<String>,
}

fn report_progress(ctx: &Ctx<'_>, input: &ReportProgressInput) -> Outcome {
    let message = match &input.note {
        Some(note) => format!("{} ({note})", input.status),
        None => input.status.clone(),
    };
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
    let report = ReportProgress {
        message: message.clone(),
        fraction: None,
        unit: None,
    };
    execute(ctx, &run, &report)?;
    Ok(json!(format!("Progress reported: {message}")))
}

fn declare_complete(ctx: &Ctx<'_>, input: &DeclareComplete) -> Outcome {
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
        "claim" | "release" => claim_or_release(ctx, input)?,
        "status" | "ack" => {
            let data = json!({"action": action, "work_unit_id": unit, "payload": input.payload});
            let text = format!("coordinate: {action}");
            let note = Advance::new(Report::Note(Note { text, data }));
            advance(ctx, input.run_id.as_deref(), &note)?;
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

/// Claims a free unit, or releases a claimed one.
fn claim_or_release(ctx: &Ctx<'_>, input: &Coordinate) -> Result<(), Problem> {
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
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
    for _ in 0..TRIES {
        let loaded = ctx.runs().catch_up(&run)?;
        let claimed = claimed_units(&loaded);
        match (claims, claimed.get(unit)) {
            (true, Some(claim)) => return Err(already_claimed(ctx, &loaded, unit, claim)?),
            (false, None) => return Err(not_claimed(unit, &claimed)),
            _ => {}
        }
        // Two workers may claim at once: the write fails if the run has changed since.
        let order = ctx.order(run.clone(), None, None)?;
        let order = Order {
            expected: Some(loaded.head.seq),
            ..order
        };
        match ctx.runs().execute(&order, &report) {
            Err(RunError::Store(StoreError::Conflict { .. })) => {}
            advanced => return check_reported(advanced?).map(drop),
        }
    }
    Err(RunError::Contention { tries: TRIES }.into())
}

/// Returns the units that are claimed in the current visits.
fn claimed_units(loaded: &Loaded) -> BTreeMap<&str, &StepState> {
    let state = &loaded.state;
    let mut claimed = BTreeMap::new();
    for leaf in &state.leaves {
        let entered = state.visits.get(leaf).map_or(0, |visit| visit.entered);
        for (unit, reported) in state.steps.get(leaf).into_iter().flatten() {
            let is_claimed = reported.status == StepStatus::Running && reported.seq >= entered;
            if is_claimed && !unit.is_empty() {
                claimed.insert(unit.as_str(), reported);
            }
        }
    }
    claimed
}

/// Returns the problem of a unit that another worker has claimed.
fn already_claimed(
    ctx: &Ctx<'_>,
    loaded: &Loaded,
    unit: &str,
    claim: &StepState,
) -> Result<Problem, Problem> {
    let record = read_record(ctx, &loaded.run, claim.seq)?;
    let by = record.map(|it| format!(" by {}", it.actor));
    let data = match &claim.data {
        Value::Null => String::new(),
        data => format!(", who said {data}"),
    };
    let message = format!(
        "`{unit}` is claimed already{}{data}: claim another, or wait until it is released",
        by.unwrap_or_default()
    );
    Ok(Problem::new("claimed", message))
}

/// Returns the problem of a unit that nobody has claimed.
fn not_claimed(unit: &str, claimed: &BTreeMap<&str, &StepState>) -> Problem {
    let names: Vec<String> = claimed.keys().map(|it| format!("`{it}`")).collect();
    let which = match names.as_slice() {
        [] => "none is".to_owned(),
        all => format!("claimed are {}", all.join(", ")),
    };
    let message = format!("`work_unit_id`: no unit `{unit}` is claimed; {which}");
    Problem::new("invalid_arguments", message)
}

/// Reports on the active step of a run.
fn advance(ctx: &Ctx<'_>, run: Option<&str>, advance: &Advance) -> Result<Advanced, Problem> {
    let run = run_or_begin(ctx, run)?;
    let order = ctx.order(run, None, None)?;
    check_reported(ctx.runs().execute(&order, advance)?)
}

/// Checks that a report was recorded.
fn check_reported(advanced: Advanced) -> Result<Advanced, Problem> {
    match &advanced.refused {
        // Only the transition after the report was refused.
        Some(_) if advanced.step.is_some() => Ok(advanced),
        Some(refused) => Err(Problem::new(refused.code.clone(), refused.reason.clone())),
        None => Ok(advanced),
    }
}
