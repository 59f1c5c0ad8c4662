//! `send_event`: moves a run by an event, or reports on one of its steps.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_store::body::StepStatus;
use statemark_store::runs::Sent;
use statemark_store::{Advance, Report, Send};

use crate::problem::Problem;
use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{NEXT, Once, about, done};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The event. Instead of it: a `step` with its `status`.
    event: Option<String>,
    /// A step to report on, which enters it if a transition leads there.
    step: Option<String>,
    /// How the step is getting on: running, waiting, completed, failed, skipped.
    status: Option<String>,
    /// The unit of work that is reported on.
    unit: Option<String>,
    /// In words, how the step is getting on.
    message: Option<String>,
    /// What comes with the event; guards and actions read it.
    data: Option<Value>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("send_event", Set::Runs, Hints::WRITES),
        (
            "Send an event",
            "Moves a run: one event, taken whole or refused with the legal ones and the facts that their guards read.",
        ),
        &[
            ("taken", "boolean"),
            ("from", "array"),
            ("to", "array"),
            ("seq", "integer"),
            ("effects", "array"),
            ("changed", "object"),
            ("asked", "string"),
            NEXT,
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let before = call.load(input.run_id.as_deref())?;
    let once = Once {
        expected_seq: input.expected_seq,
        idempotency_key: input.idempotency_key.clone(),
    };
    let order = call.order(
        before.run.clone(),
        once.idempotency_key.as_deref(),
        once.expected_seq,
    )?;
    let from = before.state.leaves.clone();
    let runs = call.desk.runs();
    let event = match (&input.event, &input.step) {
        (Some(event), None) => event.clone(),
        (None, Some(step)) => {
            let advance = advance(step, input)?;
            let advanced = runs.advance(&order, &advance)?;
            if let Some(refused) = &advanced.refused {
                return Err(Problem::refused(refused));
            }
            let Some(written) = &advanced.written else {
                let answer = json!({"taken": false, "run_id": advanced.run});
                return about(&runs.load(&before.run)?, answer);
            };
            let moved = advanced.entered.is_some() || advanced.left.is_some();
            return done(
                written,
                json!({"taken": moved, "from": from, "to": written.loaded.state.leaves, "seq": written.loaded.head.seq, "asked": advanced.request}),
            );
        }
        _ => {
            return Err(Problem::new(
                "invalid_arguments",
                "give either `event`, or `step` with its `status`",
            ));
        }
    };
    let send = Send {
        event,
        data: input.data.clone(),
    };
    let written = runs.send(&order, &send)?;
    match Sent::of(&written)? {
        Sent::Taken(event) => done(
            &written,
            json!({
                "taken": true,
                "from": from,
                "to": event.step.leaves,
                "seq": written.loaded.head.seq,
                "effects": event.step.effects,
                "changed": event.step.changed,
            }),
        ),
        Sent::Asked(opened) => done(
            &written,
            json!({"taken": false, "from": from, "asked": opened.request, "prompt": opened.prompt}),
        ),
        Sent::Refused(_) => done(&written, json!({})),
    }
}

fn advance(step: &str, input: &Input) -> Result<Advance, Problem> {
    let word = input.status.as_deref().unwrap_or("running");
    let all = [
        StepStatus::NotStarted,
        StepStatus::Running,
        StepStatus::Waiting,
        StepStatus::Completed,
        StepStatus::Failed,
        StepStatus::Skipped,
    ];
    let Some(status) = all.into_iter().find(|it| it.name() == word) else {
        let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
        let message = format!("`status`: `{word}` is none of {}", names.join(", "));
        return Err(Problem::new("invalid_arguments", message));
    };
    Ok(Advance {
        step: Some(step.to_owned()),
        unit: input.unit.clone(),
        report: Report::Status {
            status,
            message: input.message.clone(),
            data: input.data.clone().unwrap_or_default(),
        },
        start: None,
        close: false,
    })
}
