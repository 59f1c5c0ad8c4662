//! What every answer about a run carries: where it is, and what is next. With it, the parts of a run that any answer can
//! have a page of.

use serde_json::{Map, Value, json};
use statemark_runs::runs::run_of_request;
use statemark_runs::{Legal, Loaded, RunId, RunView, Status};

use crate::bounds;
use crate::call::Call;
use crate::pages::{PartCursor, Place, page};
use crate::problem::Problem;
use crate::tool::Tool;
use crate::tools::artifacts;

/// What a state says to whoever executes it.
const HINTS: &[&str] = &[
    "model",
    "thinking_level",
    "model_ladder",
    "direct_execution",
    "blocked_env",
    "env_overrides",
    "allowed_commands",
    "max_edit_lines",
    "max_files_per_state",
    "context_budget_bytes",
];

/// Most bytes of it all. Why: a reply has 16 KiB, and tells something beside.
const ROOM: usize = 9 << 10;

/// Most bytes of a value that a guard reads.
const FACT: usize = 200;

/// Most bytes of the reason for which a run stands still.
const REASON: usize = 500;

/// The parts that may be large, with the most that each takes, in the order in which they take it.
const PARTS: [(&str, usize); 7] = [
    ("configuration", 1 << 10),
    ("waiting_for", 1 << 10),
    ("tools", 1 << 10),
    ("iterations", 512),
    ("legal", 3 << 10),
    ("instructions", 6 << 10),
    ("hints", 1 << 10),
];

/// Where a run is and what is next. What is too large for it is told by `get_run` with one of `cursors`.
pub(crate) fn next(loaded: &Loaded) -> Result<Value, Problem> {
    Ok(next_of(loaded, &loaded.view()?))
}

/// The same, for who has the run's view already: making it asks every guard.
pub(crate) fn next_of(loaded: &Loaded, view: &RunView) -> Value {
    let state = &loaded.state;
    let told = json!({
        "run_id": loaded.run,
        "workflow": state.workflow,
        "status": view.status,
        "is_final": view.status.is_over(),
        "transitions": state.transitions,
        "seq": loaded.head.seq,
    });
    let Value::Object(mut next) = told else {
        return Value::Null;
    };
    if let Some(reason) = &view.reason {
        let (reason, _) = bounds::cut(reason, REASON);
        next.insert("reason".to_owned(), json!(reason));
    }
    let mut room = ROOM;
    let mut cursors = Vec::new();
    for (name, most) in PARTS {
        let part = part(loaded, view, name).unwrap_or_default();
        let is_empty = part.as_array().is_some_and(Vec::is_empty)
            || part.as_object().is_some_and(Map::is_empty);
        if is_empty && !["configuration", "legal"].contains(&name) {
            continue;
        }
        let (told, rest) = page(part.clone(), Place::default(), most.min(room));
        room = room.saturating_sub(told.to_string().len());
        if let Some(place) = rest {
            cursors.push(PartCursor::of(name, &part, place).to_string());
        }
        next.insert(name.to_owned(), told);
    }
    if !cursors.is_empty() {
        next.insert("cursors".to_owned(), json!(cursors));
    }
    Value::Object(next)
}

/// What says of a run that it isn't as the caller thought, beside where it is and what is next.
const OUTDATED: [&str; 3] = ["conflict", "key_reused", "invalid_request"];

/// The same problem with what is next, where it is about a run that the arguments name or leave to the connection.
pub(crate) fn beside(
    call: &Call<'_>,
    tool: &Tool,
    (run, request): (Option<&str>, Option<&str>),
    mut problem: Problem,
) -> Problem {
    if !OUTDATED.contains(&problem.code.as_str()) || !tool.is_about_a_run() {
        return problem;
    }
    let asked = request.and_then(run_of_request);
    // What begins a run isn't about one that it doesn't name.
    let is_left_out = run.is_none() && asked.is_none() && tool.name == "start_run";
    let run = match run.or(asked.as_ref().map(RunId::as_str)) {
        _ if is_left_out => return problem,
        named => call.run(named),
    };
    let loaded = run.and_then(|run| Ok(call.desk.runs().load(&run)?));
    let Ok((loaded, next)) = loaded.and_then(|it| next(&it).map(|next| (it, next))) else {
        return problem;
    };
    match &mut problem.details {
        Value::Object(map) => drop(map.insert("next".to_owned(), next)),
        Value::Null => problem.details = json!({"next": next}),
        _ => {}
    }
    if problem.code == "conflict" && problem.fix.is_none() {
        return problem.mended_by("get_run", json!({"run_id": loaded.run}));
    }
    problem
}

