//! `control_run`: pause, continue, cancel, force.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{Cancel, Continue, Force, Pause, state};

use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_order};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// What to do.
    action: Action,
    /// The state, for `force`.
    state: Option<String>,
    /// Fields of the context that are set with it, for `force`.
    #[serde(default)]
    context: Map<String, Value>,
    /// Why.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Pause,
    Continue,
    Cancel,
    Force,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("control_run", Set::Runs, Annotations::DESTRUCTIVE),
        (
            "Control a run",
            "Pauses, continues or cancels a run. `force` sets its state by hand: a person's call, where the definition allows it.",
        ),
        &[("status", "string"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(run, key, input.expected_seq)?;
    let runs = ctx.runs();
    let reason = input.reason.clone();
    let written = match input.action {
        Action::Pause => runs.execute(&order, &Pause { reason })?,
        Action::Continue => runs.execute(&order, &Continue { reason })?,
        Action::Cancel => runs.execute(&order, &Cancel { reason })?,
        Action::Force => {
            let Some(to) = input.state.clone() else {
                return Err(Problem::argument("state", "say which, for `action: force`"));
            };
            let force = Force {
                to,
                context: input.context.clone(),
                reason,
            };
            runs.execute(&order, &force)?
        }
    };
    // Of a call that is made again, what came of it the first time; where the run is now is next.
    let status = match written.records.last() {
        Some(last) if written.replayed => {
            let store = runs.store();
            state::load(store, &order.run, Some(last.seq))?.status()
        }
        _ => written.loaded.state.status(),
    };
    answer_order(&written, json!({"status": status}))
}
