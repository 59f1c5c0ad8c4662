//! `send_event`: moves a run by an event, or reports on one of its steps.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::{Refused, StepStatus};
use statemark_runs::runs::Sent;
use statemark_runs::{Advance, Advanced, Loaded, Remedy, Report, Send, Written, state};

use crate::ctx::Ctx;
use crate::envelope::pages::{Position, paginate};
use crate::envelope::{Fields, NEXT, answer_about, answer_order, remaining_room};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

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
    /// What comes with the event, an object: guards and actions read its fields.
    data: Option<Value>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("send_event", Set::Runs, Annotations::IDEMPOTENT),
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

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let before = ctx.load_run(input.run_id.as_deref())?;
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(before.run.clone(), key, input.expected_seq)?;
    match (&input.event, &input.step) {
        (Some(event), None) => {
            let of_steps = [
                ("status", &input.status),
                ("unit", &input.unit),
                ("message", &input.message),
            ];
            if let Some((name, _)) = of_steps.into_iter().find(|(_, given)| given.is_some()) {
                let what = "it says something of a `step`; leave it out with an `event`";
                return Err(Problem::argument(name, what));
            }
            let send = Send {
                event: event.clone(),
                data: input.data.clone(),
            };
            let written = ctx.runs().execute(&order, &send)?;
            sent(ctx, &before, &written)
        }
        (None, Some(step)) => {
            let advanced = ctx.runs().execute(&order, &advance(step, input)?)?;
            reported(ctx, &before, &advanced)
        }
        _ => Err(Problem::argument(
            "event",
            "give either it, or `step` with its `status`",
        )),
    }
}

/// What became of an event.
fn sent(ctx: &Ctx<'_>, before: &Loaded, written: &Written<Sent>) -> Fields {
    let from = leaves_before(ctx, before, written)?;
    let event = match &written.outcome {
        Sent::Taken(event) => event,
        Sent::Asked(opened) => {
            let asked = json!({"taken": false, "from": from, "asked": opened.request, "prompt": opened.prompt});
            return answer_order(written, asked);
        }
        Sent::Refused(refused) => return answer_refused(written, refused),
    };
    let mut answer = answer_order(
        written,
        json!({
            "taken": true,
            "from": from,
            "to": event.step.leaves,
            "seq": written.records.last().map(|it| it.seq),
        }),
    )?;
    // Both are in the journal, and the context is in `get_run`.
    let changed = paginate(
        json!(event.step.changed),
        Position::default(),
        remaining_room(&answer) / 2,
    );
    answer.insert("changed".to_owned(), changed.0);
    let effects = paginate(
        json!(event.step.effects),
        Position::default(),
        remaining_room(&answer),
    );
    answer.insert("effects".to_owned(), effects.0);
    if changed.1.is_some() || effects.1.is_some() {
        let fix = json!({"tool": "get_run", "arguments": {"run_id": written.loaded.run, "include": ["context"]}});
        answer.insert("cut".to_owned(), fix);
    }
    Ok(answer)
}

/// Answers a refusal, with the question to a person that would let the run raise the event.
fn answer_refused(written: &Written<Sent>, refused: &Refused) -> Fields {
    let loaded = &written.loaded;
    let problem = match answer_order(written, json!({})) {
        Err(problem) if refused.remedy(loaded) == Some(Remedy::AskReview) => problem,
        answer => return answer,
    };
    let arguments = json!({"run_id": loaded.run, "kind": "review", "prompt": "Is it good?"});
    Err(problem.mended_by("request_human", arguments))
}

/// What became of a report.
fn reported(ctx: &Ctx<'_>, before: &Loaded, advanced: &Advanced) -> Fields {
    let Some(written) = &advanced.written else {
        if let Some(refused) = &advanced.refused {
            return Err(Problem::refused(refused));
        }
        let answer = json!({"taken": false, "run_id": advanced.run});
        return answer_about(&ctx.runs().load(&before.run)?, answer);
    };
    let from = leaves_before(ctx, before, written)?;
    let moved = advanced.left.as_ref().or(advanced.entered.as_ref());
    let to = moved.map_or(&from, |event| &event.step.leaves);
    answer_order(
        written,
        json!({
            "taken": moved.is_some(),
            "from": from,
            "to": to,
            "seq": written.records.last().map(|it| it.seq),
            "status": advanced.step.as_ref().map(|it| it.status),
            "asked": advanced.request,
        }),
    )
}

/// Where the run was before these records: a repeated call is told what it was told at first.
fn leaves_before<T>(
    ctx: &Ctx<'_>,
    before: &Loaded,
    written: &Written<T>,
) -> Result<Vec<String>, Problem> {
    let run = &written.loaded.run;
    let Some(first) = written.records.first() else {
        return Ok(written.loaded.state.leaves.clone());
    };
    let last = first.seq.saturating_sub(1);
    if before.run == *run && before.head.seq == last {
        return Ok(before.state.leaves.clone());
    }
    if last == 0 {
        return Ok(Vec::new());
    }
    let state = state::load(ctx.runs().store(), run, Some(last))?;
    Ok(state.leaves)
}

fn advance(step: &str, input: &Input) -> Result<Advance, Problem> {
    let word = input.status.as_deref().unwrap_or("running");
    let all = StepStatus::ALL;
    let Some(status) = all.into_iter().find(|it| it.name() == word) else {
        let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
        let what = format!("`{word}` is none of {}", names.join(", "));
        return Err(Problem::argument("status", what));
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
