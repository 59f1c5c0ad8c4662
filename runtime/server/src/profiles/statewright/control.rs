//! `statewright_deactivate`, `statewright_pause`, `statewright_force_state`: what is done to a run from outside.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::Refused;
use statemark_runs::{Cancel, Force, Pause, Role, Status};

use super::{OfSession, active, driven, loaded, state, status};
use crate::call::Call;
use crate::problem::Problem;
use crate::profiles::words;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::refusal;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forcing {
    /// Target state name to jump to.
    state: String,
    /// Context values to merge, on top of the existing context.
    #[serde(default)]
    context: Map<String, Value>,
    /// The session whose run is meant, as it was given to load_workflow.
    session_id: Option<String>,
}

pub(super) fn deactivate() -> Tool {
    Tool::foreign(
        ("statewright_deactivate", Set::Statewright, Hints::ENDS),
        (
            "Deactivate",
            "Leave the workflow early: its run is cancelled. Tools stay restricted unless the workflow says otherwise.",
        ),
        words,
        |call, input: &OfSession| {
            let before = loaded(call, input.session_id.as_deref())?;
            let order = call.order(before.run.clone(), None, None)?;
            let written = call.desk.runs().execute(&order, &Cancel::because("deactivated"))?;
            unrefused(refusal(&written))?;
            Ok(json!({
                "deactivated": true,
                "state": active(&before),
                "workflow": before.state.workflow,
                "run_id": before.run,
                "status": status(Status::Cancelled),
                "released": written.loaded.releases_tools(),
            }))
        },
    )
    .like("control_run")
}

pub(super) fn pause() -> Tool {
    Tool::foreign(
        ("statewright_pause", Set::Statewright, Hints::WRITES),
        (
            "Pause",
            "Pause the workflow. Resume it later with statewright_load_workflow(name, resume=true).",
        ),
        words,
        |call, input: &OfSession| {
            let before = loaded(call, input.session_id.as_deref())?;
            let order = call.order(before.run.clone(), None, None)?;
            let written = call.desk.runs().execute(&order, &Pause::default())?;
            unrefused(refusal(&written))?;
            Ok(json!({
                "paused": true,
                "state": active(&before),
                "workflow": before.state.workflow,
                "run_id": before.run,
            }))
        },
    )
    .like("control_run")
}

pub(super) fn force() -> Tool {
    Tool::foreign(
        ("statewright_force_state", Set::Statewright, Hints::ENDS),
        (
            "Force a state",
            "Force a state, bypassing guards and transitions. Only with meta.debug, and only by a person.",
        ),
        words,
        jump,
    )
    .like("control_run")
}

fn jump(call: &Call<'_>, input: &Forcing) -> Outcome {
    let before = driven(call, input.session_id.as_deref())?;
    let order = call.order(before.run.clone(), None, None)?;
    let force = Force {
        to: input.state.clone(),
        context: input.context.clone(),
        reason: None,
    };
    let written = call.desk.runs().execute(&order, &force)?;
    if let Some(refused) = refusal(&written) {
        let is_debug = before.policy("debug") == Some(&json!(true));
        let message = match refused.code.as_str() {
            _ if !is_debug => {
                "statewright_force_state is only available when meta.debug is true.".to_owned()
            }
            "unknown_state" => format!(
                "State '{}' does not exist in the workflow: {}",
                input.state, refused.reason
            ),
            "not_a_person" if call.actor().role < Role::Person => {
                format!(
                    "statewright_force_state needs a person's credential: {}",
                    refused.reason
                )
            }
            _ => refused.reason.clone(),
        };
        return Err(Problem::new(refused.code, message));
    }
    let mut told = state::told(call, &written.loaded)?;
    told.insert("forced".to_owned(), json!(true));
    told.insert("from".to_owned(), json!(active(&before)));
    told.insert("to".to_owned(), json!(active(&written.loaded)));
    Ok(Value::Object(told))
}

fn unrefused(refused: Option<Refused>) -> Result<(), Problem> {
    refused.map_or(Ok(()), |it| Err(Problem::refused(&it)))
}
