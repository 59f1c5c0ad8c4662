//! `get_run_events`: the journal as the document's events.
//!
//! A record that moves the run is several events: the frame, and each node that finished or started. They all have the
//! record's number as `seq`, so a page never ends within a record.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{
    Body, EffectStatus, RequestKind, Resolution, StepRecord, StepStatus, ToolVerdict,
};
use statemark_runs::{MAX_PAGE, Record};

use super::nodes::{Nodes, Visit};
use super::{count, invalid, load, shape};
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::Outcome;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: String,
    /// Only events behind this one: the `seq` of the last event of the page before.
    #[serde(default)]
    after_seq: u64,
    /// Most events, from 1 to 10000; 200 if it isn't given. A record's events stay together.
    limit: Option<u64>,
    /// Only events of this node.
    node_id: Option<String>,
    /// Only events of these types, such as `NodeFinished`.
    types: Option<Vec<String>>,
    /// Only events from this time on.
    #[serde(default)]
    since_timestamp_ms: u64,
}

/// The types of events that there are.
const TYPES: [&str; 42] = [
    "AgentEvent",
    "ApprovalDenied",
    "ApprovalGranted",
    "ApprovalRequested",
    "ChildRunFinished",
    "ChildRunStarted",
    "EffectRevertFinished",
    "EventQueued",
    "EventRefused",
    "FrameCommitted",
    "HumanAnswered",
    "HumanRequestCancelled",
    "HumanRequestExpired",
    "HumanRequested",
    "NodeFailed",
    "NodeFinished",
    "NodeOutput",
    "NodePending",
    "NodeReported",
    "NodeSkipped",
    "NodeStarted",
    "NodeWaiting",
    "Noted",
    "RevertFinished",
    "RevertStarted",
    "RunCancelled",
    "RunFailed",
    "RunFinished",
    "RunForked",
    "RunStarted",
    "RunStateChanged",
    "RunStatusChanged",
    "SideEffectReported",
    "SnapshotCaptured",
    "TaskHeartbeat",
    "TimeTravelJumped",
    "TokenUsageReported",
    "ToolCallDenied",
    "ToolCallFinished",
    "ToolCallStarted",
    "Unreadable",
    "WorkflowReloaded",
];

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("get_run_events", Set::Smithers, Annotations::READ_ONLY),
        (
            "Get a run's events",
            "What happened in a run, in order. For the next page `afterSeq` is the `seq` of the last event.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_events")
    .with_output(&[("runId", "string"), ("events", "array")])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let limit = input.limit.unwrap_or(200);
    if !(1..=10_000).contains(&limit) {
        return Err(invalid(format!("`limit`: {limit} isn't from 1 to 10000")));
    }
    for kind in input.types.iter().flatten() {
        if !TYPES.contains(&kind.as_str()) {
            let known = TYPES.join(", ");
            return Err(invalid(format!(
                "`types`: there is no type `{kind}`; there are {known}"
            )));
        }
    }
    let loaded = load(ctx, &input.run_id)?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let store = ctx.runs().store();
    let wanted = |event: &Told| {
        let types = input.types.as_ref();
        types.is_none_or(|types| types.contains(&event.kind))
            && input
                .node_id
                .as_ref()
                .is_none_or(|node| event.node.as_ref() == Some(node))
    };
    let mut events: Vec<Value> = Vec::new();
    let mut after = input.after_seq;
    'pages: loop {
        let page = store.records(&loaded.run, after, MAX_PAGE)?;
        for record in &page {
            after = record.seq;
            if record.time < input.since_timestamp_ms {
                continue;
            }
            let told: Vec<Told> = told(record, &nodes).into_iter().filter(wanted).collect();
            let full = count(events.len().saturating_add(told.len())) > limit;
            if full && !events.is_empty() {
                break 'pages;
            }
            events.extend(told.into_iter().map(|event| {
                json!({
                    "runId": loaded.run,
                    "seq": record.seq,
                    "timestampMs": record.time,
                    "type": event.kind,
                    "payload": event.payload,
                })
            }));
        }
        if page.len() < MAX_PAGE {
            break;
        }
    }
    Ok(json!({"runId": loaded.run, "events": events}))
}

/// An event of the document.
struct Told {
    kind: String,
    node: Option<String>,
    payload: Value,
}

