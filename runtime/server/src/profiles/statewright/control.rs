//! `statewright_deactivate`, `statewright_pause`, `statewright_force_state`: what is done to a run from outside.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::Refused;
use statemark_runs::{CancelRun, ForceState, PauseRun, Role, Status};

use super::{OfSession, active, driven, loaded, state, status};
use crate::ctx::Ctx;
use crate::envelope::find_refusal;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

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
    Tool::profile(
        ("statewright_deactivate", Set::Statewright, Annotations::DESTRUCTIVE),
        (
            "Deactivate",
            "Leave the workflow early: its run is cancelled. Tools stay restricted unless the workflow says otherwise.",
        ),
        words,
        |ctx, input: &OfSession| {
            let before = loaded(ctx, input.session_id.as_deref())?;
            let order = ctx.order(before.run.clone(), None, None)?;
            let written = ctx.runs().execute(&order, &CancelRun::because("deactivated"))?;
            unrefused(find_refusal(&written))?;
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
    .equivalent_to("control_run")
}

pub(super) fn pause() -> Tool {
    Tool::profile(
        ("statewright_pause", Set::Statewright, Annotations::IDEMPOTENT),
        (
            "Pause",
            "Pause the workflow. Resume it later with statewright_load_workflow(name, resume=true).",
        ),
        words,
        |ctx, input: &OfSession| {
            let before = loaded(ctx, input.session_id.as_deref())?;
            let order = ctx.order(before.run.clone(), None, None)?;
            let written = ctx.runs().execute(&order, &PauseRun::default())?;
            unrefused(find_refusal(&written))?;
            Ok(json!({
                "paused": true,
                "state": active(&before),
                "workflow": before.state.workflow,
                "run_id": before.run,
            }))
        },
    )
    .equivalent_to("control_run")
}

pub(super) fn force() -> Tool {
    Tool::profile(
        ("statewright_force_state", Set::Statewright, Annotations::DESTRUCTIVE),
        (
            "Force a state",
            "Force a state, bypassing guards and transitions. Only with meta.debug, and only by a person.",
        ),
        words,
        jump,
    )
    .equivalent_to("control_run")
}

fn jump(ctx: &Ctx<'_>, input: &Forcing) -> Outcome {
    let before = driven(ctx, input.session_id.as_deref())?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let force = ForceState {
        to: input.state.clone(),
        context: input.context.clone(),
        reason: None,
    };
    let written = ctx.runs().execute(&order, &force)?;
    if let Some(refused) = find_refusal(&written) {
        let is_debug = before.policy("debug") == Some(&json!(true));
        let message = match refused.code.as_str() {
            _ if !is_debug => {
                "statewright_force_state is only available when meta.debug is true.".to_owned()
            }
            "unknown_state" => format!(
                "State '{}' does not exist in the workflow: {}",
                input.state, refused.reason
            ),
            "not_a_person" if ctx.actor().role < Role::Person => {
                format!(
                    "statewright_force_state needs a person's credential: {}",
                    refused.reason
                )
            }
            _ => refused.reason.clone(),
        };
        return Err(Problem::new(refused.code, message));
    }
    let mut told = state::told(ctx, &written.loaded)?;
    told.insert("forced".to_owned(), json!(true));
    told.insert("from".to_owned(), json!(active(&before)));
    told.insert("to".to_owned(), json!(active(&written.loaded)));
    Ok(Value::Object(told))
}

fn unrefused(refused: Option<Refused>) -> Result<(), Problem> {
    refused.map_or(Ok(()), |it| Err(Problem::refused(&it)))
}
