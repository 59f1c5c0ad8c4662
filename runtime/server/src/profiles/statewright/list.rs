//! `statewright_list_workflows`, `statewright_get_status`: what there is, and which of it is active.

use serde_json::{Value, json};

use super::{OfSession, active, live, status as word};
use crate::call::Call;
use crate::profiles::words;
use crate::session;
use crate::tool::{Hints, Outcome, Set, Tool};

pub(super) fn workflows() -> Tool {
    Tool::foreign(
        ("statewright_list_workflows", Set::Statewright, Hints::READS),
        (
            "List workflows",
            "List all available workflows and which one is active.",
        ),
        words,
        |call, input: &OfSession| {
            let active = live(call, input.session_id.as_deref())?.map(|it| it.state.workflow);
            Ok(json!({"workflows": call.desk.catalog().ids(), "active": active}))
        },
    )
    .like("list_workflows")
}

pub(super) fn status() -> Tool {
    Tool::foreign(
        ("statewright_get_status", Set::Statewright, Hints::READS),
        (
            "Get the status",
            "Get the active workflow, its current state, and the available workflows.",
        ),
        words,
        run,
    )
    .like("get_run")
}

fn run(call: &Call<'_>, input: &OfSession) -> Outcome {
    let session = input.session_id.as_deref();
    let workflows = call.desk.catalog().ids();
    let Some(outer) = live(call, session)? else {
        return Ok(json!({"active": null, "state": null, "workflows": workflows}));
    };
    let inner = session::driven(call, session)?;
    let state = inner.as_ref().map_or(Value::Null, |it| json!(active(it)));
    Ok(json!({
        "active": outer.state.workflow,
        "state": state,
        "run_id": outer.run,
        "status": word(outer.state.status()),
        "workflows": workflows,
    }))
}
