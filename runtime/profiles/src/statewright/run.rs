//! Tools on the session's run: its state, transitions, pauses and the end.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::{Opened, Refused};
use statemark_runs::{
    CancelRun, Claims, ForceState, Legal, Loaded, PauseRun, Question, Role, SendEvent, SendOutcome,
    Status, Unmet, Written,
};
use statemark_text::suggest::nearest;
use statemark_tools::envelope::next::{hints, iterations, rename_request_ids};
use statemark_tools::envelope::{into_fields, set_field};
use statemark_tools::lookup::check_state;
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Tool, Work};

use super::{SessionInput, active, driven, map_status, require_live, to_call, tool};
use crate::execute;

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "statewright_get_state",
            title: "Get the state",
            description: "Get the current state, its tools and instructions, the available transitions, and the iteration count.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("get_run"),
            run: get_state,
        }),
        tool(&ProfileTool {
            name: "statewright_transition",
            title: "Transition",
            description: "Transition to a new state by emitting an event, with data for the context and the guards.",
            annotations: Annotations::ADDITIVE,
            output: "",
            equivalent: Some("send_event"),
            run: transition,
        }),
        tool(&ProfileTool {
            name: "statewright_deactivate",
            title: "Deactivate",
            description: "Leave the workflow early: its run is cancelled. What its states withhold stays withheld unless the workflow says otherwise.",
            annotations: Annotations::DESTRUCTIVE,
            output: "",
            equivalent: Some("control_run"),
            run: deactivate,
        }),
        tool(&ProfileTool {
            name: "statewright_pause",
            title: "Pause",
            description: "Pause the workflow. Resume it later with statewright_load_workflow(name, resume=true).",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("control_run"),
            run: pause,
        }),
        tool(&ProfileTool {
            name: "statewright_force_state",
            title: "Force a state",
            description: "Force a state, bypassing guards and transitions. Only with meta.debug, and only by a person.",
            annotations: Annotations::DESTRUCTIVE,
            output: "",
            equivalent: Some("control_run"),
            run: force_state,
        }),
        tool(&ProfileTool {
            name: "statewright_run_agent",
            title: "Run an agent",
            description: "Run an agent that is held to the workflow's states, on one state or on the whole workflow.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("start_run"),
            run: run_agent,
        }),
    ]
}

fn get_state(ctx: &Ctx<'_>, input: &SessionInput) -> Outcome {
    let loaded = driven(ctx, input.session_id.as_deref())?;
    describe_state(ctx, &loaded).map(Value::Object)
}

/// Returns the state of a run as Statewright has it.
pub(super) fn describe_state(
    ctx: &Ctx<'_>,
    loaded: &Loaded,
) -> Result<Map<String, Value>, Problem> {
    let view = loaded.view()?;
    let hints = hints(loaded);
    let iterations = iterations(loaded);
    let innermost = iterations.get(0);
    let counter = |key: &str| innermost.and_then(|it| it.get(key)).cloned();
    let granted = loaded.grants();
    let is_over = view.status.is_over();
    let allowed = match granted.allowed {
        _ if is_over => Vec::new(),
        Some(allowed) => allowed,
        None => vec!["*".to_owned()],
    };
    let texts = view.active.iter().filter_map(|it| it.instructions.clone());
    let texts: Vec<String> = texts.collect();
    let own = loaded.state.leaves.first();
    let own = own.and_then(|leaf| loaded.state.visits.get(leaf));
    let iteration = counter("iteration");
    let iteration = iteration.unwrap_or_else(|| json!(own.map_or(0, |visit| visit.iterations)));
    let instructions = (!texts.is_empty()).then(|| texts.join("\n\n"));
    let transitions: Vec<Value> = view.next.iter().map(describe_transition).collect();
    let mut answer = into_fields(json!({
        "state": active(loaded),
        "is_final": is_over,
        "allowed_tools": allowed,
        "transitions": transitions,
        "iteration": iteration,
        "max_iterations": counter("max_iterations"),
        "instructions": instructions,
        "transition_count": loaded.state.transitions,
        "blocked_env": null,
        "env_overrides": null,
        "context": view.context,
        "guards": guards(loaded, &view.next),
        "run_id": loaded.run,
        "status": map_status(view.status),
    }));
    // The other keys of a state keep their names.
    for (key, value) in hints.as_object().into_iter().flatten() {
        let value = ctx.runs().redactor().redact_value(value);
        answer.insert(key.to_owned(), value);
    }
    if !granted.disallowed.is_empty() {
        answer.insert("disallowed_tools".to_owned(), json!(granted.disallowed));
    }
    if !view.waiting_for.is_empty() {
        let waiting_for = rename_request_ids(json!(view.waiting_for));
        answer.insert("waiting_for".to_owned(), waiting_for);
    }
    Ok(answer)
}

