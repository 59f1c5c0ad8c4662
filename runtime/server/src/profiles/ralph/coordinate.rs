//! `report_progress`, `declare_complete` and `coordinate`: what an agent says of its work.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_store::body::{Note, StepStatus};
use statemark_store::runs::ReportProgress;
use statemark_store::{Advance, Advanced, Report};

use super::shape;
use crate::call::Call;
use crate::problem::Problem;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::refusal;

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
        Tool::foreign(
            ("report_progress", Set::Ralph, Hints::ADDS),
            ("Report progress", "Says how the work is getting on, for whoever watches."),
            shape,
            progress,
        ),
        Tool::foreign(
            ("declare_complete", Set::Ralph, Hints::WRITES),
            (
                "Declare completion",
                "Says that the work in the active step is done, which leads on if the step leads to an end.",
            ),
            shape,
            complete,
        )
        .like("submit_artifact"),
        Tool::foreign(
            ("coordinate", Set::Ralph, Hints::ADDS),
            (
                "Coordinate workers",
                "Claims or releases a unit of work of the active step, or says something to the other workers.",
            ),
            shape,
            coordinate,
        )
        .like("submit_artifact"),
    ]
}

fn progress(call: &Call<'_>, input: &Progress) -> Outcome {
    let said = match &input.note {
        Some(note) => format!("{} ({note})", input.status),
        None => input.status.clone(),
    };
    let run = call.run(input.run_id.as_deref())?;
    let order = call.order(run, None, None)?;
    let report = ReportProgress {
        message: said.clone(),
        fraction: None,
        unit: None,
    };
    let written = call.desk.runs().progress(&order, &report)?;
    match refusal(&written) {
        Some(refused) => Err(Problem::refused(&refused)),
        None => Ok(json!(format!("Progress reported: {said}"))),
    }
}

fn complete(call: &Call<'_>, input: &Complete) -> Outcome {
    let summary = input.summary.clone();
    let report = Report::Status {
        status: StepStatus::Completed,
        message: summary.clone(),
        data: Value::Null,
    };
    let advanced = advance(call, input.run_id.as_deref(), &Advance::new(report))?;
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

fn coordinate(call: &Call<'_>, input: &Coordinate) -> Outcome {
    let data = input.payload.clone().map_or(Value::Null, Value::Object);
    let status = match input.action.as_str() {
        "claim" => Some(StepStatus::Running),
        "release" => Some(StepStatus::NotStarted),
        _ => None,
    };
    let advance_by = match (&input.work_unit_id, status) {
        (Some(unit), Some(status)) => {
            let report = Report::Status {
                status,
                message: None,
                data,
            };
            Advance::new(report).of(unit)
        }
        (None, Some(_)) => {
            let message = format!("`work_unit_id`: say which unit to {}", input.action);
            return Err(Problem::new("invalid_arguments", message));
        }
        (unit, None) => Advance::new(Report::Note(Note {
            text: format!("coordinate: {}", input.action),
            data: json!({"action": input.action, "work_unit_id": unit, "payload": data}),
        })),
    };
    advance(call, input.run_id.as_deref(), &advance_by)?;
    let unit = input.work_unit_id.as_ref();
    let unit = unit.map_or_else(String::new, |unit| format!(": {unit}"));
    Ok(json!(format!(
        "Coordination action '{}' processed{unit}",
        input.action
    )))
}

/// Reports on the active step of the run that is meant.
fn advance(call: &Call<'_>, run: Option<&str>, advance: &Advance) -> Result<Advanced, Problem> {
    let run = call.run(run)?;
    let order = call.order(run, None, None)?;
    let advanced = call.desk.runs().advance(&order, advance)?;
    match &advanced.refused {
        // The report stands, and what would have come of it is refused.
        Some(_) if advanced.step.is_some() => Ok(advanced),
        Some(refused) => Err(Problem::new(refused.code.clone(), refused.reason.clone())),
        None => Ok(advanced),
    }
}
