//! `lint_workflow`: what is wrong with a spec, and how to mend it.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::ctx::Ctx;
use crate::envelope::{Fields, into_fields};
use crate::lookup::unknown_workflow;
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The id of a workflow that is served, or the name or path of a served file, which may have errors; else give `text`.
    workflow: Option<String>,
    /// A spec that need not be in a file.
    text: Option<String>,
    /// The name of its file, which tells the format: `x.md` (if it isn't given), `x.workflow.json`, `x.mmd` or `x.scxml`.
    name: Option<String>,
    /// Leave out so many findings.
    #[serde(default)]
    cursor: usize,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("lint_workflow", Set::Author, Annotations::READ_ONLY),
        (
            "Lint a workflow",
            "Every finding in a spec, each with its place, why, and how to mend it. `search_docs` with a code such as SM304 \
             gives its page.",
        ),
        &[
            ("version", "integer"),
            ("diagnostics", "array"),
            ("summary", "object"),
            ("note", "string"),
            ("example", "string"),
            ("cursor", "integer"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let catalog = ctx.catalog();
    let found = match (&input.workflow, &input.text) {
        (Some(word), None) => {
            let found = catalog.lint_file(word);
            found.ok_or_else(|| unknown_workflow(catalog, word))?
        }
        (None, Some(text)) => catalog.lint(input.name.as_deref().unwrap_or("workflow.md"), text),
        _ => {
            return Err(Problem::new(
                "invalid_arguments",
                "give either `workflow`, one that is served, or `text`, with a `name` that tells its format",
            ));
        }
    };
    Ok(into_fields(super::findings(found, input.cursor)))
}
