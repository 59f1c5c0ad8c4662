//! `verify_run`: whether a run's journal is as it was written, and what the machine makes of it again.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use statemark_runs::maintenance::{ignore_progress, verify};

use crate::ctx::Ctx;
use crate::envelope::next::describe_next;
use crate::envelope::pages::Position;
use crate::envelope::{Fields, NEXT, add_page, into_fields};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("verify_run", Set::Time, Annotations::READ_ONLY),
        (
            "Verify a run",
            "Checks the chain of hashes and what is kept of a run, makes every step again and compares.",
        ),
        &[
            ("whole", "boolean"),
            ("records", "integer"),
            ("steps", "integer"),
            ("blobs", "integer"),
            ("differences", "array"),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let runs = ctx.runs();
    let verified = verify(runs.store(), Some(&run), &mut ignore_progress)?;
    let found = verified.differences.iter();
    let mut differences: Vec<_> = found
        .map(|it| json!({"seq": it.seq, "what": it.what}))
        .collect();
    let mut steps = 0;
    // What isn't as it was written can't be made again.
    if differences.is_empty() {
        let replay = runs.replay(&run, None)?;
        steps = replay.steps;
        differences.extend(replay.difference.map(|it| json!(it)));
    }
    let mut answer = into_fields(json!({
        "run_id": run,
        "whole": differences.is_empty(),
        "records": verified.records,
        "steps": steps,
        "blobs": verified.blobs,
    }));
    // Of a run that isn't as it was written, it can't always be said.
    if let Ok(next) = runs
        .load(&run)
        .map_err(Problem::from)
        .and_then(|it| describe_next(&it))
    {
        answer.insert("next".to_owned(), next);
    }
    if !differences.is_empty() {
        add_page(
            &mut answer,
            "differences",
            json!(differences),
            Position::default(),
        );
    }
    Ok(answer)
}
