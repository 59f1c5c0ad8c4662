//! `statewright_list_workflows`, `statewright_get_status`: what there is, and which of it is active.

use serde_json::{Value, json};

use super::{OfSession, active, live, status as word};
use crate::ctx::{Ctx, target};
use crate::options::Set;
use crate::problem::Outcome;
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

pub(super) fn workflows() -> Tool {
    Tool::profile(
        (
            "statewright_list_workflows",
            Set::Statewright,
            Annotations::READ_ONLY,
        ),
        (
            "List workflows",
            "List all available workflows and which one is active.",
        ),
        words,
        |ctx, input: &OfSession| {
            let active = live(ctx, input.session_id.as_deref())?.map(|it| it.state.workflow);
            Ok(json!({"workflows": ctx.catalog().ids(), "active": active}))
        },
    )
    .equivalent_to("list_workflows")
}

pub(super) fn status() -> Tool {
    Tool::profile(
        (
            "statewright_get_status",
            Set::Statewright,
            Annotations::READ_ONLY,
        ),
        (
            "Get the status",
            "Get the active workflow, its current state, and the available workflows.",
        ),
        words,
        run,
    )
    .equivalent_to("get_run")
}

fn run(ctx: &Ctx<'_>, input: &OfSession) -> Outcome {
    let session = input.session_id.as_deref();
    let workflows = ctx.catalog().ids();
    let Some(outer) = live(ctx, session)? else {
        return Ok(json!({"active": null, "state": null, "workflows": workflows}));
    };
    let inner = target::driven_run(ctx, session)?;
    let state = inner.as_ref().map_or(Value::Null, |it| json!(active(it)));
    Ok(json!({
        "active": outer.state.workflow,
        "state": state,
        "run_id": outer.run,
        "status": word(outer.state.status()),
        "workflows": workflows,
    }))
}
