//! The field `next`: where a run is and what it can do.
//!
//! With it, the parts of a run that an answer can have a page of.

use serde_json::{Map, Value, json};
use statemark_runs::body::Artifact;
use statemark_runs::{Blocker, Legal, Loaded, RunView, Status};

use super::bounds;
use super::pages::{PartCursor, Position, paginate};
use crate::problem::Problem;

/// The keys by which a state guides its executor.
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

/// Most bytes of `next`. Why: a reply has 16 KiB, and other fields.
const MAX_NEXT: usize = 9 << 10;

/// Most bytes of a value that a guard reads.
const MAX_FACT: usize = 200;

/// Most bytes of the reason that a run has its status for.
const MAX_REASON: usize = 500;

/// The parts that may be large, with the most bytes of each, in the order in which they take their room.
const PARTS: [(&str, usize); 7] = [
    ("configuration", 1 << 10),
    ("waiting_for", 1 << 10),
    ("tools", 1 << 10),
    ("iterations", 512),
    ("legal", 3 << 10),
    ("instructions", 6 << 10),
    ("hints", 1 << 10),
];

/// Describes where a run is and what is next. What doesn't fit is reached by `get_run` with one of `cursors`.
pub(crate) fn describe_next(loaded: &Loaded) -> Result<Value, Problem> {
    Ok(describe_next_of_view(loaded, &loaded.view()?))
}

/// Describes what is next from a run's view. Why: to make a view evaluates every guard.
pub(crate) fn describe_next_of_view(loaded: &Loaded, view: &RunView) -> Value {
    let state = &loaded.state;
    let head = json!({
        "run_id": loaded.run,
        "workflow": state.workflow,
        "status": view.status,
        "is_final": view.status.is_over(),
        "transitions": state.transitions,
        "seq": loaded.head.seq,
    });
    let Value::Object(mut next) = head else {
        return Value::Null;
    };
    if let Some(reason) = &view.reason {
        let (reason, _) = bounds::truncate(reason, MAX_REASON);
        next.insert("reason".to_owned(), json!(reason));
    }
    let mut room = MAX_NEXT;
    let mut cursors = Vec::new();
    for (name, max) in PARTS {
        let part = run_part(loaded, view, name).unwrap_or_default();
        let is_empty = part.as_array().is_some_and(Vec::is_empty)
            || part.as_object().is_some_and(Map::is_empty);
        if is_empty && !["configuration", "legal"].contains(&name) {
            continue;
        }
        let (page, rest) = paginate(part.clone(), Position::default(), max.min(room));
        room = room.saturating_sub(page.to_string().len());
        if let Some(position) = rest {
            cursors.push(PartCursor::new(name, &part, position).to_string());
        }
        next.insert(name.to_owned(), page);
    }
    if !cursors.is_empty() {
        next.insert("cursors".to_owned(), json!(cursors));
    }
    Value::Object(next)
}

/// Returns a part of a run, whole; none if there is no such part.
pub(crate) fn run_part(loaded: &Loaded, view: &RunView, name: &str) -> Option<Value> {
    let state = &loaded.state;
    Some(match name {
        "configuration" => json!(state.leaves),
        "waiting_for" => rename_request_ids(json!(view.waiting_for)),
        "legal" => enabled_events(loaded, view),
        "tools" => granted_tools(loaded),
        "instructions" => instructions(view),
        "iterations" => iterations(loaded),
        "hints" => hints(loaded),
        "steps" => json!(view.steps),
        "visits" => json!(state.visits),
        "context" => json!(view.context),
        "artifacts" => list_artifacts(loaded),
        "requests" => rename_request_ids(json!(view.requests)),
        "children" => json!(state.children),
        "config" => loaded.workflow.meta().clone(),
        _ => return None,
    })
}

/// Returns the events with their guards, enabled ones first. Long values are cut.
fn enabled_events(loaded: &Loaded, view: &RunView) -> Value {
    let request = loaded.state.held_by().map(|it| &it.opened.request);
    let mut events: Vec<&Legal> = view.next.iter().collect();
    events.sort_by_key(|event| !event.enabled);
    let events = events.into_iter().map(|event| {
        let mut described = json!(event);
        if let Value::Object(map) = &mut described {
            let is_held = matches!(event.blocker, Some(Blocker::RequestFirst { .. }));
            if let Some(request) = request.filter(|_| is_held) {
                map.insert("waits_for".to_owned(), json!(request));
            }
            // A number in the table means nothing to a caller.
            map.remove("transition");
            map.values_mut().for_each(cut_facts);
        }
        described
    });
    Value::Array(events.collect())
}

