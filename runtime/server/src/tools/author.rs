//! Writing workflows, and reading how. What these need is a role, not a state.

mod create_workflow;
mod lint_workflow;
mod search_docs;
mod simulate_workflow;

use serde_json::{Value, json};

use crate::envelope::bounds;
use crate::envelope::set_field;
use crate::tool::Tool;

pub(super) fn all() -> Vec<Tool> {
    vec![
        lint_workflow::tool(),
        create_workflow::tool(),
        simulate_workflow::tool(),
        search_docs::tool(),
    ]
}

/// Findings in the shape of `lint --output-format json`, those behind the first `from`, as many as fit; the summary is
/// always that of all.
fn findings(mut found: Value, from: usize) -> Value {
    let all = match found.get_mut("diagnostics").map(Value::take) {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    };
    let count = all.len();
    let rest: Vec<Value> = all.into_iter().skip(from).collect();
    let beside = found.to_string().len().saturating_add(bounds::ENVELOPE);
    let shown = bounds::take_fitting(rest, beside);
    let behind = from.saturating_add(shown.len());
    set_field(&mut found, "diagnostics", json!(shown));
    if behind < count {
        set_field(&mut found, "cursor", json!(behind));
    }
    found
}
