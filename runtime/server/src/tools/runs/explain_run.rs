//! `explain_run`: why a run stands still, and which call moves it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{Call as Proposed, Legal, Loaded, Reason, Role};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, NEXT, add_page, answer_about, page_start, set_field};
use crate::options::Set;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// About one event: why it would be taken or not.
    event: Option<String>,
    /// Where the answer before ended.
    cursor: Option<String>,
}

/// Most bytes of the summary.
const SUMMARY: usize = 1 << 10;

pub(super) fn tool() -> Tool {
    Tool::own(
        ("explain_run", Set::Runs, Annotations::READ_ONLY),
        (
            "Explain a run",
            "Why a run stands where it does, and for each reason the call that would move it.",
        ),
        &[
            ("summary", "string"),
            ("blockers", "array"),
            ("cursor", "string"),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    let why = loaded.why(input.event.as_deref())?;
    let legal = loaded.legal()?;
    let told = |it| told(it, &legal, &loaded);
    let blockers: Vec<Value> = why.reasons.iter().map(told).collect();
    let from = page_start("blockers", input.cursor.as_deref())?;
    let status = why.status.name();
    let summary = match why.reasons.first() {
        Some(first) => format!("it is {status}: {}", first.text),
        None => format!("it is {status}"),
    };
    let (summary, _) = bounds::truncate(&summary, SUMMARY);
    let mut answer = answer_about(&loaded, json!({"summary": summary}))?;
    add_page(&mut answer, "blockers", json!(blockers), from);
    Ok(answer)
}

fn told(reason: &Reason, legal: &[Legal], loaded: &Loaded) -> Value {
    let mut told = json!({"kind": reason.code, "reason": reason.text});
    let (state, since) = stands(reason.next.as_ref(), legal, loaded);
    if let Some(state) = state {
        set_field(&mut told, "state", json!(state));
    }
    if let Some(since) = since {
        set_field(&mut told, "since", json!(since));
    }
    if let Some(next) = &reason.next {
        set_field(&mut told, "unblock", unblock(next, loaded));
    }
    told
}

/// The state that something blocks, and since when: that of the request or the event that it is about, else the only
/// active one.
fn stands(
    next: Option<&Proposed>,
    legal: &[Legal],
    loaded: &Loaded,
) -> (Option<String>, Option<u64>) {
    let state = &loaded.state;
    let only = match state.leaves.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    if let Some(
        Proposed::Approve { request }
        | Proposed::Deny { request }
        | Proposed::SendBack { request }
        | Proposed::Answer { request },
    ) = next
        && let Some(asked) = state.requests.get(request)
    {
        let about = asked.opened.states.first().cloned();
        return (about.or(only), Some(asked.time));
    }
    let from = match next {
        Some(Proposed::Send { event, .. }) => legal.iter().find(|it| it.event == *event),
        _ => None,
    };
    let step = match next {
        Some(Proposed::Report { step }) => Some(step.clone()),
        _ => from.map(|it| it.from.clone()),
    };
    let step = step.or(only);
    let visit = step.as_ref().and_then(|step| state.visits.get(step));
    let since = visit.map(|visit| visit.since);
    (step, since)
}

/// The call of ours that is proposed; where only a person can do it, the command.
fn unblock(next: &Proposed, loaded: &Loaded) -> Value {
    let run = &loaded.run;
    match next {
        Proposed::Send { event, fields } => {
            let data: Map<String, Value> =
                fields.iter().map(|it| (it.clone(), Value::Null)).collect();
            let mut arguments = json!({"run_id": run, "event": event});
            if !data.is_empty() {
                set_field(&mut arguments, "data", Value::Object(data));
            }
            json!({"tool": "send_event", "arguments": arguments})
        }
        Proposed::Report { step } => json!({
            "tool": "send_event",
            "arguments": {"run_id": run, "step": step, "status": "running"},
        }),
        Proposed::Look { run } => json!({"tool": "get_run", "arguments": {"run_id": run}}),
        Proposed::Wait { until } => json!({
            "tool": "wait_run",
            "arguments": {"run_id": run},
            "until": until,
        }),
        Proposed::Start { workflow } => {
            json!({"tool": "start_run", "arguments": {"workflow": workflow}})
        }
        Proposed::Continue => {
            let mut ctx = json!({
                "tool": "control_run",
                "arguments": {"run_id": run, "action": "continue"},
            });
            // What an agent has paused, an agent may continue.
            let by = loaded.state.paused_by.as_ref();
            if by.is_none_or(|by| by.role >= Role::Person) {
                set_field(&mut ctx, "by", json!("person"));
            }
            ctx
        }
        Proposed::SubmitArtifact { artifact } => json!({
            "tool": "submit_artifact",
            "arguments": {"run_id": run, "name": artifact, "mode": "final"},
        }),
        Proposed::FinalizeArtifact { artifact, revision } => json!({
            "tool": "submit_artifact",
            "arguments": {"run_id": run, "name": artifact, "mode": "final", "base_revision": revision},
        }),
        Proposed::RunCheck { check } => json!({
            "tool": "run_check",
            "arguments": {"run_id": run, "name": check},
        }),
        Proposed::Rewind { to, force } => json!({
            "tool": "rewind_run",
            "arguments": {"run_id": run, "to": to, "force": force, "dry_run": true},
        }),
        Proposed::Approve { request } => decided(request, "approve"),
        Proposed::Answer { request } => decided(request, "answer"),
        Proposed::Deny { request } => decided(request, "deny"),
        Proposed::SendBack { request } => decided(request, "send_back"),
        Proposed::AskReview => json!({
            "tool": "request_human",
            "arguments": {"run_id": run, "kind": "review", "prompt": null},
        }),
        other => json!({"by": "person", "call": other}),
    }
}

/// What a person calls.
fn decided(request: &str, action: &str) -> Value {
    json!({
        "by": "person",
        "tool": "resolve_request",
        "arguments": {"request_id": request, "action": action},
    })
}
