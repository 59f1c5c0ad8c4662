//! `get_events`: a run's records, page by page.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_store::Record;

use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{fields, put};

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

pub(super) fn tool() -> Tool {
    Tool::new(
        ("get_events", Set::Runs, Hints::READS),
        (
            "Read a run's journal",
            "What happened in a run, in order; `cursor` is the `after_seq` of the next page.",
        ),
        &[
            ("records", "array"),
            ("cursor", "integer"),
            ("seq", "integer"),
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let run = call.run(input.run_id.as_deref())?;
    let limit = input
        .limit
        .map_or(50, |it| usize::try_from(it).unwrap_or(MOST));
    let limit = limit.clamp(1, MOST);
    let store = call.desk.runs().store();
    let head = store.head(&run)?;
    let mut records = Vec::new();
    let mut seqs = Vec::new();
    let mut after = input.after_seq;
    while records.len() < limit && after < head.seq {
        let page = store.records(&run, after, MOST)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for record in &page {
            if records.len() == limit {
                break;
            }
            if input.kinds.is_empty() || input.kinds.contains(&record.kind) {
                records.push(told(record, input.view));
                seqs.push(record.seq);
            }
        }
    }
    let count = records.len();
    let records = Call::fitting(records, &json!({}));
    let cut = records.len() < count || count == limit;
    let last = records
        .len()
        .checked_sub(1)
        .and_then(|at| seqs.get(at))
        .copied();
    let cursor = if cut { last } else { None };
    let mut answer = json!({"records": records, "seq": head.seq});
    if let Some(cursor) = cursor.filter(|it| *it < head.seq) {
        put(&mut answer, "cursor", json!(cursor));
    }
    Ok(fields(answer))
}

/// A record as a whole, or as a line.
pub(super) fn whole(record: &Record) -> Value {
    told(record, View::Records)
}

fn told(record: &Record, view: View) -> Value {
    if view == View::Transcript {
        return json!({"seq": record.seq, "time": record.time, "by": record.actor.to_string(), "text": record.told()});
    }
    let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
    let mut told = json!({"seq": record.seq, "time": record.time, "kind": record.kind, "actor": record.actor, "body": body});
    if told.to_string().len() > crate::bounds::MOST {
        put(
            &mut told,
            "body",
            json!({"too_large": record.body.len(), "resource": "statemark://run"}),
        );
        put(&mut told, "text", json!(record.told()));
    }
    told
}
