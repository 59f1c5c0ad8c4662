//! Moving a run: by an event, or by a report on one of its steps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::{EffectKey, Event, Refused, StepStatus, Subject};
use statemark_runs::policy::Gating;
use statemark_runs::runs::SendOutcome;
use statemark_runs::{
    Advance, Advanced, Claims, Loaded, Order, Remedy, Report, RunError, RunId, SendEvent,
    StoreError, Written, state,
};

use crate::envelope::{
    About, Page, Position, answer_about, answer_order, paginate, remaining_room, room_for,
};
use crate::{Annotations, Ctx, Fix, Problem, Route, Set, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendEventCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The event. Instead of it: a `step` with its `status`.
    event: Option<String>,
    /// A step to report on, which enters it if a transition leads there.
    step: Option<String>,
    /// The status of the step: running, waiting, completed, failed, skipped.
    status: Option<String>,
    /// The unit of work that is reported on.
    unit: Option<String>,
    /// The progress of the step, in words.
    message: Option<String>,
    /// The event's data, an object: guards and actions read its fields.
    data: Option<Value>,
    /// Your claims: guards that nothing defines, in the words that `claim_needed` names.
    claims: Option<Vec<String>>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Moved {
    /// The run whose journal has the report, if nothing was written.
    #[schemars(with = "Option<String>")]
    run_id: Option<RunId>,
    /// True if the run has moved.
    taken: bool,
    /// The active states before.
    from: Option<Vec<String>>,
    /// The active states after.
    to: Option<Vec<String>>,
    /// The record of it.
    seq: Option<u64>,
    /// The status of the step that was reported on.
    #[schemars(with = "Option<String>")]
    status: Option<StepStatus>,
    /// The request that has to be decided first.
    asked: Option<String>,
    /// The question of that request.
    prompt: Option<String>,
    /// The fields of the context that have another value now.
    #[schemars(with = "Option<Map<String, Value>>")]
    changed: Option<Value>,
    /// The fields of the data that the context didn't get: guards read them as `event.x`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_merged: Vec<String>,
    /// The claims of the sender, in the words of the spec's author.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    claims: Vec<String>,
    /// The effects that are to be carried out.
    effects: Page<EffectKey>,
    /// The call that reads what was cut.
    #[schemars(with = "Option<Map<String, Value>>")]
    cut: Option<Fix>,
}

impl ToolCall for SendEventCall {
    const NAME: &'static str = "send_event";
    const TITLE: &'static str = "Send an event";
    const DESCRIPTION: &'static str = "Moves a run: one event, taken whole or refused with the legal ones and the facts that their guards read.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::post("/runs/{run_id}/events", "sends it an event")];
    type Response = About<Moved>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Moved>, Problem> {
        match (&self.event, &self.step) {
            (Some(event), None) => {
                let of_steps = [
                    ("status", &self.status),
                    ("unit", &self.unit),
                    ("message", &self.message),
                ];
                if let Some((name, _)) = of_steps.into_iter().find(|(_, value)| value.is_some()) {
                    let what = "it says something of a `step`; leave it out with an `event`";
                    return Err(Problem::argument(name, what));
                }
                self.send(ctx, event)
            }
            (None, Some(step)) => {
                let before = ctx.load_run(self.run_id.as_deref())?;
                let order = self.order(ctx, &before, self.expected_seq)?;
                let advanced = ctx.runs().execute(&order, &self.advance(step)?)?;
                answer_report(ctx, &before, &advanced)
            }
            _ => Err(Problem::argument(
                "event",
                "give either it, or `step` with its `status`",
            )),
        }
    }

    fn to_json(response: About<Moved>) -> serde_json::Result<Value> {
        response.into_json()
    }
}

impl SendEventCall {
    /// Sends the event, at first to the run as this server left it.
    ///
    /// If others have written since, it is sent to what the run is now.
    fn send(&self, ctx: &Ctx<'_>, event: &str) -> Result<About<Moved>, Problem> {
        let run = self.run_id.as_deref();
        let send = SendEvent {
            event: event.to_owned(),
            data: self.data.clone(),
            claims: self.read_claims()?,
        };
        let recalled = ctx.recall_run(run)?;
        let recalled = recalled.filter(|it| self.expected_seq.is_none_or(|seq| seq == it.head.seq));
        if let Some(before) = recalled {
            let order = self.order(ctx, &before, Some(before.head.seq))?;
            match ctx.runs().execute(&order, &send) {
                // What others have made due comes first.
                Err(RunError::Store(StoreError::Conflict { .. }))
                    if self.expected_seq.is_none() => {}
                written => return answer_sent(ctx, &before, &written?),
            }
        }
        let before = ctx.load_run(run)?;
        let order = self.order(ctx, &before, self.expected_seq)?;
        let written = ctx.runs().execute(&order, &send)?;
        answer_sent(ctx, &before, &written)
    }

    fn order(&self, ctx: &Ctx<'_>, run: &Loaded, expected: Option<u64>) -> Result<Order, Problem> {
        ctx.order(run.run.clone(), self.idempotency_key.as_deref(), expected)
    }

    fn read_claims(&self) -> Result<Claims, Problem> {
        let claims = Claims::new(self.claims.clone().unwrap_or_default());
        claims.map_err(|error| Problem::argument("claims", error.to_string()))
    }

    fn advance(&self, step: &str) -> Result<Advance, Problem> {
        let word = self.status.as_deref().unwrap_or("running");
        let all = StepStatus::ALL;
        let Some(status) = all.into_iter().find(|it| it.name() == word) else {
            let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
            let what = format!("`{word}` is none of {}", names.join(", "));
            return Err(Problem::argument("status", what));
        };
        Ok(Advance {
            step: Some(step.to_owned()),
            unit: self.unit.clone(),
            report: Report::Status {
                status,
                message: self.message.clone(),
                data: self.data.clone().unwrap_or_default(),
            },
            claims: self.read_claims()?,
            start: None,
            close: false,
        })
    }
}

/// Creates the answer to an event.
fn answer_sent(
    ctx: &Ctx<'_>,
    before: &Loaded,
    written: &Written<SendOutcome>,
) -> Result<About<Moved>, Problem> {
    let from = Some(leaves_before(ctx, before, written)?);
    let event = match &written.outcome {
        SendOutcome::Taken(event) => event,
        SendOutcome::Asked(opened) => {
            let asked = Moved {
                from,
                asked: Some(opened.request.clone()),
                prompt: Some(opened.prompt.clone()),
                ..Moved::default()
            };
            return answer_order(written, asked);
        }
        SendOutcome::Refused(refused) => return answer_refused(written, refused),
    };
    let moved = Moved {
        taken: true,
        from,
        to: Some(event.step.leaves.clone()),
        seq: written.records.last().map(|it| it.seq),
        not_merged: unmerged(&written.loaded, event),
        claims: event.claims.clone(),
        ..Moved::default()
    };
    let mut answer = answer_order(written, moved)?;
    // The journal has both whole, and `get_run` the context.
    let changed = Value::Object(event.step.changed.clone());
    let room = room_for(&changed, 2, &answer);
    let (changed, cut) = paginate(changed, Position::default(), room);
    answer.fields.changed = Some(changed);
    let effects = event.step.effects.iter().cloned();
    // No items need no room.
    let room = if event.step.effects.is_empty() {
        0
    } else {
        remaining_room(&answer)
    };
    let (effects, cut_effects) = Page::fill(effects, Position::default(), room);
    answer.fields.effects = effects;
    if cut.or(cut_effects).is_some() && ctx.can_call("get_run") {
        answer.fields.cut = Some(Fix {
            tool: "get_run",
            arguments: json!({"run_id": written.loaded.run, "include": ["context"]}),
        });
    }
    Ok(answer)
}

/// Returns the fields of an event's data that didn't become fields of the context.
fn unmerged(loaded: &Loaded, event: &Event) -> Vec<String> {
    let workflow = &loaded.workflow;
    workflow.unmerged_fields(&event.event, event.data.as_ref())
}

/// Creates the answer to a refused event, with the request that would let the run raise it.
fn answer_refused(
    written: &Written<SendOutcome>,
    refused: &Refused,
) -> Result<About<Moved>, Problem> {
    let loaded = &written.loaded;
    answer_order(written, Moved::default()).map_err(|mut problem| {
        // Other refusals don't depend on what the data has set.
        if let Subject::Event { name, data } = &refused.subject
            && refused.code == "not_taken"
            && let Some(details) = problem.details.as_object_mut()
        {
            let fields = loaded.workflow.unmerged_fields(name, data.as_ref());
            if !fields.is_empty() {
                details.insert("not_merged".to_owned(), json!(fields));
            }
        }
        if refused.remedy(loaded) != Some(Remedy::AskReview) {
            return problem;
        }
        let arguments = json!({"run_id": loaded.run, "kind": "review", "prompt": "Is it good?"});
        problem.mended_by("request_human", arguments)
    })
}

/// Creates the answer to a report.
fn answer_report(
    ctx: &Ctx<'_>,
    before: &Loaded,
    advanced: &Advanced,
) -> Result<About<Moved>, Problem> {
    let Some(written) = &advanced.written else {
        if let Some(refused) = &advanced.refused {
            return Err(Problem::refused(refused));
        }
        let moved = Moved {
            run_id: Some(advanced.run.clone()),
            ..Moved::default()
        };
        return answer_about(&ctx.runs().load(&before.run)?, moved);
    };
    let from = leaves_before(ctx, before, written)?;
    let event = advanced.left.as_ref().or(advanced.entered.as_ref());
    let to = event.map_or(&from, |event| &event.step.leaves).clone();
    let moved = Moved {
        taken: event.is_some(),
        from: Some(from),
        to: Some(to),
        seq: written.records.last().map(|it| it.seq),
        status: advanced.step.as_ref().map(|it| it.status),
        asked: advanced.request.clone(),
        not_merged: event.map_or_else(Vec::new, |event| unmerged(&written.loaded, event)),
        ..Moved::default()
    };
    answer_order(written, moved)
}

/// Returns the active leaves before these records: a repeated call gets the answer of the first time.
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
