//! `explain_run`: why a run is where it is, as blockers with what unblocks each.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::RequestKind;
use statemark_runs::state::Request;
use statemark_runs::{Blocker, Loaded, Reason, Remedy, explain};

use super::summary::{self, own_timers};
use super::{load, shape};
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
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("explain_run", Set::Smithers, Annotations::READ_ONLY),
        (
            "Explain a run",
            "Why a run is blocked or waits, and for each reason what would take it away.",
        ),
        shape,
        run,
    )
    .equivalent_to("explain_run")
    .with_output(&[("diagnosis", "object")])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    let now = ctx.runs().now();
    let reasons = explain(&loaded, None)?.reasons;
    let status = summary::status(&loaded)?;
    let blockers = reasons.iter().map(|it| blocker(ctx, it, &loaded));
    let blockers = blockers.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({"diagnosis": {
        "runId": loaded.run,
        "status": status,
        "summary": in_words(&loaded, status, &reasons)?,
        "generatedAtMs": now,
        "blockers": if summary::is_terminal(&loaded) { Vec::new() } else { blockers },
        "currentNodeId": summary::active_node(&loaded),
    }}))
}

/// Returns the diagnosis as a sentence.
fn in_words(loaded: &Loaded, status: &str, reasons: &[Reason]) -> Result<String, Problem> {
    let node = summary::active_node(loaded);
    let first = reasons.first().map(Reason::text);
    Ok(match (status, node, first) {
        ("waiting-approval", Some(node), _) => {
            format!("Run is waiting for a human approval on node '{node}'.")
        }
        ("running", Some(node), None) => format!("Run is at node '{node}', and nothing blocks it."),
        ("running", Some(node), Some(first)) => {
            format!("Run is at node '{node}' and waits for its agent: {first}.")
        }
        (_, _, Some(first)) => format!("Run is {status}: {}.", first.trim_end_matches('.')),
        _ => format!("Run is {status}."),
    })
}

fn blocker(ctx: &Ctx<'_>, reason: &Reason, loaded: &Loaded) -> Outcome {
    let now = ctx.runs().now();
    let request = request_of(reason);
    let request = request.and_then(|it| loaded.state.requests.get(it));
    let node = request.and_then(|it| it.opened.states.first().map(String::as_str));
    let node = node
        .or_else(|| summary::active_node(loaded))
        .unwrap_or_default();
    let visit = loaded.state.visits.get(node);
    let since = request.map(|it| it.time);
    let since = since.or_else(|| visit.map(|visit| visit.since));
    let kind = kind(reason, request);
    let mut blocker = json!({
        "kind": kind,
        "nodeId": node,
        "iteration": summary::iteration(ctx, loaded, node)?,
        "reason": reason.text(),
        "waitingSince": since.unwrap_or(loaded.state.updated),
        "unblocker": reason.remedy.as_ref().map_or_else(
            || "Nothing from outside.".to_owned(),
            |remedy| unblocker(remedy, loaded),
        ),
        "signalName": null,
        "dependencyNodeId": null,
        "firesAtMs": null,
        "remainingMs": null,
        "attempt": null,
        "maxAttempts": loaded.limit(node, "max_visits"),
    });
    if let Some(Remedy::Send { event, .. }) = &reason.remedy {
        set_field(&mut blocker, "signalName", json!(event));
    }
    if kind == "waiting-timer"
        && let Some(due) = own_timers(loaded).map(|timer| timer.due).min()
    {
        set_field(&mut blocker, "firesAtMs", json!(due));
        set_field(&mut blocker, "remainingMs", json!(due.saturating_sub(now)));
    }
    if let Some(request) = request {
        set_field(&mut blocker, "context", json!(request.opened.prompt));
    }
    Ok(blocker)
}

/// Returns the kind of a blocker: this system's where it has one, else our code.
fn kind(reason: &Reason, request: Option<&Request>) -> String {
    let kind = match &reason.blocker {
        Blocker::RequestPending { .. } if request.is_some_and(summary::is_approval) => "approval",
        Blocker::RequestPending { request, .. } if request.kind == RequestKind::Approval => {
            "approval"
        }
        Blocker::RequestPending { .. }
        | Blocker::StepWaiting { .. }
        | Blocker::Paused { .. }
        | Blocker::Queued { .. }
        | Blocker::EventAwaited { .. } => "waiting-event",
        Blocker::TimerPending { .. } => "waiting-timer",
        Blocker::ChildRunning { .. }
        | Blocker::ChildOutcome { .. }
        | Blocker::ChildUnknown { .. } => "waiting-child",
        _ => return reason.code().replace('_', "-"),
    };
    kind.to_owned()
}

/// Returns the request that a reason is about.
fn request_of(reason: &Reason) -> Option<&str> {
    match (&reason.remedy, &reason.blocker) {
        (Some(Remedy::Approve { request } | Remedy::Answer { request }), _) => Some(request),
        (_, Blocker::RequestPending { request, .. }) if request.is_waited_for() => {
            Some(&request.id)
        }
        _ => None,
    }
}

/// Returns the remedy in words: with one of this system's tools where it has one, else with the command.
fn unblocker(remedy: &Remedy, loaded: &Loaded) -> String {
    let run = &loaded.run;
    match remedy {
        Remedy::Approve { .. } | Remedy::Deny { .. } => {
            "Call resolve_approval with action=approve or action=deny.".to_owned()
        }
        Remedy::Look { run } => format!("Call explain_run with runId={run}."),
        Remedy::Start { workflow } => format!("Call run_workflow with workflowId={workflow}."),
        Remedy::Continue => {
            let workflow = &loaded.state.workflow;
            format!("Call run_workflow with workflowId={workflow} runId={run} resume=true.")
        }
        Remedy::Rewind { to, .. } => format!("Call rewind_run with frameNo={to} confirm=true."),
        other => match other.as_command(run, loaded.workflow.id()) {
            Some(command) => format!("Run `{command}`."),
            None => "Wait: the timer fires by itself.".to_owned(),
        },
    }
}
