//! Remedies as tool calls, or as commands where the caller doesn't have the tool.

use serde_json::{Map, Value, json};
use statemark_runs::{Loaded, Remedy, Role};

use crate::Ctx;
use crate::envelope::set_field;

/// Returns the call that applies a remedy: of a tool that the caller has, else a command.
///
/// It says `by` where only a person can do it.
pub(crate) fn as_call(ctx: &Ctx<'_>, remedy: &Remedy, loaded: &Loaded) -> Value {
    if let Remedy::OneOf { remedies } = remedy {
        let each = remedies.iter().map(|it| as_call(ctx, it, loaded));
        return json!({"one_of": each.collect::<Vec<Value>>()});
    }
    let call = as_tool_call(remedy, loaded);
    let tool = call.get("tool").and_then(Value::as_str);
    if tool.is_none_or(|tool| ctx.can_call(tool)) {
        return call;
    }
    let commands = remedy.as_commands(&loaded.run, loaded.workflow.id());
    let Some(command) = commands.first() else {
        return json!({"call": remedy});
    };
    let mut command = json!({"command": command});
    if let Some(by) = call.get("by") {
        set_field(&mut command, "by", by.clone());
    }
    command
}

/// Returns the call that applies a remedy to a run, with `by` where only a person can make it.
fn as_tool_call(remedy: &Remedy, loaded: &Loaded) -> Value {
    let run = &loaded.run;
    let call = |tool: &str, arguments: Value| json!({"tool": tool, "arguments": arguments});
    let decide = |request: &str, action: &str| {
        let arguments = json!({"request_id": request, "action": action});
        json!({"by": "person", "tool": "resolve_request", "arguments": arguments})
    };
    match remedy {
        Remedy::Send {
            event,
            fields,
            claims,
        } => {
            let data: Map<String, Value> =
                fields.iter().map(|it| (it.clone(), Value::Null)).collect();
            let mut arguments = json!({"run_id": run, "event": event});
            if !data.is_empty() {
                set_field(&mut arguments, "data", Value::Object(data));
            }
            if !claims.is_empty() {
                set_field(&mut arguments, "claims", json!(claims));
            }
            call("send_event", arguments)
        }
        Remedy::Report { step } => call(
            "send_event",
            json!({"run_id": run, "step": step, "status": "running"}),
        ),
        Remedy::Look { run } => call("get_run", json!({"run_id": run})),
        Remedy::Wait { until } => {
            let mut wait = call("wait_run", json!({"run_id": run}));
            set_field(&mut wait, "until", json!(until));
            wait
        }
        Remedy::Start { workflow } => call("start_run", json!({"workflow": workflow})),
        Remedy::Continue => {
            let mut resume = call("control_run", json!({"run_id": run, "action": "continue"}));
            // An agent may continue what an agent paused.
            let by = loaded.state.paused_by.as_ref();
            if by.is_none_or(|by| by.role >= Role::Person) {
                set_field(&mut resume, "by", json!("person"));
            }
            resume
        }
        Remedy::SubmitArtifact { artifact } => call(
            "submit_artifact",
            json!({"run_id": run, "name": artifact, "mode": "final"}),
        ),
        Remedy::FinalizeArtifact { artifact, revision } => call(
            "submit_artifact",
            json!({"run_id": run, "name": artifact, "mode": "final", "base_revision": revision}),
        ),
        Remedy::RunCheck { check } => call("run_check", json!({"run_id": run, "name": check})),
        Remedy::Rewind { to, force } => call(
            "rewind_run",
            json!({"run_id": run, "to": to, "force": force, "dry_run": true}),
        ),
        Remedy::Approve { request } => decide(request, "approve"),
        Remedy::Answer { request } => decide(request, "answer"),
        Remedy::Deny { request } => decide(request, "deny"),
        Remedy::SendBack { request } => decide(request, "send_back"),
        Remedy::AskReview => call(
            "request_human",
            json!({"run_id": run, "kind": "review", "prompt": null}),
        ),
        // No tool does these; one of several is one of them.
        Remedy::Effect { .. } | Remedy::Restore | Remedy::OneOf { .. } => {
            json!({"by": "person", "call": remedy})
        }
    }
}
