//! The journal as the document has it: `get_run_events` and `get_timeline`.
//!
//! A record is one event and one more for each attempt of a node that ended or began with it, as `get_node_detail` has them.
//! Each event has a number of its own: that of its record, which is its `frameNo`, and its place in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{
    Body, EffectStatus, RequestKind, Resolution, Step, StepStatus, ToolVerdict,
};
use statemark_runs::runs::{Mark, Marked};
use statemark_runs::{Loaded, MAX_PAGE, Record, StoreError, load_timeline, state};
use statemark_tools::envelope::set_field;
use statemark_tools::{Ctx, Outcome, Problem, ProfileTool, Tool};

use super::nodes::{NodeEvent, Nodes};
use super::{READ_ONLY, count, invalid, tool};

/// Most frames of a run in an answer: the last ones.
const MAX_FRAMES: usize = 1_000;

/// The distance between the first events of two records.
///
/// Why: a record has fewer events, since each state is entered and exited once at most in a microstep; and numbers stay exact
/// in clients that have 53 bits for them, for 2^33 records.
const STRIDE: u64 = 1 << 20;

/// Deepest level of forks of forks in an answer.
const MAX_DEPTH: usize = 16;

/// Most runs in an answer.
const MAX_RUNS: usize = 100;

/// The types of events.
const TYPES: &str = "\
    AgentEvent ApprovalDenied ApprovalGranted ApprovalRequested ChildRunFinished ChildRunStarted \
    EffectRevertFinished EventQueued EventRefused FrameCommitted HumanAnswered \
    HumanRequestCancelled HumanRequestExpired HumanRequested NodeCancelled NodeFailed NodeFinished \
    NodeOutput NodePending NodeReported NodeSkipped NodeStarted NodeWaiting Noted RevertFinished \
    RevertStarted RunCancelled RunFailed RunFinished RunForked RunStarted RunStateChanged \
    RunStatusChanged SideEffectReported SnapshotCaptured TaskHeartbeat TimeTravelJumped \
    TokenUsageReported ToolCallDenied ToolCallFinished ToolCallStarted Unreadable \
    WorkflowReloaded";

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "get_run_events",
            title: "Get a run's events",
            description: "The events of a run, in order. For the next page, `afterSeq` is the `seq` of the last event.",
            annotations: READ_ONLY,
            output: "runId: string, events: array",
            equivalent: Some("get_events"),
            run: get_run_events,
        }),
        tool(&ProfileTool {
            name: "get_timeline",
            title: "Get the timeline",
            description: "The frames of a run, each a `frameNo` to rewind to or to fork at, and the forks.",
            annotations: READ_ONLY,
            output: "timeline: object",
            equivalent: Some("get_timeline"),
            run: get_timeline,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetRunEvents {
    /// The run.
    run_id: String,
    /// Only later events: the `seq` of the last event of the page before.
    #[serde(default)]
    after_seq: u64,
    /// Most events.
    #[schemars(range(min = 1, max = 10_000), extend("default" = 200))]
    limit: Option<u64>,
    /// Only events of this node.
    node_id: Option<String>,
    /// Only events of these types, such as `NodeFinished`.
    types: Option<Vec<String>>,
    /// Only events from this time on.
    #[serde(default)]
    since_timestamp_ms: u64,
}

fn get_run_events(ctx: &Ctx<'_>, input: &GetRunEvents) -> Outcome {
    let limit = input.limit.unwrap_or(200);
    if !(1..=10_000).contains(&limit) {
        return Err(invalid(format!("`limit`: {limit} isn't from 1 to 10000")));
    }
    for kind in input.types.iter().flatten() {
        if !is_type(kind) {
            let known = TYPES.replace(' ', ", ");
            return Err(invalid(format!(
                "`types`: there is no type `{kind}`; there are {known}"
            )));
        }
    }
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let mut attempts = nodes.events();
    let store = ctx.runs().store();
    let wanted = |event: &Event| {
        let (types, node) = (input.types.as_ref(), input.node_id.as_ref());
        types.is_none_or(|types| types.contains(&event.kind))
            && node.is_none_or(|node| event.node.as_ref() == Some(node))
    };
    let mut events: Vec<Value> = Vec::new();
    // The record of the last event may have more of them.
    let mut after = (input.after_seq / STRIDE).saturating_sub(1);
    'pages: loop {
        let page = store.records(&loaded.run, after, MAX_PAGE)?;
        for record in &page {
            after = record.seq;
            if record.time < input.since_timestamp_ms {
                continue;
            }
            let first = record.seq.saturating_mul(STRIDE);
            let attempts = attempts.remove(&record.seq).unwrap_or_default();
            let found = map_record(record, &nodes, attempts);
            for (event, place) in found.into_iter().zip(0..STRIDE) {
                let seq = first.saturating_add(place);
                if seq <= input.after_seq || !wanted(&event) {
                    continue;
                }
                if count(events.len()) == limit {
                    break 'pages;
                }
                let mut payload = event.payload;
                set_field(&mut payload, "frameNo", json!(record.seq));
                events.push(json!({
                    "runId": loaded.run,
                    "seq": seq,
                    "timestampMs": record.time,
                    "type": event.kind,
                    "payload": payload,
                }));
            }
        }
        if page.len() < MAX_PAGE {
            break;
        }
    }
    Ok(json!({"runId": loaded.run, "events": events}))
}

fn is_type(kind: &str) -> bool {
    TYPES.split(' ').any(|known| known == kind)
}

/// An event of the document.
struct Event {
    kind: String,
    node: Option<String>,
    payload: Value,
}

/// Returns the events of a record: its own, and those of the attempts that it ended and began.
fn map_record(record: &Record, nodes: &Nodes, attempts: Vec<NodeEvent>) -> Vec<Event> {
    let Ok(body) = record.read() else {
        return vec![plain("Unreadable", record, nodes, None)];
    };
    let step = match &body {
        Body::Started(started) => Some(("RunStarted", &started.step)),
        Body::Event(event) => Some(("FrameCommitted", &event.step)),
        Body::Forced(forced) => Some(("RunStateChanged", &forced.step)),
        _ => None,
    };
    if let Some((kind, step)) = step {
        let mut all = vec![plain(kind, record, nodes, None)];
        all.extend(attempts.into_iter().map(attempt_event));
        all.extend(step.ended.map(end_event));
        return all;
    }
    let node_of_report = |step: &str| step.rsplit(':').next().map(str::to_owned);
    let (kind, node) = match &body {
        Body::Step(step) => (type_of_report(step), node_of_report(&step.step)),
        Body::Opened(opened) => {
            let kind = match opened.kind {
                RequestKind::Approval | RequestKind::Confirm | RequestKind::Review => {
                    "ApprovalRequested"
                }
                RequestKind::Select | RequestKind::Text | RequestKind::Json => "HumanRequested",
            };
            (kind, opened.states.first().cloned())
        }
        Body::Artifact(artifact) => ("NodeOutput", artifact.step.clone()),
        other => (type_of_kind(other), None),
    };
    let mut all = vec![plain(kind, record, nodes, node)];
    all.extend(attempts.into_iter().map(|attempt| {
        let mut event = attempt_event(attempt);
        if let Body::Step(Step {
            message: Some(message),
            ..
        }) = &body
        {
            set_field(&mut event.payload, "message", json!(message));
        }
        event
    }));
    all
}

/// Returns the type of a record that is about no node of its own.
fn type_of_kind(body: &Body) -> &'static str {
    match body {
        Body::Tool(tool) if tool.reserved => "ToolCallStarted",
        Body::Tool(tool) if tool.verdict == ToolVerdict::Denied => "ToolCallDenied",
        Body::Tool(_) => "ToolCallFinished",
        Body::Resolved(resolved) => match resolved.resolution {
            Resolution::Approved => "ApprovalGranted",
            Resolution::Denied | Resolution::SentBack => "ApprovalDenied",
            Resolution::Answered => "HumanAnswered",
            Resolution::Expired => "HumanRequestExpired",
            Resolution::Withdrawn => "HumanRequestCancelled",
        },
        Body::Closed(closed) if closed.success => "RunFinished",
        Body::Effect(effect) if effect.status == EffectStatus::Compensated => {
            "EffectRevertFinished"
        }
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

/// Returns the type of a report on a step. What it begins or ends is an event of its own.
const fn type_of_report(step: &Step) -> &'static str {
    match step.status {
        StepStatus::NotStarted => "NodePending",
        StepStatus::Running => "TaskHeartbeat",
        StepStatus::Waiting => "NodeWaiting",
        StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped => "NodeReported",
    }
}

/// Returns a record as one event.
fn plain(kind: &str, record: &Record, nodes: &Nodes, node: Option<String>) -> Event {
    debug_assert!(is_type(kind), "`{kind}` isn't among the types");
    let visit = nodes.at(record.seq);
    let node = node.or_else(|| visit.map(|it| it.node.clone()));
    let body: Value = serde_json::from_str(&record.plain_body()).unwrap_or_default();
    let iteration = node.as_ref();
    let iteration = iteration.and_then(|node| nodes.of_node_at(node, record.seq));
    Event {
        kind: kind.to_owned(),
        payload: json!({
            "nodeId": node,
            "iteration": iteration.map(|it| it.iteration),
            "kind": record.kind,
            "by": record.actor.to_string(),
            "summary": record.summary(),
            "body": body,
        }),
        node,
    }
}

/// Returns the event of an attempt that began or ended.
fn attempt_event(event: NodeEvent) -> Event {
    debug_assert!(
        is_type(event.kind),
        "`{}` isn't among the types",
        event.kind
    );
    Event {
        kind: event.kind.to_owned(),
        payload: json!({
            "nodeId": event.node,
            "iteration": event.iteration,
            "attempt": event.attempt,
        }),
        node: Some(event.node),
    }
}

/// Returns the event of the end of a run.
fn end_event(success: bool) -> Event {
    let kind = if success { "RunFinished" } else { "RunFailed" };
    Event {
        kind: kind.to_owned(),
        node: None,
        payload: json!({"success": success}),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GetTimeline {
    /// The run.
    run_id: String,
    /// Include all forks, and theirs.
    #[serde(default)]
    tree: bool,
}

fn get_timeline(ctx: &Ctx<'_>, input: &GetTimeline) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let mut left = MAX_RUNS;
    let depth = if input.tree { MAX_DEPTH } else { 0 };
    Ok(json!({"timeline": describe_timeline(ctx, &loaded, depth, &mut left)?}))
}

/// Returns the frames of a run, and its forks down to a depth, while runs are left.
fn describe_timeline(
    ctx: &Ctx<'_>,
    loaded: &Loaded,
    depth: usize,
    left: &mut usize,
) -> Result<Value, Problem> {
    *left = left.saturating_sub(1);
    let runs = ctx.runs();
    let timeline = load_timeline(runs, &loaded.run)?;
    let mut frames = frames(ctx, loaded)?;
    for frame in &mut frames {
        let at = frame.get("frameNo").and_then(Value::as_u64);
        let forks = timeline.forks.iter().filter(|it| Some(it.at) == at);
        let forks: Vec<Value> = forks
            .map(|it| json!({"runId": it.run, "createdAtMs": it.created, "status": it.status}))
            .collect();
        set_field(frame, "forkPoints", json!(forks));
    }
    let cut = frames.len().saturating_sub(MAX_FRAMES);
    let frames = frames.split_off(cut);
    let mut answer = json!({
        "runId": loaded.run,
        "frames": frames,
        "framesLeftOut": cut,
        "branch": timeline.origins.last().map(|(run, at)| json!({"parentRunId": run, "parentFrameNo": at})),
        "rewinds": timeline.marks.iter().filter(|it| is_rewind(it)).count(),
    });
    if depth > 0 {
        let mut children = Vec::new();
        for fork in &timeline.forks {
            // Runs that the caller may not touch aren't shown.
            let is_out_of_reach = ctx.bound_run().is_some_and(|bound| *bound != fork.run);
            if *left > 0 && !is_out_of_reach {
                let child = ctx.runs().catch_up(&fork.run)?;
                children.push(describe_timeline(
                    ctx,
                    &child,
                    depth.saturating_sub(1),
                    left,
                )?);
            }
        }
        set_field(&mut answer, "children", Value::Array(children));
    }
    Ok(answer)
}

const fn is_rewind(mark: &Mark) -> bool {
    matches!(mark.what, Marked::Rewound { .. })
}

/// Returns the frames of a run: the records that count and end an append.
fn frames(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Vec<Value>, Problem> {
    let store = ctx.runs().store();
    let upto = Some(loaded.head.seq);
    let live = state::live_records(store, &loaded.run, upto, &[])?;
    let mut frames = Vec::new();
    let each = |record: &Record| -> Result<(), StoreError> {
        if live.contains(record.seq) && !record.continues() && record.kind != "refused" {
            frames.push(json!({
                "frameNo": record.seq,
                "createdAtMs": record.time,
                "contentHash": record.hash(),
                "summary": record.summary(),
            }));
        }
        Ok(())
    };
    state::for_each_record(store, &loaded.run, 0, upto, each)?;
    Ok(frames)
}
