//! `statewright_get_state`: where the run is, what is granted, what leads on.

use serde_json::{Map, Value, json};
use statemark_runs::{Legal, Loaded, Question};

use super::{OfSession, active, driven, status};
use crate::ctx::Ctx;
use crate::envelope::next::{RunPart, rename_request_ids, run_part};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("statewright_get_state", Set::Statewright, Annotations::READ_ONLY),
        (
            "Get the state",
            "Get the current state, its tools and instructions, the available transitions, and the iteration count.",
        ),
        words,
        run,
    )
    .equivalent_to("get_run")
}

fn run(ctx: &Ctx<'_>, input: &OfSession) -> Outcome {
    let loaded = driven(ctx, input.session_id.as_deref())?;
    told(ctx, &loaded).map(Value::Object)
}

/// What is told of a run's state.
pub(super) fn told(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Map<String, Value>, Problem> {
    let view = loaded.view()?;
    let hints = run_part(loaded, &view, RunPart::Hints);
    let iterations = run_part(loaded, &view, RunPart::Iterations);
    let innermost = iterations.get(0);
    let counted = |key: &str| innermost.and_then(|it| it.get(key)).cloned();
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
    let iteration = counted("iteration");
    let iteration = iteration.unwrap_or_else(|| json!(own.map_or(0, |visit| visit.iterations)));
    let instructions = (!texts.is_empty()).then(|| texts.join("\n\n"));
    let transitions: Vec<Value> = view.next.iter().map(transition).collect();
    let mut told = json!({
        "state": active(loaded),
        "is_final": is_over,
        "allowed_tools": allowed,
        "transitions": transitions,
        "iteration": iteration,
        "max_iterations": counted("max_iterations"),
        "instructions": instructions,
        "transition_count": loaded.state.transitions,
        "blocked_env": null,
        "env_overrides": null,
        "context": view.context,
        "guards": guards(loaded, &view.next),
        "run_id": loaded.run,
        "status": status(view.status),
    });
    let Some(map) = told.as_object_mut() else {
        return Ok(Map::new());
    };
    // What Statewright's states say beside that is told under its own name.
    for (key, value) in hints.as_object().into_iter().flatten() {
        let value = ctx.runs().redactor().redact_value(value);
        map.insert(key.to_owned(), value);
    }
    if !granted.disallowed.is_empty() {
        map.insert("disallowed_tools".to_owned(), json!(granted.disallowed));
    }
    if !view.waiting_for.is_empty() {
        map.insert(
            "waiting_for".to_owned(),
            rename_request_ids(json!(view.waiting_for)),
        );
    }
    Ok(std::mem::take(map))
}

/// A way on; one that can't be taken now says what is in its way.
fn transition(legal: &Legal) -> Value {
    let target = match legal.to.as_slice() {
        [] => legal.from.clone(),
        all => all.join(", "),
    };
    let mut told = json!({"event": legal.event, "target": target});
    if let Some(map) = told.as_object_mut() {
        if legal.requires_approval {
            map.insert("requires_approval".to_owned(), json!(true));
        }
        let unmet = legal.unmet.iter().map(statemark_runs::Unmet::describe);
        let lacks = legal.lacks.iter().map(|it| format!("`{it}` is missing"));
        let held = legal.held_by.iter().map(|it| it.reason.clone());
        let blocked: Vec<String> = unmet.chain(lacks).chain(held).collect();
        if !blocked.is_empty() {
            map.insert("blocked_by".to_owned(), json!(blocked));
        }
    }
    told
}

/// What the guards of the ways on ask: by the names that the definition gives them, else by their texts.
fn guards(loaded: &Loaded, ways: &[Legal]) -> Value {
    let names = loaded.workflow.meta().get("guards");
    let names = names.and_then(Value::as_object);
    let mut guards = Map::new();
    for question in ways
        .iter()
        .flat_map(|it| loaded.legality().questions(it.transition))
    {
        let asked = asked(&question);
        let mut named = names.into_iter().flatten();
        let name = named.find_map(|(name, guard)| (*guard == asked).then(|| name.clone()));
        guards.insert(name.unwrap_or(question.text), asked);
    }
    if guards.is_empty() {
        return Value::Null;
    }
    Value::Object(guards)
}

fn asked(question: &Question) -> Value {
    match &question.comparison {
        Some((field, op, value)) => json!({"field": field, "op": op, "value": value}),
        None => json!({"expression": question.text}),
    }
}