/// The events that a record is.
fn told(record: &Record, nodes: &Nodes) -> Vec<Told> {
    let Ok(body) = record.read() else {
        return vec![plain("Unreadable", record, nodes, None)];
    };
    let kind = match &body {
        Body::Started(started) => {
            let mut all = vec![plain("RunStarted", record, nodes, None)];
            all.extend(moved(&started.step, record, nodes));
            return all;
        }
        Body::Event(event) => {
            let mut all = vec![plain("FrameCommitted", record, nodes, None)];
            all.extend(moved(&event.step, record, nodes));
            return all;
        }
        Body::Forced(forced) => {
            let mut all = vec![plain("RunStateChanged", record, nodes, None)];
            all.extend(moved(&forced.step, record, nodes));
            return all;
        }
        Body::Step(step) => {
            let node = step.step.rsplit(':').next().map(str::to_owned);
            return vec![plain(of_step(step.status), record, nodes, node)];
        }
        Body::Tool(tool) if tool.reserved => "ToolCallStarted",
        Body::Tool(tool) if tool.verdict == ToolVerdict::Denied => "ToolCallDenied",
        Body::Tool(_) => "ToolCallFinished",
        Body::Opened(opened) => {
            let node = opened.states.first().cloned();
            let kind = match opened.kind {
                RequestKind::Approval | RequestKind::Confirm | RequestKind::Review => {
                    "ApprovalRequested"
                }
                RequestKind::Select | RequestKind::Text | RequestKind::Json => "HumanRequested",
            };
            return vec![plain(kind, record, nodes, node)];
        }
        Body::Resolved(resolved) => match resolved.resolution {
            Resolution::Approved => "ApprovalGranted",
            Resolution::Denied | Resolution::SentBack => "ApprovalDenied",
            Resolution::Answered => "HumanAnswered",
            Resolution::Expired => "HumanRequestExpired",
            Resolution::Withdrawn => "HumanRequestCancelled",
        },
        Body::Artifact(artifact) => {
            let node = artifact.step.clone();
            return vec![plain("NodeOutput", record, nodes, node)];
        }
        Body::Closed(closed) if closed.success => "RunFinished",
        Body::Effect(effect) if effect.status == EffectStatus::Compensated => {
            "EffectRevertFinished"
        }
        other => of_kind(other),
    };
    vec![plain(kind, record, nodes, None)]
}

/// The type of what has one whatever it says.
fn of_kind(body: &Body) -> &'static str {
    match body {
        Body::Forked(_) => "RunForked",
        Body::Progress(_) => "TaskHeartbeat",
        Body::Message(_) => "AgentEvent",
        Body::Paused(_) | Body::Continued(_) => "RunStatusChanged",
        Body::Cancelled(_) => "RunCancelled",
        Body::Closed(_) => "RunFailed",
        Body::Rewound(_) => "TimeTravelJumped",
        Body::Migrated(_) => "WorkflowReloaded",
        Body::CheckpointTaken(_) => "SnapshotCaptured",
        Body::CheckpointRestored(it) if it.done => "RevertFinished",
        Body::CheckpointRestored(_) => "RevertStarted",
        Body::Usage(_) => "TokenUsageReported",
        Body::Effect(_) => "SideEffectReported",
        Body::Queued(_) => "EventQueued",
        Body::Refused(_) => "EventRefused",
        Body::ChildStarted(_) => "ChildRunStarted",
        Body::ChildEnded(_) => "ChildRunFinished",
        _ => "Noted",
    }
}

const fn of_step(status: StepStatus) -> &'static str {
    match status {
        StepStatus::NotStarted => "NodePending",
        StepStatus::Running => "TaskHeartbeat",
        StepStatus::Waiting => "NodeWaiting",
        StepStatus::Completed => "NodeReported",
        StepStatus::Failed => "NodeFailed",
        StepStatus::Skipped => "NodeSkipped",
    }
}

/// A record as one event.
fn plain(kind: &str, record: &Record, nodes: &Nodes, node: Option<String>) -> Told {
    debug_assert!(TYPES.contains(&kind), "`{kind}` isn't among the types");
    let visit = nodes.at(record.seq);
    let node = node.or_else(|| visit.map(|it| it.node.clone()));
    let said: Value = serde_json::from_str(&record.plain_body()).unwrap_or_default();
    let iteration = node.as_ref();
    let iteration = iteration.and_then(|node| nodes.of_at(node, record.seq));
    Told {
        kind: kind.to_owned(),
        payload: json!({
            "nodeId": node,
            "iteration": iteration.map(|it| it.iteration),
            "kind": record.kind,
            "by": record.actor.to_string(),
            "summary": record.summary(),
            "body": said,
        }),
        node,
    }
}

/// What a step of the machine has done to nodes, and to the run.
fn moved(step: &StepRecord, record: &Record, nodes: &Nodes) -> Vec<Told> {
    let mut all = Vec::new();
    let mut push = |kind: &str, visit: &Visit, attempt: u64| {
        debug_assert!(TYPES.contains(&kind), "`{kind}` isn't among the types");
        all.push(Told {
            kind: kind.to_owned(),
            node: Some(visit.node.clone()),
            payload: json!({
                "nodeId": visit.node,
                "iteration": visit.iteration,
                "attempt": attempt,
            }),
        });
    };
    for microstep in &step.steps {
        for state in &microstep.exited {
            if let Some(left) = nodes.left_at(state, record.seq) {
                push("NodeFinished", left, left.last_attempt());
            }
        }
        for state in &microstep.entered {
            if let Some(entered) = nodes.entered_at(state, record.seq) {
                push("NodeStarted", entered, 1);
            }
        }
    }
    if let Some(success) = step.ended {
        let kind = if success { "RunFinished" } else { "RunFailed" };
        all.push(Told {
            kind: kind.to_owned(),
            node: None,
            payload: json!({"success": success}),
        });
    }
    all
}