/// Renames `request` to `request_id` in each item, as the arguments of tools name it.
pub(crate) fn rename_request_ids(mut items: Value) -> Value {
    for item in items.as_array_mut().into_iter().flatten() {
        if let Value::Object(map) = item
            && let Some(id) = map.remove("request")
        {
            map.insert("request_id".to_owned(), id);
        }
    }
    items
}

/// Cuts long values of facts, at any depth.
fn cut_facts(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(value) = map.get_mut("value") {
                let text = value.to_string();
                if let (cut, true) = bounds::truncate(&text, MAX_FACT) {
                    *value = json!(format!("{cut}…"));
                }
                return;
            }
            map.values_mut().for_each(cut_facts);
        }
        Value::Array(all) => all.iter_mut().for_each(cut_facts),
        _ => {}
    }
}

/// Returns the tools that the active states grant: `all` if they don't restrict any, none if no call is taken.
fn granted_tools(loaded: &Loaded) -> Value {
    let status = loaded.state.status();
    if status.is_over() || status == Status::Paused {
        return json!({"allowed": []});
    }
    let granted = loaded.grants();
    let mut tools = match granted.allowed {
        Some(allowed) => json!({"allowed": allowed}),
        None => json!({"all": true}),
    };
    if let Value::Object(map) = &mut tools
        && !granted.disallowed.is_empty()
    {
        map.insert("disallowed".to_owned(), json!(granted.disallowed));
    }
    tools
}

/// Returns the instructions of the active states, by state.
fn instructions(view: &RunView) -> Value {
    let active = view.active.iter();
    let instructions = active.filter_map(|active| {
        let instructions = active.instructions.as_ref()?;
        Some((active.state.clone(), json!(instructions)))
    });
    Value::Object(instructions.collect())
}

/// Returns the counted tool calls of each active state that limits them.
fn iterations(loaded: &Loaded) -> Value {
    let table = loaded.workflow.table();
    let mut counts: Vec<Value> = Vec::new();
    for leaf in &loaded.state.leaves {
        let chain = table.state_named(leaf).map(|id| table.chain(id));
        for ancestor in chain.into_iter().flatten() {
            let name = table.state_name(ancestor);
            let Some(max) = loaded.limit(name, "max_iterations") else {
                continue;
            };
            let visit = loaded.state.visits.get(name);
            let count = visit.map_or(0, |visit| visit.iterations);
            let item = json!({"state": name, "iteration": count, "max_iterations": max});
            // Leaves of several regions share ancestors.
            if !counts.contains(&item) {
                counts.push(item);
            }
        }
    }
    Value::Array(counts)
}

/// Returns the guidance of the active states to their executor; the innermost state that has a key wins.
fn hints(loaded: &Loaded) -> Value {
    let table = loaded.workflow.table();
    let mut hints = Map::new();
    for leaf in &loaded.state.leaves {
        let chain = table.state_named(leaf).map(|id| table.chain(id));
        for ancestor in chain.into_iter().flatten() {
            let meta = loaded.workflow.state_meta(ancestor);
            for key in HINTS {
                if let Some(value) = meta.get(*key) {
                    hints.entry(*key).or_insert_with(|| value.clone());
                }
            }
        }
    }
    Value::Object(hints)
}

/// Lists the current revision of each artifact; the last one if none is current.
pub(crate) fn list_artifacts(loaded: &Loaded) -> Value {
    let state = &loaded.state;
    let artifacts = state.artifacts.iter().filter_map(|(name, revisions)| {
        let current = state.current(name).or(revisions.last())?;
        let mut artifact = describe_artifact(&current.artifact);
        artifact.insert("revisions".to_owned(), json!(revisions.len()));
        Some(Value::Object(artifact))
    });
    artifacts.collect()
}

/// Describes a revision of an artifact without its content.
pub(crate) fn describe_artifact(artifact: &Artifact) -> Map<String, Value> {
    let fields = [
        ("name", json!(artifact.name)),
        ("revision", json!(artifact.revision)),
        ("stage", json!(artifact.stage)),
        ("valid", json!(artifact.holds())),
        ("size", json!(artifact.size)),
        ("hash", json!(artifact.content)),
        ("media", json!(artifact.media)),
        ("path", json!(artifact.path)),
        ("storage_root", json!(artifact.storage_root)),
        ("step", json!(artifact.step)),
        ("unit", json!(artifact.unit)),
        ("reason", json!(artifact.reason)),
    ];
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}
