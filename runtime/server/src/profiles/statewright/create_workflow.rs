//! `statewright_create_workflow`: a definition becomes a workflow.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{Role, RunError};

use crate::catalog::{NewSpec, definition_text};
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::profiles::words;
use crate::tool::{Annotations, Tool};

/// Most findings that an error names. Why: who has a hundred mends the first ones first.
const NAMED: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Workflow name (lowercase, hyphens, e.g. data-pipeline).
    name: String,
    /// Full workflow definition.
    definition: Map<String, Value>,
}

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("statewright_create_workflow", Set::Statewright, Annotations::IDEMPOTENT),
        (
            "Create a workflow",
            "Create a new workflow from a JSON definition. One that is there already isn't replaced.",
        ),
        words,
        run,
    )
    .equivalent_to("create_workflow")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let actor = ctx.actor();
    if actor.role < Role::Agent {
        return Err(RunError::ReadOnly { actor }.into());
    }
    let name = &input.name;
    let mut definition = input.definition.clone();
    // It is loaded by its name, which has to be the machine's.
    let id = definition.entry("id").or_insert_with(|| json!(name));
    if *id != json!(name) {
        let message = format!(
            "Invalid workflow '{name}': its definition's `id` is {id}; make both the same."
        );
        return Err(Problem::new("invalid_arguments", message));
    }
    let text = definition_text(&definition);
    let new = NewSpec {
        name,
        text: &text,
        is_definition: true,
        overwrite: false,
    };
    let created = ctx
        .catalog()
        .create(&new)
        .map_err(|problem| invalid(name, problem))?;
    Ok(json!({
        "created": true,
        "name": created.id,
        "path": created.path,
        "unchanged": created.unchanged,
    }))
}

/// The problem with its findings in the text, since Statewright's errors have nothing else.
fn invalid(name: &str, mut problem: Problem) -> Problem {
    let found = problem.details.pointer("/findings/diagnostics");
    let found = found.and_then(Value::as_array).into_iter().flatten();
    let text = |it: &Value, key: &str| {
        it.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let lines = found
        .take(NAMED)
        .map(|it| format!("\n- {} {}", text(it, "code"), text(it, "message")));
    let lines: String = lines.collect();
    problem.message = format!("Invalid workflow '{name}': {}{lines}", problem.message);
    problem
}