/// Returns a transition. One that isn't enabled now says what blocks it.
fn describe_transition(legal: &Legal) -> Value {
    let target = match legal.to.as_slice() {
        [] => legal.from.clone(),
        all => all.join(", "),
    };
    let mut answer = json!({"event": legal.event, "target": target});
    if legal.requires_approval {
        set_field(&mut answer, "requires_approval", json!(true));
    }
    let unmet = legal.unmet.iter().map(Unmet::describe);
    let missing = legal.lacks.iter().map(|it| format!("`{it}` is missing"));
    let held = legal.held_by.iter().map(|it| it.reason.clone());
    let blocked: Vec<String> = unmet.chain(missing).chain(held).collect();
    if !blocked.is_empty() {
        set_field(&mut answer, "blocked_by", json!(blocked));
    }
    answer
}

/// Returns the guards of transitions, by the names of the definition, else by their texts.
fn guards(loaded: &Loaded, transitions: &[Legal]) -> Value {
    let names = loaded.workflow.meta().get("guards");
    let names = names.and_then(Value::as_object);
    let mut guards = Map::new();
    for question in transitions
        .iter()
        .flat_map(|it| loaded.legality().questions(it.transition))
    {
        let comparison = describe_question(&question);
        let mut named = names.into_iter().flatten();
        let name = named.find_map(|(name, guard)| (*guard == comparison).then(|| name.clone()));
        guards.insert(name.unwrap_or(question.text), comparison);
    }
    if guards.is_empty() {
        return Value::Null;
    }
    Value::Object(guards)
}

