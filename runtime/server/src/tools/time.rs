//! Going back, branching off, looking back.

mod checkpoint;
mod fork_run;
mod get_timeline;
mod migrate_run;
mod rewind_run;
mod verify_run;

use serde_json::{Map, Value, json};

use crate::tool::Tool;

/// Most items of each list of a plan.
const MOST: usize = 20;

pub(super) fn all() -> Vec<Tool> {
    vec![
        get_timeline::tool(),
        fork_run::tool(),
        rewind_run::tool(),
        verify_run::tool(),
        migrate_run::tool(),
        checkpoint::tool(),
    ]
}

/// A plan with at most so many items of each list; how many there are of longer ones is in `counts`. What is empty isn't
/// told.
fn told(plan: Value) -> Map<String, Value> {
    let Value::Object(mut plan) = plan else {
        return Map::new();
    };
    let mut counts = Map::new();
    for (key, value) in &mut plan {
        let count = match value {
            Value::Array(all) => {
                let count = all.len();
                all.truncate(MOST);
                count
            }
            Value::Object(all) => {
                let count = all.len();
                let rest: Vec<String> = all.keys().skip(MOST).cloned().collect();
                rest.iter().for_each(|key| drop(all.remove(key)));
                count
            }
            _ => continue,
        };
        if count > MOST {
            counts.insert(key.clone(), json!(count));
        }
    }
    plan.retain(|_, value| {
        let is_empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        !is_empty && !value.is_null()
    });
    if !counts.is_empty() {
        plan.insert("counts".to_owned(), Value::Object(counts));
    }
    plan
}
