//! `statewright_list_workflows`, `statewright_get_status`: what there is, and which of it is active.

use serde_json::{Value, json};
use statemark_store::Loaded;

use super::{Nothing, active, status as word};
use crate::call::Call;
use crate::problem::Problem;
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
        |call, _: &Nothing| {
            let active = live(call)?.map(|it| it.state.workflow);
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

fn run(call: &Call<'_>, _: &Nothing) -> Outcome {
    let workflows = call.desk.catalog().ids();
    let Some(outer) = live(call)? else {
        return Ok(json!({"active": null, "state": null, "workflows": workflows}));
    };
    let inner = session::driven(call)?;
    let state = inner.as_ref().map_or(Value::Null, |it| json!(active(it)));
    Ok(json!({
        "active": outer.state.workflow,
        "state": state,
        "run_id": outer.run,
        "status": word(outer.state.status()),
        "workflows": workflows,
    }))
}

fn live(call: &Call<'_>) -> Result<Option<Loaded>, Problem> {
    let outer = session::outer(call)?;
    Ok(outer.filter(|it| !it.state.status().is_over()))
}
