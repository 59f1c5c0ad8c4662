//! `get_node_detail`: one visit of a node with all that happened in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{Body, Usage};
use statemark_runs::{Loaded, state};

use super::nodes::{Nodes, Visit};
use super::{approvals, artifacts, count, load, shape, summary};
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
    /// The node.
    node_id: String,
    /// Which visit of the node, from 0; the last one if it isn't given.
    iteration: Option<u64>,
}

/// Most calls of tools that are told: the last ones.
const CALLS: usize = 200;

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("get_node_detail", Set::Smithers, Annotations::READ_ONLY),
        (
            "Get a node",
            "A visit of a node: its attempts, calls of tools, tokens, output and approval.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_run")
    .with_output(&[("detail", "object")])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let visit = nodes.wanted(&loaded, &input.node_id, input.iteration)?;
    let mut node = visit.told(&loaded);
    set_field(&mut node, "runId", json!(loaded.run));
    let spent = spent(ctx, &loaded, visit)?;
    let end = visit.attempts.last().and_then(|it| it.ended);
    let begin = visit.attempts.first().map(|it| it.began);
    let duration = end.zip(begin).map(|(end, begin)| end.saturating_sub(begin));
    Ok(json!({"detail": {
        "node": node,
        "status": visit.state(),
        "durationMs": duration,
        "attemptsSummary": attempts(visit),
        "attempts": told(visit),
        "toolCalls": spent.calls,
        "tokenUsage": spent.usage,
        "scorers": [],
        "output": output(ctx, &loaded, &nodes, visit)?,
        "approval": approval(ctx, &loaded, visit)?,
        "limits": {
            "toolPayloadBytesHuman": 0,
            "validatedOutputBytesHuman": artifacts::MOST,
        },
    }}))
}

fn attempts(visit: &Visit) -> Value {
    let number = |wanted: &[&str]| {
        let found = visit
            .attempts
            .iter()
            .filter(|it| wanted.contains(&it.state));
        count(found.count())
    };
    json!({
        "total": count(visit.attempts.len()),
        "failed": number(&["failed"]),
        "cancelled": number(&["cancelled", "skipped"]),
        "succeeded": number(&["finished"]),
        "waiting": number(&["waiting-approval", "waiting-event", "waiting-timer"]),
    })
}

fn told(visit: &Visit) -> Vec<Value> {
    let all = visit.attempts.iter().map(|it| {
        json!({
            "attempt": it.number,
            "state": it.state,
            "startedAtMs": it.began,
            "finishedAtMs": it.ended,
            "frameNo": it.first,
        })
    });
    all.collect()
}

/// What was done and used in a visit.
struct Spent {
    calls: Vec<Value>,
    usage: Option<Usage>,
}

fn spent(ctx: &Ctx<'_>, loaded: &Loaded, visit: &Visit) -> Result<Spent, Problem> {
    let store = ctx.runs().store();
    let upto = Some(visit.left.unwrap_or(loaded.head.seq));
    let live = state::live_records(store, &loaded.run, Some(loaded.head.seq), &[])?;
    let mut spent = Spent {
        calls: Vec::new(),
        usage: None,
    };
    state::for_each_record(store, &loaded.run, visit.entered, upto, |record| {
        if !live.contains(record.seq) {
            return Ok(());
        }
        match record.read() {
            Ok(Body::Tool(tool)) if !tool.reserved => {
                spent.calls.push(json!({
                    "toolName": tool.name,
                    "status": tool.verdict,
                    "attempt": visit.attempt_at(record.seq),
                    "finishedAtMs": record.time,
                    "durationMs": tool.milliseconds,
                    "outputBytes": tool.output,
                    "files": tool.files,
                    "error": tool.reason,
                }));
            }
            Ok(Body::Usage(usage)) => {
                let sum = spent.usage.get_or_insert_default();
                sum.input_tokens = sum.input_tokens.saturating_add(usage.input_tokens);
                sum.output_tokens = sum.output_tokens.saturating_add(usage.output_tokens);
                sum.model = usage.model.or(sum.model.take());
                if let Some(cost) = usage.cost {
                    sum.cost = Some(sum.cost.unwrap_or_default().saturating_add(cost));
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    let cut = spent.calls.len().saturating_sub(CALLS);
    spent.calls.drain(..cut);
    Ok(spent)
}

fn output(ctx: &Ctx<'_>, loaded: &Loaded, nodes: &Nodes, visit: &Visit) -> Result<Value, Problem> {
    let Some(revision) = artifacts::of_visit(loaded, nodes, visit) else {
        return Ok(json!({"validated": null, "raw": null, "source": "none", "cacheKey": null}));
    };
    let output = artifacts::output(ctx, &revision.artifact)?;
    Ok(json!({
        "validated": output.validated,
        "raw": output.raw,
        "source": "output-table",
        "cacheKey": null,
    }))
}

/// The approval that was asked for last in a visit.
fn approval(ctx: &Ctx<'_>, loaded: &Loaded, visit: &Visit) -> Result<Value, Problem> {
    let all = loaded.state.requests.values();
    let own = all.filter(|it| {
        let about = it.opened.states.contains(&visit.node);
        about && summary::is_approval(it) && visit.holds(it.seq)
    });
    match own.max_by_key(|it| it.seq) {
        Some(request) => approvals::told(ctx, loaded, request),
        None => Ok(Value::Null),
    }
}
