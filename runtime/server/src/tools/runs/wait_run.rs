//! `wait_run`: waits until a run changes, for as long as clients have patience.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::Loaded;

use super::get_events::whole;
use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, NEXT, answer_about, remaining_room};
use crate::lookup::check_state_of_run;
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

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
    Tool::own(
        ("wait_run", Set::Runs, Annotations::READ_ONLY),
        (
            "Wait for a run",
            "Waits until a run changes, ends, or is answered; `reached` says whether it did in time, `ended` that nothing more comes. Call again to go on.",
        ),
        &[
            ("reached", "boolean"),
            ("ended", "boolean"),
            ("records", "array"),
            ("cursor", "integer"),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    if input.until == Until::State && input.state.is_none() {
        return Err(Problem::argument("state", "say which, for `until: state`"));
    }
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let runs = ctx.runs();
    let began = Instant::now();
    let longest = Duration::from_millis(input.timeout_ms.unwrap_or(LONGEST).min(LONGEST));
    let mut loaded = runs.caught_up(&run)?;
    if let Some(state) = &input.state {
        check_state_of_run(&loaded, "state", state)?;
    }
    let after = input.after_seq.unwrap_or(loaded.head.seq);
    let mut talked = Instant::now();
    let reached = loop {
        if met(&loaded, input, after) {
            break true;
        }
        // What hasn't come by the end never does.
        if loaded.state.status().is_over() {
            break false;
        }
        if began.elapsed() >= longest || ctx.is_cancelled() {
            break false;
        }
        if talked.elapsed() >= TALK {
            let share = began.elapsed().as_secs_f64() / longest.as_secs_f64();
            ctx.report_progress(share, &format!("waiting for `{run}`"));
            talked = Instant::now();
        }
        std::thread::sleep(PAUSE);
        loaded = runs.caught_up(&run)?;
    };
    let records = runs.store().records(&run, after, MOST)?;
    let records: Vec<Value> = records.iter().map(|it| whole(&run, it)).collect();
    let mut answer = answer_about(&loaded, json!({"reached": reached, "cursor": after}))?;
    if loaded.state.status().is_over() {
        answer.insert("ended".to_owned(), json!(true));
    }
    let records = bounds::take_fitting(
        records,
        bounds::MAX_REPLY.saturating_sub(remaining_room(&answer)),
    );
    let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
    answer.insert("cursor".to_owned(), json!(after.saturating_add(count)));
    answer.insert("records".to_owned(), json!(records));
    Ok(answer)
}

fn met(loaded: &Loaded, input: &Input, after: u64) -> bool {
    let state = &loaded.state;
    match input.until {
        Until::Change => loaded.head.seq > after,
        Until::Terminal => state.status().is_over(),
        Until::Request => {
            // Who asks for nothing has nothing to wait for.
            let settled = state
                .requests
                .values()
                .filter_map(|it| it.resolved.as_ref());
            let mut settled = settled.map(|(_, _, seq)| *seq);
            settled.any(|seq| seq > after) || state.open_requests().is_empty()
        }
        // The last one of a run that has ended is where it is.
        Until::State => state.is_active(input.state.as_deref().unwrap_or_default()),
    }
}
