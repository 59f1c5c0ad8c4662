//! Products of nodes: `list_artifacts`, `get_node_detail`, `get_chat_transcript`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{Artifact, Body, Stage, Usage};
use statemark_runs::state::Revision;
use statemark_runs::{Loaded, state};
use statemark_tools::envelope::set_field;
use statemark_tools::{Ctx, Outcome, Problem, ProfileTool, Tool};

use super::nodes::{self, Nodes, Visit, check_node};
use super::{READ_ONLY, count, invalid, is_approval, requests, tool};

/// Largest content of an artifact in an answer. Unit: bytes.
///
/// Why: all of it goes into a model's context.
const MAX_CONTENT: u64 = 64 << 10;

/// Most calls of tools in an answer: the last ones.
const MAX_CALLS: usize = 200;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "list_artifacts",
            title: "List artifacts",
            description: "The artifacts that the nodes of a run have handed in, with their content.",
            annotations: READ_ONLY,
            output: "artifacts: array",
            equivalent: Some("get_artifact"),
            run: list_artifacts,
        }),
        tool(&ProfileTool {
            name: "get_node_detail",
            title: "Get a node",
            description: "A visit of a node: its attempts, calls of tools, tokens, output and approval.",
            annotations: READ_ONLY,
            output: "detail: object",
            equivalent: Some("get_run"),
            run: get_node_detail,
        }),
        tool(&ProfileTool {
            name: "get_chat_transcript",
            title: "Get the transcript",
            description: "The messages of a run, in order, with their attempts.",
            annotations: READ_ONLY,
            output: "runId: string, attempts: array, messages: array",
            equivalent: Some("get_events"),
            run: get_chat_transcript,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListArtifacts {
    /// The run.
    run_id: String,
    /// Only of this node.
    node_id: Option<String>,
    /// Include the content as it was handed in.
    #[serde(default)]
    include_raw: bool,
}

fn list_artifacts(ctx: &Ctx<'_>, input: &ListArtifacts) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    if let Some(node) = &input.node_id {
        check_node(&loaded, node)?;
    }
    let nodes = Nodes::read(ctx, &loaded)?;
    let mut found: Vec<(&Visit, &Revision)> = standing_revisions(&loaded)
        .filter_map(|revision| Some((maker(&nodes, revision)?, revision)))
        .filter(|(visit, _)| input.node_id.as_ref().is_none_or(|it| *it == visit.node))
        .collect();
    found.sort_by_key(|(_, revision)| revision.seq);
    let mut artifacts = Vec::new();
    for (visit, revision) in &found {
        let artifact = &revision.artifact;
        let mut id = format!("{}:{}:{}", loaded.run, visit.node, visit.iteration);
        let of_visit = found.iter().filter(|(other, _)| other.is_same(visit));
        if of_visit.count() > 1 {
            id = format!("{id}:{}", artifact.name);
        }
        let content = Content::read(ctx, &loaded, artifact)?;
        let mut item = json!({
            "artifactId": id,
            "kind": "node-output",
            "runId": loaded.run,
            "nodeId": visit.node,
            "iteration": visit.iteration,
            "label": nodes::label(&loaded, &visit.node),
            "state": visit.state(),
            "outputTable": artifact.name,
            "source": "output-table",
            "cacheKey": artifact.content,
            "value": content.validated,
        });
        if input.include_raw {
            set_field(&mut item, "rawValue", content.raw);
        }
        artifacts.push(item);
    }
    Ok(json!({"artifacts": artifacts}))
}

/// Returns the revision of each artifact that stands.
fn standing_revisions(loaded: &Loaded) -> impl Iterator<Item = &Revision> {
    let names = loaded.state.artifacts.keys();
    names.filter_map(|name| loaded.state.standing(name))
}

/// Returns the visit that a revision was handed in from.
fn maker<'n>(nodes: &'n Nodes, revision: &Revision) -> Option<&'n Visit> {
    let node = revision.artifact.step.as_deref();
    let visit = node.and_then(|node| nodes.of_node_at(node, revision.seq));
    visit.or_else(|| nodes.at(revision.seq))
}

/// The content of an artifact; null if it is stored elsewhere or too large.
struct Content {
    /// The content of a final revision that keeps its contract.
    validated: Value,
    /// The text that was handed in last, whatever its contract says of it.
    raw: Value,
}

