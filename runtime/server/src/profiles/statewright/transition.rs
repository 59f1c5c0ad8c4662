//! `statewright_transition`: an event, taken, held for approval or refused.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::{Opened, Refused};
use statemark_runs::{Loaded, SendEvent, SendOutcome, Written};
use statemark_text::suggest::nearest;

use super::{active, driven};
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The transition event name (e.g. DONE, FAIL, PLAN_READY).
    event: String,
    /// Context data to merge; guards of the transition see it.
    data: Option<Map<String, Value>>,
    /// The session whose run is meant, as it was given to load_workflow.
    session_id: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("statewright_transition", Set::Statewright, Annotations::ADDITIVE),
        (
            "Transition",
            "Transition to a new state by emitting an event, with data for the context and the guards.",
        ),
        words,
        run,
    )
    .equivalent_to("send_event")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let before = driven(ctx, input.session_id.as_deref())?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let send = SendEvent {
        event: input.event.clone(),
        data: input.data.clone().map(Value::Object),
    };
    let written = ctx.runs().execute(&order, &send)?;
    match &written.outcome {
        SendOutcome::Taken(_) => Ok(moved(&before, &written)),
        SendOutcome::Asked(opened) => Ok(held(&before, &written, opened, &send)?),
        SendOutcome::Refused(refused) => Err(refusal(&before, &send, refused)?),
    }
}

fn moved(before: &Loaded, written: &Written<SendOutcome>) -> Value {
    json!({
        "transitioned": true,
        "from": active(before),
        "to": active(&written.loaded),
        "requires_approval": false,
        "transition_count": written.loaded.state.transitions,
        "usage": usage(&written.loaded),
    })
}

/// The transition waits for a person.
fn held(
    before: &Loaded,
    written: &Written<SendOutcome>,
    opened: &Opened,
    send: &SendEvent,
) -> Result<Value, Problem> {
    let legal = before.legality().transitions_of(None, send.data.as_ref())?;
    let way = legal
        .into_iter()
        .find(|it| it.event == send.event && it.enabled);
    let to = way.map(|it| it.to.join(", "));
    Ok(json!({
        "transitioned": false,
        "from": active(before),
        "to": to,
        "requires_approval": true,
        "request_id": opened.request,
        "message": format!(
            "{} The transition is made as soon as a person approves request `{}`; look with statewright_get_state.",
            opened.prompt, opened.request
        ),
        "transition_count": written.loaded.state.transitions,
        "usage": usage(&written.loaded),
    }))
}

/// Nothing is metered.
fn usage(loaded: &Loaded) -> Value {
    json!({"transitions": loaded.state.transitions, "limit": null, "remaining": null})
}

/// Why it was refused, in Statewright's sentences as far as it has one.
fn refusal(before: &Loaded, send: &SendEvent, refused: &Refused) -> Result<Problem, Problem> {
    let (event, state) = (&send.event, active(before));
    let reason = &refused.reason;
    let message = match refused.code.as_str() {
        "ended" => format!("Cannot transition: state machine is in final state '{state}'."),
        "waiting_for_request" => format!(
            "A transition is pending approval. Approve or reject it before transitioning. ({reason})"
        ),
        "not_taken" => {
            let legal = before.legality().transitions_of(None, send.data.as_ref())?;
            let unmet = legal.iter().filter(|it| it.event == *event);
            let unmet: Vec<String> = unmet
                .flat_map(|it| &it.unmet)
                .map(|it| it.describe())
                .collect();
            if unmet.is_empty() {
                unknown(before, event, refused)
            } else {
                format!(
                    "Transition '{event}' from state '{state}' was blocked by a guard condition. {}",
                    unmet.join(", ")
                )
            }
        }
        "unknown_event" => unknown(before, event, refused),
        "paused" => {
            let workflow = &before.state.workflow;
            format!(
                "Transition '{event}' from state '{state}' was refused: the run is paused. Resume it with \
                 statewright_load_workflow(name=\"{workflow}\", resume=true)."
            )
        }
        _ => format!("Transition '{event}' from state '{state}' was refused: {reason}"),
    };
    Ok(Problem::new(refused.code.clone(), message))
}

fn unknown(before: &Loaded, event: &str, refused: &Refused) -> String {
    let state = active(before);
    let legal = match refused.legal.as_slice() {
        [] => "none is available now".to_owned(),
        events => format!("available are {}", events.join(", ")),
    };
    // An event whose guard doesn't hold may be meant, too.
    let here = before.legality().transitions().unwrap_or_default();
    let near = nearest(event, here.iter().map(|it| it.event.as_str()));
    let near = near.map_or_else(String::new, |near| format!(". Did you mean '{near}'?"));
    format!("No transition for event '{event}' in state '{state}': {legal}{near}")
}
