//! `explain_run`: why a run stands where it does, as blockers with what would take each away.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{Call as Proposed, Loaded, Reason, WaitingFor, shell_word};

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
    let why = loaded.why(None)?;
    let status = summary::status(&loaded)?;
    let blockers = why.reasons.iter().map(|it| told(ctx, it, &loaded));
    let blockers = blockers.collect::<Result<Vec<Value>, Problem>>()?;
    Ok(json!({"diagnosis": {
        "runId": loaded.run,
        "status": status,
        "summary": in_words(&loaded, status, &why.reasons)?,
        "generatedAtMs": now,
        "blockers": if summary::is_terminal(&loaded) { Vec::new() } else { blockers },
        "currentNodeId": summary::active_node(&loaded),
    }}))
}

/// A sentence.
fn in_words(loaded: &Loaded, status: &str, reasons: &[Reason]) -> Result<String, Problem> {
    let node = summary::active_node(loaded);
    Ok(match (status, node, reasons.first()) {
        ("waiting-approval", Some(node), _) => {
            format!("Run is waiting for a human approval on node '{node}'.")
        }
        ("running", Some(node), None) => format!("Run is at node '{node}', and nothing blocks it."),
        ("running", Some(node), Some(first)) => {
            format!(
                "Run is at node '{node}' and waits for its agent: {}.",
                first.text
            )
        }
        (_, _, Some(first)) => format!("Run is {status}: {}.", first.text.trim_end_matches('.')),
        _ => format!("Run is {status}."),
    })
}

fn told(ctx: &Ctx<'_>, reason: &Reason, loaded: &Loaded) -> Outcome {
    let now = ctx.runs().now();
    let request = request_of(reason, loaded);
    let asked = request.and_then(|it| loaded.state.requests.get(it));
    let node = asked.and_then(|it| it.opened.states.first().map(String::as_str));
    let node = node
        .or_else(|| summary::active_node(loaded))
        .unwrap_or_default();
    let visit = loaded.state.visits.get(node);
    let since = asked.map(|it| it.time).or_else(|| visit.map(|it| it.since));
    let kind = match reason.code {
        "approval_open" => "approval",
        "question_open" | "question_blocks" if asked.is_some_and(summary::is_approval) => {
            "approval"
        }
        "question_open" | "question_blocks" | "step_waits" | "paused" | "queued" => "waiting-event",
        "timer_pending" | "timer_held" => "waiting-timer",
        "child_runs" | "child_unknown" => "waiting-child",
        "can_be_sent" => "waiting-event",
        other => &other.replace('_', "-"),
    };
    let mut blocker = json!({
        "kind": kind,
        "nodeId": node,
        "iteration": summary::iteration(ctx, loaded, node)?,
        "reason": reason.text,
        "waitingSince": since.unwrap_or(loaded.state.updated),
        "unblocker": reason.next.as_ref().map_or_else(
            || "Nothing from outside.".to_owned(),
            |next| unblocker(next, loaded),
        ),
        "signalName": null,
        "dependencyNodeId": null,
        "firesAtMs": null,
        "remainingMs": null,
        "attempt": null,
        "maxAttempts": loaded.limit(node, "max_visits"),
    });
    if let Some(Proposed::Send { event, .. }) = &reason.next {
        set_field(&mut blocker, "signalName", json!(event));
    }
    if kind == "waiting-timer"
        && let Some(due) = own_timers(loaded).map(|timer| timer.due).min()
    {
        set_field(&mut blocker, "firesAtMs", json!(due));
        set_field(&mut blocker, "remainingMs", json!(due.saturating_sub(now)));
    }
    if let Some(asked) = asked {
        set_field(&mut blocker, "context", json!(asked.opened.prompt));
    }
    Ok(blocker)
}

/// The request that a reason is about.
fn request_of<'l>(reason: &'l Reason, loaded: &'l Loaded) -> Option<&'l str> {
    match &reason.next {
        Some(Proposed::Approve { request } | Proposed::Answer { request }) => Some(request),
        _ if matches!(reason.code, "approval_open" | "question_blocks") => {
            let mut waits = loaded.state.waiting_for().into_iter();
            let id = waits.find_map(|it| match it {
                WaitingFor::Approval { request } | WaitingFor::Question { request } => {
                    Some(request)
                }
                _ => None,
            })?;
            loaded
                .state
                .requests
                .get_key_value(&id)
                .map(|(id, _)| id.as_str())
        }
        _ => None,
    }
}

/// What to do, in words: a tool of the document where it has one, else the command.
fn unblocker(next: &Proposed, loaded: &Loaded) -> String {
    let run = shell_word(loaded.run.as_str());
    match next {
        Proposed::Approve { .. } | Proposed::Deny { .. } => {
            "Call resolve_approval with action=approve or action=deny.".to_owned()
        }
        Proposed::Answer { request } => {
            format!(
                "A person answers: `statemark answer {}`.",
                shell_word(request)
            )
        }
        Proposed::SendBack { request } => {
            format!(
                "A person sends it back: `statemark deny {} --comment TEXT`.",
                shell_word(request)
            )
        }
        Proposed::AskReview => format!(
            "Ask for a review, which a person may send back: `statemark ask {run} QUESTION --kind review`."
        ),
        Proposed::Send { event, fields } if fields.is_empty() => {
            format!(
                "Send the event: `statemark send {run} {}`.",
                shell_word(event)
            )
        }
        Proposed::Send { event, fields } => format!(
            "Send the event with {}: `statemark send {run} {} --data JSON`.",
            fields.join(", "),
            shell_word(event)
        ),
        Proposed::Report { step } => {
            format!("Report on the step `{step}` when it goes on.")
        }
        Proposed::Look { run } => format!("Call explain_run with runId={run}."),
        Proposed::Wait { .. } => "Wait: the timer fires by itself.".to_owned(),
        Proposed::Start { workflow } => {
            format!("Call run_workflow with workflowId={workflow}.")
        }
        Proposed::Continue => format!(
            "Call run_workflow with workflowId={} runId={} resume=true.",
            loaded.state.workflow, loaded.run
        ),
        Proposed::Rewind { to, .. } => {
            format!("Call rewind_run with frameNo={to} confirm=true.")
        }
        Proposed::SubmitArtifact { artifact } => format!("Hand in the artifact `{artifact}`."),
        Proposed::FinalizeArtifact { artifact, revision } => {
            format!("Make revision {revision} of the artifact `{artifact}` final.")
        }
        Proposed::Effect { key } => format!("Say what became of the effect `{key}`."),
        Proposed::RunCheck { check } => {
            let check = shell_word(check);
            format!("Run the check: `statemark run-check {check} --run {run}`.")
        }
        Proposed::Restore => "Finish putting the files back, or give it up.".to_owned(),
    }
}
