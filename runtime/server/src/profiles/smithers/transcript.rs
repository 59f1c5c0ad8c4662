//! `get_chat_transcript`: what was said in a run, by attempts.
//!
//! No agent is hosted here: what is told is what clients have recorded as messages.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::Body;
use statemark_runs::state;

use super::nodes::Nodes;
use super::{invalid, load, shape};
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::Outcome;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: String,
    /// All attempts, also those in which nothing was said.
    #[serde(default)]
    all: bool,
    /// Also what was said on the standard error; true if it isn't given.
    include_stderr: Option<bool>,
    /// Only the last messages, as many as this.
    tail: Option<usize>,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("get_chat_transcript", Set::Smithers, Annotations::READ_ONLY),
        (
            "Get the transcript",
            "What was said in a run, in order, with the attempts that it was said in.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_events")
    .with_output(&[
        ("runId", "string"),
        ("attempts", "array"),
        ("messages", "array"),
    ])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    if input.tail == Some(0) {
        return Err(invalid("`tail`: it is 1 at least"));
    }
    let loaded = load(ctx, &input.run_id)?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let store = ctx.runs().store();
    let with_stderr = input.include_stderr.unwrap_or(true);
    let mut keys: Vec<String> = Vec::new();
    let mut messages: Vec<Value> = Vec::new();
    let upto = Some(loaded.head.seq);
    state::for_each_record(store, &loaded.run, 0, upto, |record| {
        let Ok(Body::Message(message)) = record.read() else {
            return Ok(());
        };
        let (role, stream, source) = match message.role.as_str() {
            "user" => ("user", None, "prompt"),
            "stderr" => ("stderr", Some("stderr"), "event"),
            _ => ("assistant", Some("stdout"), "responseText"),
        };
        let Some(visit) = nodes.at(record.seq) else {
            return Ok(());
        };
        let attempt = visit.attempt_at(record.seq);
        keys.push(visit.key(attempt));
        if role == "stderr" && !with_stderr {
            return Ok(());
        }
        messages.push(json!({
            "id": format!("{}:{}", loaded.run, record.seq),
            "attemptKey": visit.key(attempt),
            "nodeId": visit.node,
            "iteration": visit.iteration,
            "attempt": attempt,
            "role": role,
            "stream": stream,
            "timestampMs": record.time,
            "text": message.text,
            "source": source,
        }));
        Ok(())
    })?;
    if let Some(tail) = input.tail {
        messages = messages.split_off(messages.len().saturating_sub(tail));
    }
    let mut attempts = Vec::new();
    for visit in &nodes.visits {
        for attempt in &visit.attempts {
            let key = visit.key(attempt.number);
            if input.all || keys.contains(&key) {
                attempts.push(json!({
                    "attemptKey": key,
                    "nodeId": visit.node,
                    "iteration": visit.iteration,
                    "attempt": attempt.number,
                    "state": attempt.state,
                    "startedAtMs": attempt.began,
                    "finishedAtMs": attempt.ended,
                    "cached": false,
                    "meta": null,
                }));
            }
        }
    }
    Ok(json!({"runId": loaded.run, "attempts": attempts, "messages": messages}))
}
