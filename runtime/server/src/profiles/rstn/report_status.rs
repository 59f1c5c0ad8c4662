//! `rstn_report_status`: what an agent says of how it is getting on.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{RequestKind, StepStatus};
use statemark_runs::{Advance, OpenRequest, Report};

use super::{driven, shape};
use crate::ctx::Ctx;
use crate::envelope::{find_refusal, opened_request};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

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
    Tool::profile(
        ("rstn_report_status", Set::Rstn, Annotations::ADDITIVE),
        (
            "Report the status",
            "Report task status: needs_input (asks the user), completed, or error.",
        ),
        shape,
        run,
    )
    .equivalent_to("send_event")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let said = match input.status {
        Status::NeedsInput => return ask(ctx, input),
        Status::Completed => (StepStatus::Completed, "completed"),
        Status::Error => (StepStatus::Failed, "error"),
    };
    let (status, word) = said;
    let before = driven(ctx)?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let advance = Advance::new(Report::Status {
        status,
        message: input.message.clone(),
        data: Value::Null,
    });
    let advanced = ctx.runs().execute(&order, &advance)?;
    // What its way out needs is no fault of the report: the step is recorded as what it is.
    match (advanced.refused, advanced.step) {
        (Some(refused), None) => Err(Problem::refused(&refused)),
        _ => Ok(json!(format!("Status '{word}' reported successfully"))),
    }
}

fn ask(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let Some(prompt) = &input.prompt else {
        let message = "Missing 'prompt' field: say what is wanted of the user";
        return Err(Problem::new("invalid_arguments", message));
    };
    let before = driven(ctx)?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let ask = OpenRequest::new(RequestKind::Text, prompt.clone());
    let written = ctx.runs().execute(&order, &ask)?;
    if let Some(refused) = find_refusal(&written) {
        return Err(Problem::refused(&refused));
    }
    let request = opened_request(&written).unwrap_or_default();
    Ok(json!(format!(
        "Status 'needs_input' reported successfully. The answer will stand in rstn_get_app_state, under request {request}"
    )))
}
