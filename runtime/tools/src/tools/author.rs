//! Writing workflows, and reading how. What these need is a role, not a state.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::Right;
use statemark_runs::policy::Gating;

use crate::envelope::bounds;
use crate::lookup::unknown_workflow;
use crate::problem::OTHER_RUN;
use crate::{
    Annotations, Created, Ctx, Hit, NewSpec, Problem, Route, Set, Simulation, ToolCall,
    definition_text,
};

/// The findings in a spec, in the shape of `lint --output-format json`.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct Findings {
    /// The version of this format.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    /// As many of the findings as fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Vec<Value>>,
    /// The numbers of all findings, by severity.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Map<String, Value>>,
    /// A remark on a text that has no machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// A small spec, for a text that has no machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<usize>,
}

impl Findings {
    /// Takes as many findings as fit, after the first ones that are skipped.
    fn new(findings: Value, skipped: usize) -> Self {
        let mut findings: Self = serde_json::from_value(findings).unwrap_or_default();
        let all = findings.diagnostics.take().unwrap_or_default();
        let count = all.len();
        let rest = all.into_iter().skip(skipped).collect();
        let room = bounds::room_after(&findings, bounds::ENVELOPE);
        let fitting = bounds::take_fitting(rest, room);
        let end = skipped.saturating_add(fitting.len());
        findings.cursor = (end < count).then_some(end);
        findings.diagnostics = Some(fitting);
        findings
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LintWorkflowCall {
    /// The id of a served workflow, or the name or path of a served file; else give `text`.
    workflow: Option<String>,
    /// A spec that need not be in a file.
    text: Option<String>,
    /// The name of its file, for the format: `x.md` (the default), `x.workflow.json`, `x.mmd`, `x.scxml`.
    name: Option<String>,
    /// Leave out so many findings.
    #[serde(default)]
    cursor: usize,
}

impl ToolCall for LintWorkflowCall {
    const NAME: &'static str = "lint_workflow";
    const TITLE: &'static str = "Lint a workflow";
    const DESCRIPTION: &'static str = "Every finding in a spec, each with its place, why, and how to mend it. `search_docs` with a code such as SM304 \
         gives its page.";
    const SET: Set = Set::Author;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get(
        "/workflows/{workflow}/findings",
        "the findings in its file",
    )];
    type Response = Findings;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Findings, Problem> {
        let catalog = ctx.catalog();
        let findings = match (&self.workflow, &self.text) {
            (Some(word), None) => catalog
                .lint_file(word)
                .ok_or_else(|| unknown_workflow(catalog, word))?,
            (None, Some(text)) => catalog.lint(self.name.as_deref().unwrap_or("workflow.md"), text),
            _ => {
                return Err(Problem::new(
                    "invalid_arguments",
                    "give either `workflow`, one that is served, or `text`, with a `name` that tells its format",
                ));
            }
        };
        Ok(Findings::new(findings, self.cursor))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateWorkflowCall {
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

impl ToolCall for CreateWorkflowCall {
    const NAME: &'static str = "create_workflow";
    const TITLE: &'static str = "Create a workflow";
    const DESCRIPTION: &'static str = "Writes a spec into the folder of specs, if it has no errors; runs can be started of it at once. Runs that go on \
             keep the machine that they began with.";
    const SET: Set = Set::Author;
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const GATING: Gating = Gating::Free;
    type Response = Created;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Created, Problem> {
        let definition = self.definition.as_ref().map(definition_text);
        let (text, is_definition) = match (&definition, &self.markdown) {
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
            name: &self.name,
            text,
            is_definition,
            overwrite: self.overwrite,
            is_draft: false,
        };
        let created = create_spec(ctx, new).map_err(|mut problem| {
            if let Some(findings) = problem.details.get_mut("findings") {
                *findings = bound(findings.take());
            }
            problem
        })?;
        Ok(Created {
            findings: bound(created.findings),
            ..created
        })
    }
}

/// Writes a spec of a caller, if the caller may.
///
/// What an agent writes is new: it takes the place of no workflow that a person has written or accepted, and has no programs
/// run. Who is bound to one run writes none.
///
/// # Errors
///
/// Those of [`Catalog::create`](crate::Catalog::create); a person has to write it.
pub fn create_spec(ctx: &Ctx<'_>, new: NewSpec<'_>) -> Result<Created, Problem> {
    let is_person = Right::Accept.is_granted(ctx.caller.actor.role);
    if let Some(bound) = ctx.bound_run().filter(|_| !is_person) {
        let message =
            format!("this caller may touch the run `{bound}` only, and writes no workflows");
        return Err(Problem::new(OTHER_RUN, message));
    }
    let new = NewSpec {
        is_draft: !is_person,
        ..new
    };
    ctx.catalog().create(&new, &|write| {
        let allowed = ctx.runs().execute(&ctx.actor(), write);
        let details = json!({"path": write.path});
        allowed.map_err(|error| Problem::from(error).with(details))
    })
}

/// Takes as many findings as fit.
fn bound(findings: Value) -> Value {
    json!(Findings::new(findings, 0))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SimulateWorkflowCall {
    /// The workflow's id.
    workflow: String,
    /// The events, in order.
    /// Each is `"ready"`, `{"event": "ready", "data": {}}`, `{"wait": "30s"}`, `{"raise": "approval_denied"}`, `":guard ok=true"` or `":set n=3"`.
    events: Vec<Value>,
    /// Merged into the data that the machine begins with.
    #[serde(default)]
    context: Map<String, Value>,
    /// Leave out so many records, of the same events.
    #[serde(default)]
    cursor: usize,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct SimulationPage {
    /// The outcome of each event; the first is the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<Vec<Value>>,
    /// The active states at the end.
    configuration: Vec<String>,
    /// The data at the end, unless it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    context: Option<Value>,
    /// The length of data that is too large. Unit: bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    context_left_out: Option<usize>,
    /// The events that could be sent next.
    legal: Vec<String>,
    /// True if the machine has ended.
    is_final: bool,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<usize>,
}

/// Most events. Why: a story that people tell has fewer.
const MAX_EVENTS: usize = 1_000;

impl ToolCall for SimulateWorkflowCall {
    const NAME: &'static str = "simulate_workflow";
    const TITLE: &'static str = "Simulate a workflow";
    const DESCRIPTION: &'static str = "Steps through a machine without a run and says what each event did. The clock moves by `wait` alone; guards of \
             the host are false until `:guard` answers; approvals count as granted.";
    const SET: Set = Set::Author;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    type Response = SimulationPage;

    fn run(&self, ctx: &Ctx<'_>) -> Result<SimulationPage, Problem> {
        let count = self.events.len();
        if count > MAX_EVENTS {
            let what = format!("there are {count}; most are {MAX_EVENTS}");
            return Err(Problem::argument("events", what));
        }
        let simulated = ctx.catalog().simulate(&Simulation {
            workflow: &self.workflow,
            events: &self.events,
            context: &self.context,
        })?;
        let size = bounds::size(&simulated.context);
        let is_small = size <= bounds::MAX_REPLY / 4;
        let mut page = SimulationPage {
            configuration: simulated.configuration,
            context: is_small.then_some(simulated.context),
            context_left_out: (!is_small).then_some(size),
            legal: simulated.legal,
            is_final: simulated.is_final,
            ..SimulationPage::default()
        };
        let count = simulated.records.len();
        let rest = simulated.records.into_iter().skip(self.cursor).collect();
        let room = bounds::room_after(&page, bounds::ENVELOPE);
        let records = bounds::take_fitting(rest, room);
        let end = self.cursor.saturating_add(records.len());
        page.cursor = (end < count).then_some(end);
        page.records = Some(records);
        Ok(page)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchDocsCall {
    /// A question, words, a code such as `SM304`, or a key such as `max_iterations`.
    query: String,
    /// Most sections; 5 if it isn't given, 25 at most.
    limit: Option<usize>,
    /// Leave out so many sections.
    #[serde(default)]
    cursor: usize,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Hits {
    /// The sections, the best first: title, page, address, and the words around what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Value>>")]
    hits: Option<Vec<Hit>>,
    /// The number of all sections that were found.
    total: usize,
    /// The words that were searched instead of unknown ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    meant: BTreeMap<String, String>,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<usize>,
}

/// Sections that a call gives unless it says how many.
const DEFAULT_LIMIT: usize = 5;

impl ToolCall for SearchDocsCall {
    const NAME: &'static str = "search_docs";
    const TITLE: &'static str = "Search the documentation";
    const DESCRIPTION: &'static str = "How specs are written, what findings mean, what commands and tools do, and what the served workflows say. The \
             best sections first; the resource `uri` has the whole of one.";
    const SET: Set = Set::Author;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    type Response = Hits;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Hits, Problem> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        let found = ctx.docs().query(&self.query, self.cursor, limit)?;
        let mut answer = Hits {
            hits: None,
            total: found.total,
            meant: found.meant,
            cursor: None,
        };
        let hits = bounds::take_fitting(found.hits, bounds::room_after(&answer, 0));
        let end = self.cursor.saturating_add(hits.len());
        answer.cursor = (end < found.total && !hits.is_empty()).then_some(end);
        answer.hits = Some(hits);
        Ok(answer)
    }
}
