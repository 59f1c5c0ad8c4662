//! What every answer about a run carries: where it is, and what is next.

use serde_json::{Map, Value, json};
use statemark_store::Loaded;

use crate::problem::Problem;

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

/// Most characters of one state's instructions. Why: several regions may be active, and the whole reply has its bound.
const INSTRUCTIONS: usize = 4 << 10;

/// Where a run is and what is next.
pub(crate) fn next(loaded: &Loaded) -> Result<Value, Problem> {
    let view = loaded.view()?;
    let state = &loaded.state;
    let table = loaded.workflow.table();
    let mut hints = Map::new();
    let mut instructions = Map::new();
    let mut iterations = Vec::new();
    for active in &view.active {
        if let Some(text) = &active.instructions {
            let (text, _) = crate::bounds::cut(text, INSTRUCTIONS);
            instructions.insert(active.state.clone(), json!(text));
        }
        let Some(id) = table.state_named(&active.state) else {
            continue;
        };
        // The innermost state that says something wins.
        for around in table.chain(id) {
            let meta = loaded.workflow.state_meta(around);
            for key in HINTS {
                if let Some(value) = meta.get(*key) {
                    hints.entry(*key).or_insert_with(|| value.clone());
                }
            }
            let name = table.state_name(around);
            if let Some(most) = loaded.limit(name, "max_iterations") {
                let had = state.visits.get(name).map_or(0, |visit| visit.iterations);
                iterations.push(json!({"state": name, "iteration": had, "max_iterations": most}));
            }
        }
    }
    let mut next = json!({
        "run_id": loaded.run,
        "workflow": state.workflow,
        "status": view.status,
        "configuration": state.leaves,
        "is_final": view.status.is_over(),
        "legal": view.next,
        "tools": loaded.granted(),
        "transitions": state.transitions,
        "seq": loaded.head.seq,
    });
    if let Some(map) = next.as_object_mut() {
        let mut some = |key: &str, value: Value| {
            let is_empty = match &value {
                Value::Null => true,
                Value::Array(all) => all.is_empty(),
                Value::Object(all) => all.is_empty(),
                _ => false,
            };
            if !is_empty {
                map.insert(key.to_owned(), value);
            }
        };
        some("instructions", Value::Object(instructions));
        some("waiting_for", json!(view.waiting_for));
        some("reason", json!(view.reason));
        some("iterations", Value::Array(iterations));
        some("hints", Value::Object(hints));
    }
    Ok(next)
}