/// A part of a run, whole; nothing if there is no such part.
pub(crate) fn part(loaded: &Loaded, view: &RunView, name: &str) -> Option<Value> {
    let state = &loaded.state;
    Some(match name {
        "configuration" => json!(state.leaves),
        "waiting_for" => by_id(json!(view.waiting_for)),
        "legal" => legal(loaded, view),
        "tools" => tools(loaded),
        "instructions" => {
            let active = view.active.iter();
            let said =
                active.filter_map(|it| Some((it.state.clone(), json!(it.instructions.as_ref()?))));
            Value::Object(said.collect())
        }
        "iterations" => iterations(loaded),
        "hints" => hints(loaded),
        "steps" => json!(view.steps),
        "visits" => json!(state.visits),
        "context" => json!(view.context),
        "artifacts" => artifacts::all_told(loaded),
        "requests" => by_id(json!(view.requests)),
        "children" => json!(state.children),
        "config" => loaded.workflow.meta().clone(),
        _ => return None,
    })
}

/// What events could do, those first that can be taken; of long values, the beginning.
fn legal(loaded: &Loaded, view: &RunView) -> Value {
    let request = loaded.state.held_by().map(|it| &it.opened.request);
    let mut all: Vec<&Legal> = view.next.iter().collect();
    all.sort_by_key(|it| !it.enabled);
    let all = all.into_iter().map(|it| {
        let mut told = json!(it);
        if let Value::Object(map) = &mut told {
            let waits = it.held_by.as_ref();
            let waits = waits.is_some_and(|it| it.code == "waiting_for_request");
            if let Some(request) = request.filter(|_| waits) {
                map.insert("waits_for".to_owned(), json!(request));
            }
            // A number in the table is nothing to a caller.
            map.remove("transition");
            map.values_mut().for_each(shorten);
        }
        told
    });
    Value::Array(all.collect())
}

/// A list in which requests are called as the arguments of tools call them.
pub(crate) fn by_id(mut all: Value) -> Value {
    for one in all.as_array_mut().into_iter().flatten() {
        if let Value::Object(map) = one
            && let Some(id) = map.remove("request")
        {
            map.insert("request_id".to_owned(), id);
        }
    }
    all
}

/// Cuts long values of facts, however deep they stand.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(value) = map.get_mut("value") {
                let text = value.to_string();
                if let (cut, true) = bounds::cut(&text, FACT) {
                    *value = json!(format!("{cut}…"));
                }
                return;
            }
            map.values_mut().for_each(shorten);
        }
        Value::Array(all) => all.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// What the active states grant; `all` where they don't restrict it. Nothing is where no call has a place.
fn tools(loaded: &Loaded) -> Value {
    let status = loaded.state.status();
    if status.is_over() || status == Status::Paused {
        return json!({"allowed": []});
    }
    let granted = loaded.grants();
    let mut told = match granted.allowed {
        Some(allowed) => json!({"allowed": allowed}),
        None => json!({"all": true}),
    };
    if let Value::Object(map) = &mut told
        && !granted.disallowed.is_empty()
    {
        map.insert("disallowed".to_owned(), json!(granted.disallowed));
    }
    told
}

fn iterations(loaded: &Loaded) -> Value {
    let table = loaded.workflow.table();
    let mut told: Vec<Value> = Vec::new();
    for leaf in &loaded.state.leaves {
        let chain = table.state_named(leaf).map(|id| table.chain(id));
        for around in chain.into_iter().flatten() {
            let name = table.state_name(around);
            let Some(most) = loaded.limit(name, "max_iterations") else {
                continue;
            };
            let visit = loaded.state.visits.get(name);
            let had = visit.map_or(0, |visit| visit.iterations);
            let one = json!({"state": name, "iteration": had, "max_iterations": most});
            // Regions may stand in the same state.
            if !told.contains(&one) {
                told.push(one);
            }
        }
    }
    Value::Array(told)
}

/// What the active states say to whoever executes them; the innermost one that says something wins.
fn hints(loaded: &Loaded) -> Value {
    let table = loaded.workflow.table();
    let mut hints = Map::new();
    for leaf in &loaded.state.leaves {
        let chain = table.state_named(leaf).map(|id| table.chain(id));
        for around in chain.into_iter().flatten() {
            let meta = loaded.workflow.state_meta(around);
            for key in HINTS {
                if let Some(value) = meta.get(*key) {
                    hints.entry(*key).or_insert_with(|| value.clone());
                }
            }
        }
    }
    Value::Object(hints)
}
