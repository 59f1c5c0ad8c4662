//! `rewind_run`: takes back what came after a record, once a dry run has said what that is.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::body::Scope;
use statemark_runs::runs::Rewind;

use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_about, answer_order};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};
use crate::tools::time::told;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The last record that still counts.
    to: u64,
    /// What is taken back.
    #[serde(default)]
    scope: What,
    /// Put the files back to this checkpoint; else to the one that they had then.
    checkpoint: Option<String>,
    /// Only say what would be undone, with the token that the real call needs. So it is without a token, too.
    #[serde(default)]
    dry_run: bool,
    /// The dry run's token: do it.
    confirm_token: Option<String>,
    /// Leave effects behind that nothing takes back. It stays recorded.
    #[serde(default)]
    force: bool,
    /// Why.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    /// What the journal says.
    #[default]
    State,
    /// The files.
    Workspace,
    Both,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("rewind_run", Set::Time, Annotations::DESTRUCTIVE),
        (
            "Rewind a run",
            "Takes back what came after a record. First without a token, which says what would be undone and gives one. Nothing is deleted.",
        ),
        &[("plan", "object"), ("confirm_token", "string"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let runs = ctx.runs();
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let rewind = Rewind {
        scope: match input.scope {
            What::State => Scope::State,
            What::Workspace => Scope::Workspace,
            What::Both => Scope::Both,
        },
        checkpoint: input.checkpoint.clone(),
        token: input.confirm_token.clone(),
        force: input.force,
        reason: input.reason.clone(),
        ..Rewind::to(input.to)
    };
    if input.dry_run && input.confirm_token.is_some() {
        return Err(Problem::argument(
            "dry_run",
            "a dry run takes no `confirm_token`",
        ));
    }
    if input.confirm_token.is_none() {
        let loaded = ctx.load_run(Some(run.as_str()))?;
        let mut plan = told(json!(runs.plan_rewind(&run, &rewind)?));
        let token = plan.remove("token");
        return answer_about(&loaded, json!({"plan": plan, "confirm_token": token}));
    }
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(run, key, input.expected_seq)?;
    let written = runs.execute(&order, &rewind)?;
    let seq = written.records.last().map(|it| it.seq);
    let again = json!({"run_id": order.run, "to": input.to, "force": input.force, "dry_run": true});
    answer_order(&written, json!({"to": input.to, "seq": seq})).map_err(|problem| {
        match problem.code.as_str() {
            "stale_token" | "no_token" => problem.mended_by("rewind_run", again),
            _ => problem,
        }
    })
}
