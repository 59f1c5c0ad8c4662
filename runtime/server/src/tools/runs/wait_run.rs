//! `wait_run`: waits until a run changes, for as long as clients have patience.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_store::Loaded;

use super::get_events::whole;
use crate::problem::Problem;
use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{NEXT, about};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Until what: any change, the end, a request that is settled, or a state.
    #[serde(default)]
    until: Until,
    /// The state, for `until: state`.
    state: Option<String>,
    /// Changes behind this record count; else from now on.
    after_seq: Option<u64>,
    /// Longest time to wait in this call; 25000 at most.
    timeout_ms: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Until {
    #[default]
    Change,
    Terminal,
    Request,
    State,
}

/// Longest wait of a call. Unit: milliseconds. Why: clients give up after 30 seconds or more.
const LONGEST: u64 = 25_000;

/// How often the store is asked.
const PAUSE: Duration = Duration::from_millis(50);

/// How often the caller hears of the wait.
const TALK: Duration = Duration::from_secs(5);

/// Most records of an answer.
const MOST: usize = 100;

pub(super) fn tool() -> Tool {
    Tool::new(
        ("wait_run", Set::Runs, Hints::READS),
        (
            "Wait for a run",
            "Waits until a run changes, ends, or is answered; `reached` says whether it did in time. Call again to go on.",
        ),
        &[
            ("reached", "boolean"),
            ("records", "array"),
            ("cursor", "integer"),
            NEXT,
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    if input.until == Until::State && input.state.is_none() {
        return Err(Problem::new(
            "invalid_arguments",
            "`state`: say which, for `until: state`",
        ));
    }
    let run = call.run(input.run_id.as_deref())?;
    let runs = call.desk.runs();
    let began = Instant::now();
    let longest = Duration::from_millis(input.timeout_ms.unwrap_or(LONGEST).min(LONGEST));
    let mut loaded = runs.caught_up(&run)?;
    let after = input.after_seq.unwrap_or(loaded.head.seq);
    let open = open(&loaded);
    let mut talked = Instant::now();
    let reached = loop {
        if met(&loaded, input, after, &open) {
            break true;
        }
        if began.elapsed() >= longest || (call.cancelled)() {
            break false;
        }
        if talked.elapsed() >= TALK {
            let share = began.elapsed().as_secs_f64() / longest.as_secs_f64();
            (call.progress)(share, &format!("waiting for `{run}`"));
            talked = Instant::now();
        }
        std::thread::sleep(PAUSE);
        loaded = runs.caught_up(&run)?;
    };
    let records = runs.store().records(&run, after, MOST)?;
    let records: Vec<Value> = records.iter().map(whole).collect();
    let records = Call::fitting(records, &json!({}));
    let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
    let cursor = after.saturating_add(count);
    about(
        &loaded,
        json!({"reached": reached, "records": records, "cursor": cursor}),
    )
}

fn open(loaded: &Loaded) -> Vec<String> {
    let open = loaded.state.open_requests().into_iter();
    open.map(|it| it.opened.request.clone()).collect()
}

fn met(loaded: &Loaded, input: &Input, after: u64, before: &[String]) -> bool {
    let is_over = loaded.state.status().is_over();
    match input.until {
        Until::Change => loaded.head.seq > after || is_over,
        Until::Terminal => is_over,
        Until::Request => {
            let open = open(loaded);
            is_over || before.iter().any(|it| !open.contains(it)) || before.is_empty()
        }
        Until::State => {
            let state = input.state.as_deref().unwrap_or_default();
            loaded.state.is_active(state) || is_over
        }
    }
}
