//! `explain_run`: why a run stands still, and which call moves it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_store::{Call as Proposed, Loaded, Reason};

use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{NEXT, about, put};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// About one event: why it would be taken or not.
    event: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("explain_run", Set::Runs, Hints::READS),
        (
            "Explain a run",
            "Why a run stands where it does, and for each reason the call that would move it.",
        ),
        &[("summary", "string"), ("blockers", "array"), NEXT],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let loaded = call.load(input.run_id.as_deref())?;
    let why = loaded.why(input.event.as_deref())?;
    let blockers: Vec<Value> = why.reasons.iter().map(|it| told(it, &loaded)).collect();
    let first = why.reasons.first().map(|it| it.text.clone());
    let status = why.status.name();
    let summary = first.map_or_else(
        || format!("it is {status}"),
        |it| format!("it is {status}: {it}"),
    );
    about(&loaded, json!({"summary": summary, "blockers": blockers}))
}

fn told(reason: &Reason, loaded: &Loaded) -> Value {
    let mut told =
        json!({"kind": reason.code, "reason": reason.text, "states": loaded.state.leaves});
    if let Some(next) = &reason.next {
        put(&mut told, "unblock", unblock(next, loaded));
    }
    told
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
                put(&mut arguments, "data", Value::Object(data));
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
        Proposed::Continue => json!({
            "tool": "control_run",
            "arguments": {"run_id": run, "action": "continue"},
        }),
        other => json!({"by": "person", "call": other}),
    }
}