fn describe_question(question: &Question) -> Value {
    match &question.comparison {
        Some((field, op, value)) => json!({"field": field, "op": op, "value": value}),
        None => json!({"expression": question.text}),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Transition {
    /// The transition event name (e.g. DONE, FAIL, PLAN_READY).
    event: String,
    /// Context data to merge; guards of the transition see it.
    data: Option<Map<String, Value>>,
    /// Your claims: guards that nothing defines, in the words that the refusal names.
    claims: Option<Vec<String>>,
    /// The session of the run, as it was given to load_workflow.
    session_id: Option<String>,
}

fn transition(ctx: &Ctx<'_>, input: &Transition) -> Outcome {
    let before = driven(ctx, input.session_id.as_deref())?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let claims = Claims::new(input.claims.clone().unwrap_or_default());
    let claims = claims.map_err(|error| Problem::argument("claims", error.to_string()))?;
    let send = SendEvent {
        event: input.event.clone(),
        data: input.data.clone().map(Value::Object),
        claims,
    };
    let written = ctx.runs().execute(&order, &send)?;
    match &written.outcome {
        SendOutcome::Taken(_) => Ok(describe_taken(&before, &written)),
        SendOutcome::Asked(opened) => describe_pending(ctx, &before, &written, opened, &send),
        SendOutcome::Refused(refused) => Err(describe_refusal(ctx, &before, &send, refused)?),
    }
}

fn describe_taken(before: &Loaded, written: &Written<SendOutcome>) -> Value {
    json!({
        "transitioned": true,
        "from": active(before),
        "to": active(&written.loaded),
        "requires_approval": false,
        "transition_count": written.loaded.state.transitions,
        "usage": usage(&written.loaded),
    })
}

/// Returns a transition that waits for a person.
fn describe_pending(
    ctx: &Ctx<'_>,
    before: &Loaded,
    written: &Written<SendOutcome>,
    opened: &Opened,
    send: &SendEvent,
) -> Outcome {
    let legal = before.legality().transitions_of(None, send.data.as_ref())?;
    let mut enabled = legal.into_iter().filter(|it| it.enabled);
    let enabled = enabled.find(|it| it.event == send.event);
    let to = enabled.map(|it| it.to.join(", "));
    Ok(json!({
        "transitioned": false,
        "from": active(before),
        "to": to,
        "requires_approval": true,
        "request_id": opened.request,
        "message": format!(
            "{} The transition is made as soon as a person approves request `{}`.{}",
            opened.prompt,
            opened.request,
            to_call(ctx, "statewright_get_state", " Look with statewright_get_state."),
        ),
        "transition_count": written.loaded.state.transitions,
        "usage": usage(&written.loaded),
    }))
}

/// Returns the usage: nothing is metered.
fn usage(loaded: &Loaded) -> Value {
    json!({"transitions": loaded.state.transitions, "limit": null, "remaining": null})
}

/// Returns a refusal, in Statewright's words where it has some.
fn describe_refusal(
    ctx: &Ctx<'_>,
    before: &Loaded,
    send: &SendEvent,
    refused: &Refused,
) -> Result<Problem, Problem> {
    let (event, state) = (&send.event, active(before));
    let reason = &refused.reason;
    let message = match refused.code.as_str() {
        "ended" => format!("Cannot transition: state machine is in final state '{state}'."),
        "waiting_for_request" => format!(
            "A transition is pending approval. Approve or reject it before transitioning. ({reason})"
        ),
        "not_taken" => {
            let legal = before.legality().transitions_of(None, send.data.as_ref())?;
            let unmet = legal.iter().filter(|it| it.event == *event);
            let unmet: Vec<String> = unmet
                .flat_map(|it| &it.unmet)
                .map(|it| it.describe())
                .collect();
            if unmet.is_empty() {
                unknown_event(before, event, refused)
            } else {
                format!(
                    "Transition '{event}' from state '{state}' was blocked by a guard condition. {}",
                    unmet.join(", ")
                )
            }
        }
        "unknown_event" => unknown_event(before, event, refused),
        "paused" => {
            let workflow = &before.state.workflow;
            let resume = format!(
                " Resume it with statewright_load_workflow(name=\"{workflow}\", resume=true)."
            );
            let resume = to_call(ctx, "statewright_load_workflow", &resume);
            format!(
                "Transition '{event}' from state '{state}' was refused: the run is paused.{resume}"
            )
        }
        _ => format!("Transition '{event}' from state '{state}' was refused: {reason}"),
    };
    Ok(Problem::new(refused.code.clone(), message))
}

/// Returns the refusal of an event that no transition takes.
fn unknown_event(before: &Loaded, event: &str, refused: &Refused) -> String {
    let state = active(before);
    let legal = match refused.legal.as_slice() {
        [] => "none is available now".to_owned(),
        events => format!("available are {}", events.join(", ")),
    };
    // A misspelled event may be one whose guard doesn't hold.
    let here = before.legality().transitions().unwrap_or_default();
    let nearest = nearest(event, here.iter().map(|it| it.event.as_str()));
    let hint = nearest.map_or_else(String::new, |it| format!(". Did you mean '{it}'?"));
    format!("No transition for event '{event}' in state '{state}': {legal}{hint}")
}

fn deactivate(ctx: &Ctx<'_>, input: &SessionInput) -> Outcome {
    let before = require_live(ctx, input.session_id.as_deref())?;
    let written = execute(ctx, &before.run, &CancelRun::because("deactivated"))?;
    Ok(json!({
        "deactivated": true,
        "state": active(&before),
        "workflow": before.state.workflow,
        "run_id": before.run,
        "status": map_status(Status::Cancelled),
        "released": written.loaded.releases_tools(),
    }))
}

fn pause(ctx: &Ctx<'_>, input: &SessionInput) -> Outcome {
    let before = require_live(ctx, input.session_id.as_deref())?;
    execute(ctx, &before.run, &PauseRun::default())?;
    Ok(json!({
        "paused": true,
        "state": active(&before),
        "workflow": before.state.workflow,
        "run_id": before.run,
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForceArguments {
    /// Target state name to jump to.
    state: String,
    /// Context values to merge, on top of the existing context.
    #[serde(default)]
    context: Map<String, Value>,
    /// The session of the run, as it was given to load_workflow.
    session_id: Option<String>,
}

fn force_state(ctx: &Ctx<'_>, input: &ForceArguments) -> Outcome {
    let before = driven(ctx, input.session_id.as_deref())?;
    let order = ctx.order(before.run.clone(), None, None)?;
    let force = ForceState {
        to: input.state.clone(),
        context: input.context.clone(),
        reason: None,
    };
    let written = ctx.runs().execute(&order, &force)?;
    if let Some(refused) = written.refusal() {
        let is_debug = before.policy("debug") == Some(&json!(true));
        let message = match refused.code.as_str() {
            _ if !is_debug => {
                "statewright_force_state is only available when meta.debug is true.".to_owned()
            }
            "unknown_state" => format!(
                "State '{}' does not exist in the workflow: {}",
                input.state, refused.reason
            ),
            "not_a_person" if ctx.actor().role < Role::Person => {
                format!(
                    "statewright_force_state needs a person's credential: {}",
                    refused.reason
                )
            }
            _ => refused.reason.clone(),
        };
        return Err(Problem::new(refused.code.clone(), message));
    }
    let mut answer = describe_state(ctx, &written.loaded)?;
    answer.insert("forced".to_owned(), json!(true));
    answer.insert("from".to_owned(), json!(active(&before)));
    answer.insert("to".to_owned(), json!(active(&written.loaded)));
    Ok(Value::Object(answer))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunAgent {
    /// The work, with the details that the agent needs.
    task: String,
    /// Execute only this state.
    state: Option<String>,
    /// The model to use.
    model: Option<String>,
    /// The endpoint of the model's API.
    ollama_url: Option<String>,
    /// The working directory.
    workdir: Option<String>,
    /// The session of the run, as it was given to load_workflow.
    session_id: Option<String>,
}

fn run_agent(ctx: &Ctx<'_>, input: &RunAgent) -> Outcome {
    if input.task.trim().is_empty() {
        return Err(Problem::argument(
            "task",
            "it is empty; say what is to be done",
        ));
    }
    let loaded = driven(ctx, input.session_id.as_deref())?;
    check_state(&loaded.workflow, input.state.as_deref())?;
    if let Some(executor) = ctx.executor() {
        let work = Work {
            task: Some(input.task.clone()),
            state: input.state.clone(),
            model: input.model.clone(),
            url: input.ollama_url.clone(),
            workdir: input.workdir.clone(),
            ..Work::on(loaded.run.clone())
        };
        return Err(ctx.work(executor, work, move |ctx, worked| {
            let loaded = ctx.runs().catch_up(&loaded.run)?;
            let mut answer = describe_state(ctx, &loaded)?;
            answer.insert("agent".to_owned(), json!(worked));
            Ok(Value::Object(answer))
        }));
    }
    let then = to_call(
        ctx,
        "statewright_transition",
        ", then call statewright_transition",
    );
    Err(Problem::new(
        "executor_unavailable",
        format!(
            "executor_unavailable: no executor is configured. Do the state's work with your own tools{then}."
        ),
    ))
}
