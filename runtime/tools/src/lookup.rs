//! Lookups of names that callers give, with problems that name what exists.

use std::sync::Arc;

use serde_json::{Value, json};
use statemark_runs::{Loaded, RunError, RunId, Workflow};
use statemark_text::suggest::nearest;

use crate::{Catalog, Problem};

/// Returns the findings in the file that a name means, if it has errors: it defines no workflow then.
pub fn broken_spec(catalog: &dyn Catalog, id: &str) -> Option<Value> {
    let findings = catalog.lint_file(id)?;
    let errors = findings.pointer("/summary/errors").and_then(Value::as_u64);
    (errors != Some(0)).then_some(findings)
}

/// Creates the problem of an unknown workflow: it names the known ones, or the file's errors.
pub(crate) fn unknown_workflow(catalog: &dyn Catalog, id: &str) -> Problem {
    let known = catalog.ids();
    if catalog.rivals(id).is_empty() && broken_spec(catalog, id).is_some() {
        let message = format!(
            "`{id}` has errors, and defines no workflow before they are mended: `statemark lint` lists them"
        );
        return Problem::new("unknown_workflow", message)
            .with(json!({"known": known}))
            .mended_by("lint_workflow", json!({"workflow": id}));
    }
    RunError::no_workflow(catalog, id).into()
}

/// Finds a workflow. The problem of an unknown one names the known ones.
///
/// # Errors
///
/// There is no such workflow.
pub fn find_workflow(catalog: &dyn Catalog, id: &str) -> Result<Arc<Workflow>, Problem> {
    catalog
        .find(id)
        .ok_or_else(|| missing_workflow(catalog, id))
}

/// Creates the problem of an unknown workflow, which names the known ones.
pub fn missing_workflow(catalog: &dyn Catalog, id: &str) -> Problem {
    let error = RunError::no_workflow(catalog, id);
    let message = match &error {
        RunError::UnknownWorkflow { id, .. } => format!("there is no workflow `{id}`"),
        other => other.to_string(),
    };
    Problem::new("unknown_workflow", message).with(json!({"known": catalog.ids()}))
}

/// Checks that a run's workflow has a state, or had it: nothing ever comes of a misspelled one.
pub(crate) fn check_state_of_run(
    loaded: &Loaded,
    argument: &str,
    state: &str,
) -> Result<(), Problem> {
    let table = loaded.workflow.table();
    if table.state_named(state).is_some() || loaded.state.visits.contains_key(state) {
        return Ok(());
    }
    let known: Vec<&str> = loaded.workflow.visible_states().map(|it| it.1).collect();
    let workflow = &loaded.state.workflow;
    let message = match nearest(state, known.iter().copied()) {
        Some(near) => {
            format!("`{argument}`: `{workflow}` has no state `{state}`; did you mean `{near}`?")
        }
        None => {
            let known = known.join(", ");
            format!("`{argument}`: `{workflow}` has no state `{state}`; there are {known}")
        }
    };
    Err(Problem::new("unknown_state", message).with(json!({"known": known})))
}

/// Checks that a workflow has a state, if one is named.
///
/// # Errors
///
/// It has no such state.
pub fn check_state(workflow: &Workflow, state: Option<&str>) -> Result<(), Problem> {
    let Some(state) = state else {
        return Ok(());
    };
    let known: Vec<&str> = workflow.visible_states().map(|it| it.1).collect();
    if known.contains(&state) {
        return Ok(());
    }
    let id = workflow.id();
    let message = format!(
        "`{id}` has no state `{state}`; there are {}",
        known.join(", ")
    );
    Err(Problem::new("unknown_state", message).with(json!({"known": known})))
}

/// Converts the error of an unknown artifact or revision into a problem that leads to the list of them.
pub fn unknown_revision(run: &RunId, error: RunError) -> Problem {
    match error {
        RunError::Invalid(error) => Problem::new("no_revision", error.to_string())
            .mended_by("get_artifact", json!({"run_id": run})),
        error => error.into(),
    }
}