impl Content {
    /// Reads the content of the revision that stands, and of a draft beside it.
    fn read(ctx: &Ctx<'_>, loaded: &Loaded, artifact: &Artifact) -> Result<Self, Problem> {
        let text = read_text(ctx, artifact)?;
        let is_valid = artifact.stage == Stage::Final && artifact.holds();
        let validated = text.as_ref().filter(|_| is_valid).map(|text| {
            let parsed = serde_json::from_str(text);
            parsed.unwrap_or_else(|_| Value::String(text.clone()))
        });
        let raw = match loaded.state.newer_draft(&artifact.name) {
            Some(draft) => read_text(ctx, &draft.artifact)?,
            None => text,
        };
        Ok(Self {
            validated: validated.unwrap_or_default(),
            raw: json!(raw),
        })
    }
}

/// Reads a revision as a text, if the store has it and it isn't too large.
fn read_text(ctx: &Ctx<'_>, artifact: &Artifact) -> Result<Option<String>, Problem> {
    let is_small = artifact.size.is_none_or(|size| size <= MAX_CONTENT);
    let Some(content) = artifact.content.filter(|_| is_small) else {
        return Ok(None);
    };
    let bytes = ctx.runs().store().blob(&content)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetNodeDetail {
    /// The run.
    run_id: String,
    /// The node.
    node_id: String,
    /// The visit of the node, from 0; the last one by default.
    iteration: Option<u64>,
}

fn get_node_detail(ctx: &Ctx<'_>, input: &GetNodeDetail) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let visit = nodes.require(&loaded, &input.node_id, input.iteration)?;
    let mut node = visit.describe(&loaded);
    set_field(&mut node, "runId", json!(loaded.run));
    let Used {
        calls,
        tokens,
        checks,
    } = Used::read(ctx, &loaded, visit)?;
    let end = visit.attempts.last().and_then(|it| it.ended);
    let begin = visit.attempts.first().map(|it| it.began);
    let duration = end.zip(begin).map(|(end, begin)| end.saturating_sub(begin));
    Ok(json!({"detail": {
        "node": node,
        "status": visit.state(),
        "durationMs": duration,
        "attemptsSummary": count_attempts(visit),
        "attempts": attempts(visit),
        "toolCalls": calls,
        "tokenUsage": tokens,
        "scorers": checks,
        "output": output(ctx, &loaded, &nodes, visit)?,
        "approval": approval(ctx, &loaded, visit)?,
        "limits": {
            // A record of a call has the sizes of what went in and out, and none of it.
            "toolPayloadBytesHuman": 0,
            "validatedOutputBytesHuman": MAX_CONTENT,
        },
    }}))
}

fn count_attempts(visit: &Visit) -> Value {
    let number = |states: &[&str]| {
        let attempts = visit.attempts.iter();
        count(attempts.filter(|it| states.contains(&it.state)).count())
    };
    json!({
        "total": count(visit.attempts.len()),
        "failed": number(&["failed"]),
        "cancelled": number(&["cancelled", "skipped"]),
        "succeeded": number(&["finished"]),
        "waiting": number(&["waiting-approval", "waiting-event", "waiting-timer"]),
    })
}

fn attempts(visit: &Visit) -> Vec<Value> {
    let attempts = visit.attempts.iter().map(|attempt| {
        json!({
            "attempt": attempt.number,
            "state": attempt.state,
            "startedAtMs": attempt.began,
            "finishedAtMs": attempt.ended,
            "frameNo": attempt.first,
        })
    });
    attempts.collect()
}

/// The use of tokens in a visit.
#[derive(Default)]
struct Used {
    /// The last calls of tools.
    calls: Vec<Value>,
    /// The sum of the tokens.
    tokens: Option<Usage>,
    /// The checks that were run: they score what the visit has made.
    checks: Vec<Value>,
}

impl Used {
    fn read(ctx: &Ctx<'_>, loaded: &Loaded, visit: &Visit) -> Result<Self, Problem> {
        let store = ctx.runs().store();
        // An agent may say what its attempt cost after it has moved the run.
        let upto = Some(loaded.head.seq);
        let mut attempts: BTreeSet<u64> = BTreeSet::new();
        let live = state::live_records(store, &loaded.run, Some(loaded.head.seq), &[])?;
        let mut used = Self::default();
        state::for_each_record(store, &loaded.run, visit.entered, upto, |record| {
            if !live.contains(record.seq) {
                return Ok(());
            }
            let is_inside = visit.left.is_none_or(|left| record.seq <= left);
            let belongs = |attempt: Option<u64>| {
                attempt.map_or(is_inside, |attempt| attempts.contains(&attempt))
            };
            match record.read() {
                Ok(Body::AttemptStarted(started)) if is_inside && started.state == visit.node => {
                    attempts.insert(started.attempt);
                }
                Ok(Body::Tool(tool)) if !tool.reserved && belongs(tool.attempt) => {
                    used.calls.push(json!({
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
                Ok(Body::Usage(usage)) if belongs(usage.attempt) => {
                    used.tokens.get_or_insert_default().add(&usage);
                }
                Ok(Body::Check(check)) if is_inside => used.checks.push(json!({
                    "scorerId": check.name,
                    "attempt": visit.attempt_at(record.seq),
                    "score": u8::from(check.ran.passed),
                    "reason": check.ran.outcome(),
                    "scoredAtMs": record.time,
                })),
                _ => {}
            }
            Ok(())
        })?;
        let cut = used.calls.len().saturating_sub(MAX_CALLS);
        used.calls.drain(..cut);
        Ok(used)
    }
}

/// Returns the newest artifact that a visit has handed in.
fn output(ctx: &Ctx<'_>, loaded: &Loaded, nodes: &Nodes, visit: &Visit) -> Outcome {
    let made_here = |revision: &&Revision| {
        let maker = maker(nodes, revision);
        maker.is_some_and(|maker| maker.is_same(visit))
    };
    let newest = standing_revisions(loaded)
        .filter(made_here)
        .max_by_key(|revision| revision.seq);
    let Some(revision) = newest else {
        return Ok(json!({"validated": null, "raw": null, "source": "none", "cacheKey": null}));
    };
    let content = Content::read(ctx, loaded, &revision.artifact)?;
    Ok(json!({
        "validated": content.validated,
        "raw": content.raw,
        "source": "output-table",
        "cacheKey": revision.artifact.content,
    }))
}

/// Returns the last approval that was requested in a visit.
fn approval(ctx: &Ctx<'_>, loaded: &Loaded, visit: &Visit) -> Outcome {
    let requests = loaded.state.requests.values().filter(|request| {
        let is_about = request.opened.states.contains(&visit.node);
        is_about && is_approval(request) && visit.contains(request.seq)
    });
    match requests.max_by_key(|request| request.seq) {
        Some(request) => requests::describe_approval(ctx, loaded, request),
        None => Ok(Value::Null),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetChatTranscript {
    /// The run.
    run_id: String,
    /// Include attempts without messages.
    #[serde(default)]
    all: bool,
    /// Include messages on the standard error.
    #[schemars(extend("default" = true))]
    include_stderr: Option<bool>,
    /// Only this many messages: the last ones.
    #[schemars(range(min = 1))]
    tail: Option<usize>,
}

/// Returns the messages of the attempts of executors, and those that clients have recorded.
fn get_chat_transcript(ctx: &Ctx<'_>, input: &GetChatTranscript) -> Outcome {
    if input.tail == Some(0) {
        return Err(invalid("`tail`: it is 1 at least"));
    }
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let store = ctx.runs().store();
    let with_stderr = input.include_stderr.unwrap_or(true);
    let mut keys: Vec<String> = Vec::new();
    let mut messages: Vec<Value> = Vec::new();
    let mut begun: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let upto = Some(loaded.head.seq);
    state::for_each_record(store, &loaded.run, 0, upto, |record| {
        let message = match record.read() {
            Ok(Body::AttemptStarted(started)) => {
                begun.insert(started.attempt, (started.state, record.seq));
                return Ok(());
            }
            Ok(Body::Message(message)) => message,
            _ => return Ok(()),
        };
        let begun = message.attempt.and_then(|attempt| begun.get(&attempt));
        let (role, stream, source) = match message.role.as_str() {
            "user" => ("user", None, "prompt"),
            "stderr" => ("stderr", Some("stderr"), "event"),
            // Smithers has no other role for what a task prints.
            "stdout" => ("assistant", Some("stdout"), "event"),
            _ => ("assistant", Some("stdout"), "responseText"),
        };
        // What an attempt says belongs to the visit in which it began.
        let of_attempt = begun.and_then(|(state, seq)| {
            let mut visits = nodes.visits.iter();
            let visit = visits.find(|it| it.node == *state && it.contains(*seq))?;
            Some((visit, *seq))
        });
        let found = of_attempt.or_else(|| Some((nodes.at(record.seq)?, record.seq)));
        let Some((visit, at)) = found else {
            return Ok(());
        };
        let attempt = visit.attempt_at(at);
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
