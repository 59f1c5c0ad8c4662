//! `watch_run`: waits until a run ends, with a snapshot for each change.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::summary::{self, Teller};
use super::{invalid, shape};
use crate::call::Call;
use crate::tool::{Hints, Outcome, Set, Tool};

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
    Tool::foreign(
        ("watch_run", Set::Smithers, Hints::READS),
        (
            "Watch a run",
            "Waits until a run ends or the time is over. `timedOut` says that it goes on: call again.",
        ),
        shape,
        run,
    )
    .like("wait_run")
    .gives(&[
        ("runId", "string"),
        ("intervalMs", "integer"),
        ("pollCount", "integer"),
        ("reachedTerminal", "boolean"),
        ("timedOut", "boolean"),
        ("finalRun", "object"),
        ("snapshots", "array"),
    ])
}

fn run(call: &Call<'_>, input: &Input) -> Outcome {
    let interval = input.interval_ms.unwrap_or(1000);
    if interval == 0 {
        return Err(invalid("`intervalMs`: it is 1 at least"));
    }
    let interval = interval.max(SHORTEST);
    let longest = input.timeout_ms.unwrap_or(30_000).min(LONGEST);
    let longest = Duration::from_millis(longest);
    let run = call.run(Some(&input.run_id))?;
    let began = Instant::now();
    let mut snapshots: Vec<Value> = Vec::new();
    let mut polls = 0_u64;
    let (last, over) = loop {
        let loaded = call.desk.runs().caught_up(&run)?;
        let teller = Teller::of(call);
        let now = teller.summary(call, &loaded)?;
        polls = polls.saturating_add(1);
        if snapshots.last().and_then(|it| it.get("run")) != Some(&now) {
            snapshots.push(json!({"observedAtMs": teller.now(), "run": now}));
        }
        let over = summary::is_terminal(&loaded);
        if over || began.elapsed() >= longest || !rest(call, began, interval, longest) {
            break (now, over);
        }
        let share = began.elapsed().as_secs_f64() / longest.as_secs_f64();
        (call.progress)(share, &format!("watching `{run}`"));
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
fn rest(call: &Call<'_>, began: Instant, interval: u64, longest: Duration) -> bool {
    let from = Instant::now();
    while from.elapsed() < Duration::from_millis(interval) && began.elapsed() < longest {
        if (call.cancelled)() {
            return false;
        }
        std::thread::sleep(BLINK);
    }
    true
}
