//! `create_workflow`: a spec becomes a file, if nothing is wrong with it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{Role, RunError};

use crate::catalog::{NewSpec, definition_text};
use crate::ctx::Ctx;
use crate::envelope::{Fields, into_fields, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file's name without its ending: letters, digits, `-` and `_`.
    name: String,
    /// A definition as JSON, for `<name>.workflow.json`; or give `markdown`.
    definition: Option<Map<String, Value>>,
    /// A document with a section `## STATE-MACHINE`, for `<name>.md`.
    markdown: Option<String>,
    /// Replace a file of that name.
    #[serde(default)]
    overwrite: bool,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("create_workflow", Set::Author, Annotations::DESTRUCTIVE),
        (
            "Create a workflow",
            "Writes a spec into the folder of specs, if it has no errors; runs can be started of it at once. Runs that go on \
             keep the machine that they began with.",
        ),
        &[
            ("id", "string"),
            ("hash", "string"),
            ("path", "string"),
            ("findings", "object"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let actor = ctx.actor();
    if actor.role < Role::Agent {
        return Err(RunError::ReadOnly { actor }.into());
    }
    let definition = input.definition.as_ref().map(definition_text);
    let (text, is_definition) = match (&definition, &input.markdown) {
        (Some(text), None) => (text, true),
        (None, Some(text)) => (text, false),
        _ => {
            return Err(Problem::new(
                "invalid_arguments",
                "give either `definition`, an object, or `markdown`, a document",
            ));
        }
    };
    let new = NewSpec {
        name: &input.name,
        text,
        is_definition,
        overwrite: input.overwrite,
    };
    let created = ctx.catalog().create(&new).map_err(|mut problem| {
        bound(&mut problem.details);
        problem
    })?;
    let mut answer = json!(created);
    bound(&mut answer);
    Ok(into_fields(answer))
}

/// As many findings as fit.
fn bound(value: &mut Value) {
    if let Some(found) = value.get_mut("findings").map(Value::take) {
        set_field(value, "findings", super::findings(found, 0));
    }
}
