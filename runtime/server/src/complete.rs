//! Completion of ids: workflows, runs, states, artifacts and their revisions.

use std::collections::BTreeMap;

use serde_json::Value;
use statemark_runs::{Query, RunId, Workflow};
use statemark_tools::Ctx;

use crate::{prompt, resource};

/// Most values of an answer, by the protocol.
pub(crate) const MAX_VALUES: usize = 100;

/// The owner of the argument to complete.
pub(crate) enum Owner<'a> {
    /// An argument of a prompt.
    Prompt(&'a str),
    /// A part of an address.
    Template(&'a str),
}

/// Completes an argument. Returns sorted values, and whether there are more.
pub(crate) fn complete(
    ctx: &Ctx<'_>,
    owner: &Owner<'_>,
    (argument, begin): (&str, &str),
    others: &BTreeMap<String, String>,
) -> (Vec<String>, bool) {
    let is_offered = match owner {
        Owner::Prompt(_) => argument != "run_id" || ctx.offers("list_runs"),
        Owner::Template(template) => resource::has_template(ctx, template),
    };
    if !is_offered {
        return (Vec::new(), false);
    }
    let other = |name: &str| others.get(name).map(String::as_str);
    let found = match (owner, argument) {
        (Owner::Prompt(name), "run_id") => match name.strip_prefix(prompt::DRIVE) {
            Some(workflow) => runs(ctx, Some(workflow), begin),
            None => Vec::new(),
        },
        (Owner::Prompt(prompt::AUTHOR), "workflow") | (Owner::Template(_), "workflow") => {
            ctx.catalog().ids()
        }
        (Owner::Template(_), "run") => runs(ctx, None, begin),
        (Owner::Template(_), "state") => names(ctx, other("workflow"), states),
        (Owner::Template(template), "artifact") if template.contains("{workflow}") => {
            names(ctx, other("workflow"), contracts)
        }
        (Owner::Template(_), "artifact") => artifacts(ctx, other("run")),
        (Owner::Template(_), "revision") => revisions(ctx, other("run"), other("artifact")),
        (Owner::Template(_), "page") => {
            let docs = ctx.docs();
            docs.pages().iter().map(|page| page.id.clone()).collect()
        }
        _ => Vec::new(),
    };
    let mut found: Vec<String> = found
        .into_iter()
        .filter(|it| it.starts_with(begin))
        .collect();
    found.sort();
    found.dedup();
    let more = found.len() > MAX_VALUES;
    found.truncate(MAX_VALUES);
    (found, more)
}

/// Lists the runs that the caller may touch; the newest if there are too many.
fn runs(ctx: &Ctx<'_>, workflow: Option<&str>, begin: &str) -> Vec<String> {
    if let Some(run) = ctx.bound_run() {
        return ctx
            .resolve_run(None)
            .map(|_| run.to_string())
            .into_iter()
            .collect();
    }
    let query = Query {
        workflow: workflow.map(str::to_owned),
        project: ctx.caller.project.clone(),
        prefix: (!begin.is_empty()).then(|| begin.to_owned()),
        limit: MAX_VALUES.saturating_add(1),
        ..Query::default()
    };
    let page = ctx.runs().store().list(&query).unwrap_or_default();
    page.heads
        .into_iter()
        .map(|head| head.run.to_string())
        .collect()
}

/// Lists names of a workflow, or of all of them.
fn names(
    ctx: &Ctx<'_>,
    workflow: Option<&str>,
    names_of: impl Fn(&Workflow) -> Vec<String>,
) -> Vec<String> {
    let catalog = ctx.catalog();
    let ids = workflow.map_or_else(|| catalog.ids(), |it| vec![it.to_owned()]);
    let workflows = ids.iter().filter_map(|id| catalog.find(id));
    workflows.flat_map(|workflow| names_of(&workflow)).collect()
}

fn states(workflow: &Workflow) -> Vec<String> {
    let names = workflow.visible_states().map(|(_, name)| name.to_owned());
    names.collect()
}

fn contracts(workflow: &Workflow) -> Vec<String> {
    let all = workflow.meta().get("artifacts").and_then(Value::as_object);
    all.into_iter()
        .flat_map(|all| all.keys().cloned())
        .collect()
}

fn loaded(ctx: &Ctx<'_>, run: Option<&str>) -> Option<statemark_runs::Loaded> {
    let run: RunId = ctx.resolve_run(Some(run?)).ok()?;
    ctx.runs().load(&run).ok()
}

fn artifacts(ctx: &Ctx<'_>, run: Option<&str>) -> Vec<String> {
    let loaded = loaded(ctx, run);
    loaded
        .into_iter()
        .flat_map(|it| it.state.artifacts.keys().cloned().collect::<Vec<_>>())
        .collect()
}

fn revisions(ctx: &Ctx<'_>, run: Option<&str>, artifact: Option<&str>) -> Vec<String> {
    let Some((loaded, artifact)) = loaded(ctx, run).zip(artifact) else {
        return Vec::new();
    };
    let all = loaded.state.artifacts.get(artifact).into_iter().flatten();
    all.map(|it| it.artifact.revision.to_string()).collect()
}
