//! `get_events`: a run's records, page by page.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{Body, Record, RunId};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::next::describe_next;
use crate::envelope::{Fields, NEXT, into_fields, remaining_room, set_field};
use crate::lookup::check_state_of_run;
use crate::options::Set;
use crate::problem::Problem;
use crate::resource::{Address, Part};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Only behind this record.
    #[serde(default)]
    after_seq: u64,
    /// Most of them; 50 if it isn't given.
    limit: Option<u32>,
    /// Only of these kinds, such as `event` or `refused`.
    #[serde(default)]
    kinds: Vec<String>,
    /// Only those of the visits of this state.
    state: Option<String>,
    /// Only from this time on. Unit: milliseconds since 1970.
    since: Option<u64>,
    /// Whole records, or a line for each.
    #[serde(default)]
    view: View,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum View {
    #[default]
    Records,
    Transcript,
}

/// Most records of a page.
const MOST: usize = 500;

/// Largest body that is told whole. Unit: bytes.
const LARGE: usize = 4 << 10;

pub(super) fn tool() -> Tool {
    Tool::own(
        ("get_events", Set::Runs, Annotations::READ_ONLY),
        (
            "Read a run's journal",
            "What happened in a run, in order; `cursor` is the `after_seq` of the next page.",
        ),
        &[
            ("records", "array"),
            ("cursor", "integer"),
            ("seq", "integer"),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    check(&input.kinds)?;
    let limit = input
        .limit
        .map_or(50, |it| usize::try_from(it).unwrap_or(MOST));
    let limit = limit.clamp(1, MOST);
    let store = ctx.runs().store();
    let head = store.head(&run)?;
    let visits = match &input.state {
        Some(state) => {
            check_state_of_run(&ctx.runs().load(&run)?, "state", state)?;
            Some(visits(ctx, &run, state)?)
        }
        None => None,
    };
    let is_wanted = |record: &Record| {
        (input.kinds.is_empty() || input.kinds.contains(&record.kind))
            && input.since.is_none_or(|since| record.time >= since)
            && visits.as_ref().is_none_or(|all| {
                let mut all = all.iter();
                all.any(|(entered, left)| (*entered..=*left).contains(&record.seq))
            })
    };
    let mut records = Vec::new();
    let mut seqs = Vec::new();
    let mut after = input.after_seq;
    while records.len() < limit && after < head.seq {
        let page = store.records(&run, after, MOST)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        let wanted = page.iter().filter(|it| is_wanted(it));
        for record in wanted.take(limit.saturating_sub(records.len())) {
            records.push(told(&run, record, input.view));
            seqs.push(record.seq);
        }
    }
    let count = records.len();
    let mut answer = into_fields(json!({"seq": head.seq}));
    if input.after_seq == 0 {
        // A page behind the first one goes on with an answer that has it.
        answer.insert("next".to_owned(), describe_next(&ctx.runs().load(&run)?)?);
    }
    let records = bounds::take_fitting(
        records,
        bounds::MAX_REPLY.saturating_sub(remaining_room(&answer)),
    );
    let is_cut = records.len() < count || count == limit;
    let last = seqs.get(records.len().saturating_sub(1)).copied();
    if let Some(cursor) = last.filter(|it| is_cut && *it < head.seq) {
        answer.insert("cursor".to_owned(), json!(cursor));
    }
    answer.insert("records".to_owned(), json!(records));
    Ok(answer)
}

fn check(kinds: &[String]) -> Result<(), Problem> {
    let Some(kind) = kinds.iter().find(|it| !Body::KINDS.contains(&it.as_str())) else {
        return Ok(());
    };
    let known = Body::KINDS.join(", ");
    let what = format!("there is no kind `{kind}`; there are {known}");
    Err(Problem::argument("kinds", what))
}

/// The records between which a state was active.
fn visits(ctx: &Ctx<'_>, run: &RunId, state: &str) -> Result<Vec<(u64, u64)>, Problem> {
    let timeline = ctx.runs().timeline(run)?;
    let visits = timeline.visits.iter().filter(|it| it.state == state);
    let visits = visits.map(|it| (it.entered, it.left.unwrap_or(u64::MAX)));
    Ok(visits.collect())
}

/// A record as a whole; of a large one, a line, and where it can be read.
pub(super) fn whole(run: &RunId, record: &Record) -> Value {
    told(run, record, View::Records)
}

fn told(run: &RunId, record: &Record, view: View) -> Value {
    let text = record.summary();
    let (text, _) = bounds::truncate(&text, LARGE / 4);
    if view == View::Transcript {
        return json!({"seq": record.seq, "time": record.time, "by": record.actor.to_string(), "text": text});
    }
    let mut told =
        json!({"seq": record.seq, "time": record.time, "kind": record.kind, "actor": record.actor});
    if record.body.len() > LARGE {
        let part = Part {
            after: record.seq.saturating_sub(1),
            limit: Some(1),
        };
        let resource = Address::Journal(run.clone(), part).to_string();
        set_field(&mut told, "text", json!(text));
        set_field(
            &mut told,
            "too_large",
            json!({"bytes": record.body.len(), "resource": resource}),
        );
    } else {
        let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
        set_field(&mut told, "body", body);
    }
    told
}
