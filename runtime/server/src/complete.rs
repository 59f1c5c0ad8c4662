//! Ids that begin as something does: workflows, runs, states, artifacts and their revisions.

use std::collections::BTreeMap;

use serde_json::Value;
use statemark_runs::{Query, RunId};

use crate::call::Call;
use crate::{prompt, resource};

/// Most that are given at once, by the protocol.
pub(crate) const MOST: usize = 100;

/// What is completed.
pub(crate) enum Of<'a> {
    /// An argument of a prompt.
    Prompt(&'a str),
    /// A part of an address.
    Template(&'a str),
}

/// The values that an argument may go on to, sorted; and whether there are more.
pub(crate) fn complete(
    call: &Call<'_>,
    of: &Of<'_>,
    (argument, begun): (&str, &str),
    others: &BTreeMap<String, String>,
) -> (Vec<String>, bool) {
    let desk = call.desk;
    let is_offered = match of {
        Of::Prompt(_) => argument != "run_id" || desk.own("list_runs").is_some(),
        Of::Template(template) => resource::has_template(desk, template),
    };
    if !is_offered {
        return (Vec::new(), false);
    }
    let other = |name: &str| others.get(name).map(String::as_str);
    let found = match (of, argument) {
        (Of::Prompt(name), "run_id") => match name.strip_prefix(prompt::DRIVE) {
            Some(workflow) => runs(call, Some(workflow), begun),
            None => Vec::new(),
        },
        (Of::Prompt(prompt::AUTHOR), "workflow") | (Of::Template(_), "workflow") => {
            call.desk.catalog().ids()
        }
        (Of::Template(_), "run") => runs(call, None, begun),
        (Of::Template(_), "state") => states(call, other("workflow")),
        (Of::Template(template), "artifact") if template.contains("{workflow}") => {
            contracts(call, other("workflow"))
        }
        (Of::Template(_), "artifact") => artifacts(call, other("run")),
        (Of::Template(_), "revision") => revisions(call, other("run"), other("artifact")),
        (Of::Template(_), "page") => {
            let docs = call.desk.docs();
            docs.pages().iter().map(|page| page.id.clone()).collect()
        }
        _ => Vec::new(),
    };
    let mut found: Vec<String> = found
        .into_iter()
        .filter(|it| it.starts_with(begun))
        .collect();
    found.sort();
    found.dedup();
    let more = found.len() > MOST;
    found.truncate(MOST);
    (found, more)
}

/// The runs that the caller may touch, newest first where there are too many.
fn runs(call: &Call<'_>, workflow: Option<&str>, begun: &str) -> Vec<String> {
    if let Some(run) = call.bound() {
        return call
            .run(None)
            .map(|_| run.to_string())
            .into_iter()
            .collect();
    }
    let query = Query {
        workflow: workflow.map(str::to_owned),
        project: call.caller.project.clone(),
        prefix: (!begun.is_empty()).then(|| begun.to_owned()),
        limit: MOST.saturating_add(1),
        ..Query::default()
    };
    let page = call.desk.runs().store().list(&query).unwrap_or_default();
    page.heads
        .into_iter()
        .map(|head| head.run.to_string())
        .collect()
}

fn states(call: &Call<'_>, workflow: Option<&str>) -> Vec<String> {
    let catalog = call.desk.catalog();
    let ids = workflow.map_or_else(|| catalog.ids(), |it| vec![it.to_owned()]);
    let workflows = ids.iter().filter_map(|id| catalog.find(id));
    let names = workflows.flat_map(|it| {
        let names = it.visible_states().map(|(_, name)| name.to_owned());
        names.collect::<Vec<_>>()
    });
    names.collect()
}

fn contracts(call: &Call<'_>, workflow: Option<&str>) -> Vec<String> {
    let catalog = call.desk.catalog();
    let ids = workflow.map_or_else(|| catalog.ids(), |it| vec![it.to_owned()]);
    let workflows = ids.iter().filter_map(|id| catalog.find(id));
    let names = workflows.flat_map(|it| {
        let all = it.meta().get("artifacts").and_then(Value::as_object);
        all.into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect::<Vec<_>>()
    });
    names.collect()
}

fn loaded(call: &Call<'_>, run: Option<&str>) -> Option<statemark_runs::Loaded> {
    let run: RunId = call.run(Some(run?)).ok()?;
    call.desk.runs().load(&run).ok()
}

fn artifacts(call: &Call<'_>, run: Option<&str>) -> Vec<String> {
    let loaded = loaded(call, run);
    loaded
        .into_iter()
        .flat_map(|it| it.state.artifacts.into_keys())
        .collect()
}

fn revisions(call: &Call<'_>, run: Option<&str>, artifact: Option<&str>) -> Vec<String> {
    let Some((loaded, artifact)) = loaded(call, run).zip(artifact) else {
        return Vec::new();
    };
    let all = loaded.state.artifacts.get(artifact).into_iter().flatten();
    all.map(|it| it.artifact.revision.to_string()).collect()
}
