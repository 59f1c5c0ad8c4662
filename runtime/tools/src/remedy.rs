//! Remedies as tool calls, or as commands where the caller doesn't have the tool.

use serde_json::{Map, Value, json};
use statemark_runs::body::{Refused, Subject};
use statemark_runs::{Loaded, Remedy, Role};

use crate::Ctx;
use crate::envelope::set_field;
use crate::problem::Fix;

/// A call of a tool that applies a remedy.
struct ToolCall {
    tool: &'static str,
    arguments: Value,
    /// Only a person can make it.
    by_person: bool,
    /// The time to make it, if not now. Unit: milliseconds since 1970.
    until: Option<u64>,
}

impl ToolCall {
    const fn new(tool: &'static str, arguments: Value) -> Self {
        Self {
            tool,
            arguments,
            by_person: false,
            until: None,
        }
    }

    fn into_json(self) -> Value {
        let mut call = json!({"tool": self.tool, "arguments": self.arguments});
        if self.by_person {
            set_field(&mut call, "by", json!("person"));
        }
        if let Some(until) = self.until {
            set_field(&mut call, "until", json!(until));
        }
        call
    }
}

/// Returns the call that applies a remedy: of a tool that the caller has, else a command.
///
/// It says `by` where only a person can do it.
pub(crate) fn as_call(ctx: &Ctx<'_>, remedy: &Remedy, loaded: &Loaded) -> Value {
    if let Remedy::OneOf { remedies } = remedy {
        let each = remedies.iter().map(|it| as_call(ctx, it, loaded));
        return json!({"one_of": each.collect::<Vec<Value>>()});
    }
    let Some(call) = as_tool_call(remedy, loaded) else {
        return json!({"by": "person", "call": remedy});
    };
    if ctx.can_call(call.tool) {
        return call.into_json();
    }
    let commands = remedy.as_commands(&loaded.run, loaded.workflow.id());
    let Some(command) = commands.first() else {
        return json!({"call": remedy});
    };
    let mut command = json!({"command": command});
    if call.by_person {
        set_field(&mut command, "by", json!("person"));
    }
    command
}

/// Returns the call that provides what a refused event lacks.
///
/// There is none where the remedy is to do something else.
pub(crate) fn as_fix(refused: &Refused, loaded: &Loaded) -> Option<Box<Fix>> {
    let Subject::Event { name, .. } = &refused.subject else {
        return None;
    };
    let remedy = refused.remedy(loaded)?;
    let provides = match &remedy {
        Remedy::Send {
            event,
            fields,
            claims,
        } => event == name && !(fields.is_empty() && claims.is_empty()),
        Remedy::SubmitArtifact { .. }
        | Remedy::FinalizeArtifact { .. }
        | Remedy::RunCheck { .. } => true,
        _ => false,
    };
    let call = as_tool_call(&remedy, loaded).filter(|_| provides)?;
    Some(Box::new(Fix {
        tool: call.tool,
        arguments: call.arguments,
    }))
}

/// Returns the call that applies a remedy to a run, if one tool does.
fn as_tool_call(remedy: &Remedy, loaded: &Loaded) -> Option<ToolCall> {
    let run = &loaded.run;
    let decide = |request: &str, action: &str| ToolCall {
        by_person: true,
        ..ToolCall::new(
            "resolve_request",
            json!({"request_id": request, "action": action}),
        )
    };
    Some(match remedy {
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
            ToolCall::new("send_event", arguments)
        }
        Remedy::Report { step } => ToolCall::new(
            "send_event",
            json!({"run_id": run, "step": step, "status": "running"}),
        ),
        Remedy::Look { run } => ToolCall::new("get_run", json!({"run_id": run})),
        Remedy::Wait { until } => ToolCall {
            until: Some(*until),
            ..ToolCall::new("wait_run", json!({"run_id": run}))
        },
        Remedy::Start { workflow } => ToolCall::new("start_run", json!({"workflow": workflow})),
        Remedy::Continue => {
            // An agent may continue what an agent paused.
            let by = loaded.state.paused_by.as_ref();
            ToolCall {
                by_person: by.is_none_or(|by| by.role >= Role::Person),
                ..ToolCall::new("control_run", json!({"run_id": run, "action": "continue"}))
            }
        }
        Remedy::SubmitArtifact { artifact } => ToolCall::new(
            "submit_artifact",
            json!({"run_id": run, "name": artifact, "mode": "final"}),
        ),
        Remedy::FinalizeArtifact { artifact, revision } => ToolCall::new(
            "submit_artifact",
            json!({"run_id": run, "name": artifact, "mode": "final", "base_revision": revision}),
        ),
        Remedy::RunCheck { check } => {
            ToolCall::new("run_check", json!({"run_id": run, "name": check}))
        }
        Remedy::Rewind { to, force } => ToolCall::new(
            "rewind_run",
            json!({"run_id": run, "to": to, "force": force, "dry_run": true}),
        ),
        Remedy::Approve { request } => decide(request, "approve"),
        Remedy::Answer { request } => decide(request, "answer"),
        Remedy::Deny { request } => decide(request, "deny"),
        Remedy::SendBack { request } => decide(request, "send_back"),
        Remedy::AskReview => ToolCall::new(
            "request_human",
            json!({"run_id": run, "kind": "review", "prompt": null}),
        ),
        // No tool does these; one of several is one of them.
        Remedy::Effect { .. } | Remedy::Restore | Remedy::OneOf { .. } => return None,
    })
}
