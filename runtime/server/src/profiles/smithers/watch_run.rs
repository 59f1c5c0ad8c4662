//! `watch_run`: waits until a run ends, with a snapshot for each change.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::summary::{self, Teller};
use super::{invalid, shape};
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::Outcome;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: String,
    /// How often to look; 1000 if it isn't given, 500 at least.
    interval_ms: Option<u64>,
    /// How long to wait; 30000 if it isn't given, and 25000 at most in one call.
    timeout_ms: Option<u64>,
}

/// Shortest time between two looks. Unit: milliseconds.
const SHORTEST: u64 = 500;

/// Longest wait of a call. Unit: milliseconds. Why: clients give up after 30 seconds or more.
const LONGEST: u64 = 25_000;

/// How often it is looked whether the caller has given up.
const BLINK: Duration = Duration::from_millis(50);

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("watch_run", Set::Smithers, Annotations::READ_ONLY),
        (
            "Watch a run",
            "Waits until a run ends or the time is over. `timedOut` says that it goes on: call again.",
        ),
        shape,
        run,
    )
    .equivalent_to("wait_run")
    .with_output(&[
        ("runId", "string"),
        ("intervalMs", "integer"),
        ("pollCount", "integer"),
        ("reachedTerminal", "boolean"),
        ("timedOut", "boolean"),
        ("finalRun", "object"),
        ("snapshots", "array"),
    ])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let interval = input.interval_ms.unwrap_or(1000);
    if interval == 0 {
        return Err(invalid("`intervalMs`: it is 1 at least"));
    }
    let interval = interval.max(SHORTEST);
    let longest = input.timeout_ms.unwrap_or(30_000).min(LONGEST);
    let longest = Duration::from_millis(longest);
    let run = ctx.resolve_run(Some(&input.run_id))?;
    let began = Instant::now();
    let mut snapshots: Vec<Value> = Vec::new();
    let mut polls = 0_u64;
    let (last, over) = loop {
        let loaded = ctx.runs().catch_up(&run)?;
        let teller = Teller::of(ctx);
        let now = teller.summary(ctx, &loaded)?;
        polls = polls.saturating_add(1);
        if snapshots.last().and_then(|it| it.get("run")) != Some(&now) {
            snapshots.push(json!({"observedAtMs": teller.now(), "run": now}));
        }
        let over = summary::is_terminal(&loaded);
        if over || began.elapsed() >= longest || !rest(ctx, began, interval, longest) {
            break (now, over);
        }
        let share = began.elapsed().as_secs_f64() / longest.as_secs_f64();
        ctx.report_progress(share, &format!("watching `{run}`"));
    };
    Ok(json!({
        "runId": run,
        "intervalMs": interval,
        "pollCount": polls,
        "reachedTerminal": over,
        "timedOut": !over,
        "finalRun": last,
        "snapshots": snapshots,
    }))
}

/// Rests for an interval, or until the time is over; whether the caller still waits.
fn rest(ctx: &Ctx<'_>, began: Instant, interval: u64, longest: Duration) -> bool {
    let from = Instant::now();
    while from.elapsed() < Duration::from_millis(interval) && began.elapsed() < longest {
        if ctx.is_cancelled() {
            return false;
        }
        std::thread::sleep(BLINK);
    }
    true
}
