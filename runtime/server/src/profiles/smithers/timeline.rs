//! `get_timeline`: the frames that a run can be taken back to or forked at, and its forks.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::runs::{Mark, Marked};
use statemark_runs::{Loaded, Record, StoreError, load_timeline, state};

use super::{load, shape};
use crate::ctx::Ctx;
use crate::envelope::set_field;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: String,
    /// With all forks, and theirs.
    #[serde(default)]
    tree: bool,
}

/// Most frames of a run that are told: the last ones.
const MOST: usize = 1_000;

/// How deep forks of forks are followed, and how many runs are told in all.
const DEEP: usize = 16;
const RUNS: usize = 100;

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("get_timeline", Set::Smithers, Annotations::READ_ONLY),
        (
            "Get the timeline",
            "The frames of a run, each a `frameNo` to rewind to or to fork at, and the forks.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_timeline")
    .with_output(&[("timeline", "object")])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    let mut left = RUNS;
    let deep = if input.tree { DEEP } else { 0 };
    Ok(json!({"timeline": told(ctx, &loaded, deep, &mut left)?}))
}

fn told(ctx: &Ctx<'_>, loaded: &Loaded, deep: usize, left: &mut usize) -> Result<Value, Problem> {
    *left = left.saturating_sub(1);
    let runs = ctx.runs();
    let timeline = load_timeline(runs, &loaded.run)?;
    let mut frames = frames(ctx, loaded)?;
    for frame in &mut frames {
        let at = frame.get("frameNo").and_then(Value::as_u64);
        let forks = timeline.forks.iter().filter(|it| Some(it.at) == at);
        let forks: Vec<Value> = forks
            .map(|it| json!({"runId": it.run, "createdAtMs": it.created, "status": it.status}))
            .collect();
        set_field(frame, "forkPoints", json!(forks));
    }
    let cut = frames.len().saturating_sub(MOST);
    let frames = frames.split_off(cut);
    let mut told = json!({
        "runId": loaded.run,
        "frames": frames,
        "framesLeftOut": cut,
        "branch": timeline.origins.last().map(|(run, at)| json!({"parentRunId": run, "parentFrameNo": at})),
        "rewinds": timeline.marks.iter().filter(|it| is_rewind(it)).count(),
    });
    if deep > 0 {
        let mut children = Vec::new();
        for fork in &timeline.forks {
            // What the caller may not touch isn't shown.
            let is_out_of_reach = ctx.bound_run().is_some_and(|bound| *bound != fork.run);
            if *left > 0 && !is_out_of_reach {
                let child = ctx.runs().catch_up(&fork.run)?;
                children.push(self::told(ctx, &child, deep.saturating_sub(1), left)?);
            }
        }
        set_field(&mut told, "children", Value::Array(children));
    }
    Ok(told)
}

const fn is_rewind(mark: &Mark) -> bool {
    matches!(mark.what, Marked::Rewound { .. })
}

/// The records that count and end an append, with what they say.
fn frames(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Vec<Value>, Problem> {
    let store = ctx.runs().store();
    let upto = Some(loaded.head.seq);
    let live = state::live_records(store, &loaded.run, upto, &[])?;
    let mut frames = Vec::new();
    let each = |record: &Record| -> Result<(), StoreError> {
        if live.contains(record.seq) && !record.continues() && record.kind != "refused" {
            frames.push(json!({
                "frameNo": record.seq,
                "createdAtMs": record.time,
                "contentHash": record.hash(),
                "summary": record.summary(),
            }));
        }
        Ok(())
    };
    state::for_each_record(store, &loaded.run, 0, upto, each)?;
    Ok(frames)
}
