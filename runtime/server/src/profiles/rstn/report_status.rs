//! `rstn_report_status`: what an agent says of how it is getting on.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, StepStatus};
use statemark_runs::{Advance, Ask, Report};

use super::{driven, shape};
use crate::call::Call;
use crate::problem::Problem;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::{asked, refusal};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Current task status.
    status: Status,
    /// Prompt to show the user, for needs_input.
    prompt: Option<String>,
    /// Error message, for error.
    message: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    NeedsInput,
    Completed,
    Error,
}

pub(super) fn tool() -> Tool {
    Tool::foreign(
        ("rstn_report_status", Set::Rstn, Hints::ADDS),
        (
            "Report the status",
            "Report task status: needs_input (asks the user), completed, or error.",
        ),
        shape,
        run,
    )
    .like("send_event")
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let said = match input.status {
        Status::NeedsInput => return ask(call, input),
        Status::Completed => (StepStatus::Completed, "completed"),
        Status::Error => (StepStatus::Failed, "error"),
    };
    let (status, word) = said;
    let before = driven(call)?;
    let order = call.order(before.run.clone(), None, None)?;
    let advance = Advance::new(Report::Status {
        status,
        message: input.message.clone(),
        data: Value::Null,
    });
    let advanced = call.desk.runs().execute(&order, &advance)?;
    // What its way out needs is no fault of the report: the step is recorded as what it is.
    match (advanced.refused, advanced.step) {
        (Some(refused), None) => Err(Problem::refused(&refused)),
        _ => Ok(json!(format!("Status '{word}' reported successfully"))),
    }
}

fn ask(call: &Call<'_>, input: &Input) -> Outcome {
    let Some(prompt) = &input.prompt else {
        let message = "Missing 'prompt' field: say what is wanted of the user";
        return Err(Problem::new("invalid_arguments", message));
    };
    let before = driven(call)?;
    let order = call.order(before.run.clone(), None, None)?;
    let ask = Ask::new(RequestKind::Text, prompt.clone());
    let written = call.desk.runs().execute(&order, &ask)?;
    if let Some(refused) = refusal(&written) {
        return Err(Problem::refused(&refused));
    }
    let request = asked(&written).unwrap_or_default();
    Ok(json!(format!(
        "Status 'needs_input' reported successfully. The answer will stand in rstn_get_app_state, under request {request}"
    )))
}
