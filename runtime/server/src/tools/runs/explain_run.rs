//! `explain_run`: why a run is where it is, and the call that moves it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::{Legal, Loaded, Reason, Remedy, explain};

use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::{Fields, NEXT, add_page, answer_about, page_start, set_field};
use crate::options::Set;
use crate::remedy::as_tool_call;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Explain one event: why it would be taken or not.
    event: Option<String>,
    /// Where the previous answer ended.
    cursor: Option<String>,
}

/// Most bytes of the summary.
const SUMMARY: usize = 1 << 10;

pub(super) fn tool() -> Tool {
    Tool::own(
        ("explain_run", Set::Runs, Annotations::READ_ONLY),
        (
            "Explain a run",
            "Why a run is where it is, and for each reason the call that would move it.",
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
    let explanation = explain(&loaded, input.event.as_deref())?;
    let legal = loaded.legality().transitions()?;
    let reasons = explanation.reasons.iter();
    let blockers: Vec<Value> = reasons.map(|it| blocker(it, &legal, &loaded)).collect();
    let from = page_start("blockers", input.cursor.as_deref())?;
    let status = explanation.status.name();
    let summary = match explanation.reasons.first() {
        Some(first) => format!("it is {status}: {}", first.text()),
        None => format!("it is {status}"),
    };
    let (summary, _) = bounds::truncate(&summary, SUMMARY);
    let mut answer = answer_about(&loaded, json!({"summary": summary}))?;
    add_page(&mut answer, "blockers", json!(blockers), from);
    Ok(answer)
}

fn blocker(reason: &Reason, legal: &[Legal], loaded: &Loaded) -> Value {
    let mut blocker = json!({"kind": reason.code(), "reason": reason.text()});
    let (state, since) = subject(reason.remedy.as_ref(), legal, loaded);
    if let Some(state) = state {
        set_field(&mut blocker, "state", json!(state));
    }
    if let Some(since) = since {
        set_field(&mut blocker, "since", json!(since));
    }
    if let Some(remedy) = &reason.remedy {
        set_field(&mut blocker, "unblock", as_tool_call(remedy, loaded));
    }
    blocker
}

/// Returns the state that is blocked, and since when: that of the remedy's request, event or step, else the only active one.
fn subject(
    remedy: Option<&Remedy>,
    legal: &[Legal],
    loaded: &Loaded,
) -> (Option<String>, Option<u64>) {
    let run = &loaded.state;
    let only = match run.leaves.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    let state = match remedy {
        Some(
            Remedy::Approve { request }
            | Remedy::Deny { request }
            | Remedy::SendBack { request }
            | Remedy::Answer { request },
        ) => {
            if let Some(request) = run.requests.get(request) {
                let state = request.opened.states.first().cloned();
                return (state.or(only), Some(request.time));
            }
            None
        }
        Some(Remedy::Send { event, .. }) => {
            let legal = legal.iter().find(|it| it.event == *event);
            legal.map(|it| it.from.clone())
        }
        Some(Remedy::Report { step }) => Some(step.clone()),
        _ => None,
    };
    let state = state.or(only);
    let visit = state.as_ref().and_then(|state| run.visits.get(state));
    let since = visit.map(|visit| visit.since);
    (state, since)
}
