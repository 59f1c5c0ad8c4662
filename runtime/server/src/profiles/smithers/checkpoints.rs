//! `list_snapshots` and `restore_checkpoint`: saved working copies.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::Loaded;
use statemark_runs::runs::RestoreFiles;
use statemark_runs::state::Checkpoint;

use super::nodes::{self, Nodes};
use super::{ENDS, load, shape};
use crate::ctx::Ctx;
use crate::envelope::{find_refusal, set_field};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Listing {
    /// The run.
    run_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Restoring {
    /// The run.
    run_id: String,
    /// The node that the checkpoint was taken in.
    node_id: String,
    /// Which visit of the node; any if it isn't given.
    iteration: Option<u64>,
    /// The checkpoint, from `list_snapshots`; the latest if it isn't given.
    seq: Option<u64>,
}

pub(super) fn list() -> Tool {
    Tool::profile(
        ("list_snapshots", Set::Smithers, Annotations::READ_ONLY),
        (
            "List snapshots",
            "The working copies of a run that were saved.",
        ),
        shape,
        listed,
    )
    .equivalent_to("get_timeline")
    .with_output(&[("snapshots", "array")])
}

pub(super) fn restore() -> Tool {
    Tool::profile(
        ("restore_checkpoint", Set::Smithers, ENDS),
        (
            "Restore a checkpoint",
            "Puts the files back to a checkpoint of a node. What is overwritten becomes a checkpoint, too.",
        ),
        shape,
        restored,
    )
    .equivalent_to("rewind_run")
    .with_output(&[
        ("runId", "string"),
        ("nodeId", "string"),
        ("iteration", "integer"),
        ("seq", "integer"),
        ("commitId", "string"),
        ("cwd", "string"),
        ("success", "boolean"),
        ("error", "string"),
    ])
}

fn listed(ctx: &Ctx<'_>, input: &Listing) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let snapshots = in_order(&loaded).into_iter().map(|saved| {
        let taken = &saved.taken;
        let visit = nodes.at(saved.seq);
        json!({
            "seq": saved.seq,
            "nodeId": visit.map(|it| &it.node),
            "iteration": visit.map_or(0, |it| it.iteration),
            "attempt": visit.map_or(1, |it| it.attempt_at(saved.seq)),
            "tier": "workspace",
            "source": "git",
            "label": taken.reason.as_ref().unwrap_or(&taken.name),
            "commitId": taken.commit,
            "operationId": null,
            "cwd": taken.repository,
            "createdAtMs": saved.time,
        })
    });
    let snapshots: Vec<Value> = snapshots.collect();
    Ok(json!({"snapshots": snapshots}))
}

fn in_order(loaded: &Loaded) -> Vec<&Checkpoint> {
    let mut all: Vec<&Checkpoint> = loaded.state.checkpoints.values().collect();
    all.sort_by_key(|it| it.seq);
    all
}

fn restored(ctx: &Ctx<'_>, input: &Restoring) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    nodes::known(&loaded, &input.node_id)?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let of_node = |saved: &&Checkpoint| {
        let mut visits = nodes.visits.iter();
        visits.any(|visit| {
            visit.node == input.node_id
                && visit.holds(saved.seq)
                && input
                    .iteration
                    .is_none_or(|wanted| wanted == visit.iteration)
        })
    };
    let all = in_order(&loaded).into_iter();
    let mut found = all.filter(of_node);
    let saved = match input.seq {
        Some(seq) => found.find(|it| it.seq == seq),
        None => found.next_back(),
    };
    let Some(saved) = saved else {
        let message = format!("no such checkpoint was taken in `{}`", input.node_id);
        let there: Vec<u64> = in_order(&loaded).iter().map(|it| it.seq).collect();
        return Err(Problem::new("CHECKPOINT_NOT_FOUND", message).with(json!({"seqs": there})));
    };
    let mut visits = nodes.visits.iter().rev();
    let visit = visits.find(|it| it.node == input.node_id && it.holds(saved.seq));
    let name = saved.taken.name.clone();
    let order = ctx.order(loaded.run.clone(), None, None)?;
    let written = ctx.runs().execute(&order, &RestoreFiles { name });
    let error = match written {
        Ok(written) => find_refusal(&written).map(|it| it.reason),
        Err(error) => Some(error.to_string()),
    };
    let mut told = json!({
        "runId": loaded.run,
        "nodeId": input.node_id,
        "iteration": visit.map_or(0, |it| it.iteration),
        "seq": saved.seq,
        "commitId": saved.taken.commit,
        "cwd": saved.taken.repository,
        "success": error.is_none(),
    });
    if let Some(error) = error {
        set_field(&mut told, "error", json!(error));
    }
    Ok(told)
}
