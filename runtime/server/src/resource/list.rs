//! Lists of resources and of templates.
//!
//! Runs and workflows come first, by address; then the documentation. Only those of its pages are listed that lead to
//! the others, among them an index of the rules and one of the commands: hundreds of pages would bury the rest.
//! Unlisted resources can be read all the same.

use serde_json::Value;
use statemark_runs::{Query, Status};
use statemark_tools::{Address, Ctx, Docs, Part, Problem};

/// Most runs in the list. Why: `list_runs` finds the others, and their ids are addresses.
const RUNS: usize = 200;

/// An entry of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) address: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) media: &'static str,
}

/// A template of addresses: with its name, description and media type.
pub(crate) type Template = (&'static str, &'static str, &'static str, &'static str);

const TEMPLATES: &[Template] = &[
    (
        "statemark://docs/{page}",
        "documentation",
        "A page of the documentation.",
        "text/markdown",
    ),
    (
        "statemark://run/{run}/artifacts",
        "run-artifacts",
        "The artifacts of a run.",
        "application/json",
    ),
    (
        "statemark://run/{run}/artifacts/{artifact}",
        "run-artifact",
        "The newest revision of an artifact.",
        "",
    ),
    (
        "statemark://run/{run}/artifacts/{artifact}/{revision}",
        "run-artifact-revision",
        "A revision of an artifact.",
        "",
    ),
    (
        "statemark://run/{run}/graph",
        "run-graph",
        "A drawing of a run's workflow, with its way.",
        "image/svg+xml",
    ),
    (
        "statemark://run/{run}/transcript{?after}",
        "run-transcript",
        "The records of a run, a line each.",
        "text/plain",
    ),
    (
        "statemark://run/{run}{?after,limit}",
        "run-journal",
        "The journal of a run, a JSON record a line.",
        "application/jsonl",
    ),
    (
        "statemark://workflow/{workflow}",
        "workflow",
        "The spec of a workflow as its author wrote it.",
        "",
    ),
    (
        "statemark://workflow/{workflow}/artifact/{artifact}",
        "workflow-artifact",
        "The contract of an artifact of a workflow.",
        "text/markdown",
    ),
    (
        "statemark://workflow/{workflow}/diagram",
        "workflow-diagram",
        "A workflow as a Mermaid diagram.",
        "text/vnd.mermaid",
    ),
    (
        "statemark://workflow/{workflow}/graph",
        "workflow-graph",
        "A drawing of a workflow.",
        "image/svg+xml",
    ),
    (
        "statemark://workflow/{workflow}/state/{state}",
        "workflow-state",
        "The texts of one state of a workflow.",
        "text/markdown",
    ),
    (
        "statemark://workflow/{workflow}/table",
        "workflow-table",
        "The compiled table of a workflow, as text.",
        "text/plain",
    ),
];

/// Lists the templates of the addresses that the server offers.
pub(crate) fn templates(ctx: &Ctx<'_>) -> Vec<Template> {
    let all = TEMPLATES.iter().copied();
    all.filter(|it| has_template(ctx, it.0)).collect()
}

/// Checks whether the server offers resources at such addresses.
pub(crate) fn has_template(ctx: &Ctx<'_>, template: &str) -> bool {
    // An address of this template, with a number for each variable.
    let mut address = String::new();
    for part in template.split('{') {
        match part.split_once('}') {
            None => address += part,
            Some((name, rest)) => {
                address += if name.starts_with('?') { "" } else { "1" };
                address += rest;
            }
        }
    }
    Address::parse(&address).is_ok_and(|it| it.check(ctx).is_ok())
}

/// Returns the part of the list that an address belongs to.
pub(crate) fn rank(address: &str) -> u8 {
    u8::from(address.starts_with(Docs::SCHEME))
}

/// Lists the resources of the caller, by rank and address.
///
/// They are workflows with their artifacts, the live runs that the caller may touch, and the pages of the documentation
/// that lead to the others.
pub(crate) fn list(ctx: &Ctx<'_>) -> Result<Vec<Entry>, Problem> {
    let catalog = ctx.catalog();
    let mut all = Vec::new();
    let mut add = |address: Address, title: String, description: &str, media| {
        if address.check(ctx).is_err() {
            return;
        }
        all.push(Entry {
            address: address.to_string(),
            title,
            description: description.to_owned(),
            media,
        });
    };
    for spec in catalog.specs() {
        let id = spec.id;
        let title = spec.title.unwrap_or_else(|| id.clone());
        let about = spec.description.unwrap_or_default();
        add(Address::Spec(id.clone()), title.clone(), &about, "");
        let diagram = Address::Diagram(id.clone());
        add(diagram, format!("{title}: diagram"), "", "text/vnd.mermaid");
        let drawing = Address::Drawing(id.clone());
        add(drawing, format!("{title}: drawing"), "", "image/svg+xml");
        let table = Address::Table(id.clone());
        add(table, format!("{title}: table"), "", "text/plain");
        let workflow = catalog.find(&id);
        let artifacts = workflow.as_ref().and_then(|it| it.meta().get("artifacts"));
        for name in artifacts
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|it| it.keys())
        {
            let contract = Address::Contract(id.clone(), name.clone());
            add(
                contract,
                format!("{title}: the contract of `{name}`"),
                "",
                "text/markdown",
            );
        }
    }
    for (run, title) in runs(ctx)? {
        let journal = Address::Journal(run, Part::default());
        add(
            journal,
            title,
            "The journal, a JSON record a line.",
            "application/jsonl",
        );
    }
    for (page, title) in ctx.listed_pages() {
        let page = Address::Page(page.clone());
        add(page, title.clone(), "", "text/markdown");
    }
    all.sort_by(|one, other| {
        let place = |it: &Entry| rank(&it.address);
        (place(one), &one.address).cmp(&(place(other), &other.address))
    });
    Ok(all)
}

/// Lists the live runs that the caller may touch, of its project if it has one.
fn runs(ctx: &Ctx<'_>) -> Result<Vec<(statemark_runs::RunId, String)>, Problem> {
    let store = ctx.runs().store();
    let heads = match ctx.bound_run() {
        Some(run) => store.head(run).into_iter().collect(),
        None => {
            let statuses = [Status::Running, Status::Waiting, Status::Paused];
            let query = Query {
                statuses: statuses.map(|it| it.name().to_owned()).to_vec(),
                project: ctx.caller.project.clone(),
                limit: RUNS,
                ..Query::default()
            };
            store.list(&query)?.heads
        }
    };
    let named = heads.into_iter().map(|head| {
        let summary = head.summary;
        let title = summary.title.unwrap_or(summary.workflow);
        (head.run, format!("{title} ({})", summary.status))
    });
    Ok(named.collect())
}
