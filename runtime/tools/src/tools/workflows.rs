//! The workflows that runs can be started of: all of them, and one as data, diagram or text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use statemark_runs::policy::Gating;
use statemark_runs::{Hash, Workflow};

use crate::envelope::{
    NoFields, Page, PartCursor, Position, bounds, invalid_cursor, page_start, paginate,
    part_cursor, remaining_room,
};
use crate::lookup::unknown_workflow;
use crate::machine::{State, Transition, described_events, states, transitions};
use crate::{Address, Annotations, Ctx, Problem, Route, Set, Spec, ToolCall};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListWorkflowsCall {
    /// Only those whose id, title or description has this.
    query: Option<String>,
    /// Continue after this id.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Workflows {
    /// The workflows, by id: id, title, description, file, hash, number of states and of findings.
    #[schemars(with = "Vec<Value>")]
    workflows: Vec<Spec>,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

impl ToolCall for ListWorkflowsCall {
    const NAME: &'static str = "list_workflows";
    const TITLE: &'static str = "List workflows";
    const DESCRIPTION: &'static str =
        "The workflows that runs can be started of, with what each is for.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get("/workflows", "the workflows")];
    type Response = Workflows;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Workflows, Problem> {
        let query = self.query.clone().unwrap_or_default().to_lowercase();
        let mut specs = ctx.catalog().specs();
        specs.sort_by(|a, b| a.id.cmp(&b.id));
        let cursor = self.cursor.clone().unwrap_or_default();
        specs.retain(|spec| {
            let texts = [
                Some(&spec.id),
                spec.title.as_ref(),
                spec.description.as_ref(),
            ];
            let mut texts = texts.into_iter().flatten();
            spec.id > cursor && texts.any(|text| text.to_lowercase().contains(&query))
        });
        let authority = ctx.runs().authority()?;
        if !authority.accepts_all() {
            for spec in &mut specs {
                let workflow = ctx.catalog().find(&spec.id);
                spec.unreviewed = workflow.is_some_and(|it| !authority.has_accepted(&it));
            }
        }
        let count = specs.len();
        let workflows = bounds::take_fitting(specs, bounds::room_after(&NoFields {}, 0));
        let last = workflows.last().map(|spec| spec.id.clone());
        Ok(Workflows {
            cursor: last.filter(|_| workflows.len() < count),
            workflows,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribeWorkflowCall {
    /// The workflow's id.
    workflow: String,
    /// The machine as JSON, as a Mermaid diagram, or the spec as it was written.
    #[serde(default)]
    format: Format,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Json,
    Mermaid,
    Markdown,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Described {
    /// The workflow's id.
    workflow: String,
    /// The hash of its table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    hash: Option<Hash>,
    /// The number of findings in its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<usize>,
    /// True if nobody has accepted it as it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreviewed: bool,
    /// The title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    title: Option<Value>,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    description: Option<Value>,
    /// The address of a drawing of it, as SVG.
    #[serde(skip_serializing_if = "Option::is_none")]
    drawing: Option<String>,
    /// The states, with what the definition says of each.
    #[serde(skip_serializing_if = "Page::is_pending")]
    states: Page<State>,
    /// The transitions: source, targets, events, guard, actions.
    #[serde(skip_serializing_if = "Page::is_pending")]
    transitions: Page<Transition>,
    /// The contracts of artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    artifacts: Option<Value>,
    /// The initial context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    context: Option<Value>,
    /// The JSON Schema of the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    context_schema: Option<Value>,
    /// The fields that a start may set, if they are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    inputs: Option<Value>,
    /// The events of the definition, with the JSON Schema of their `data`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    events: Option<Value>,
    /// The claims that hold in every configuration.
    #[serde(skip_serializing_if = "Page::is_pending")]
    proofs: Page<Value>,
    /// The diagram or the spec, for the formats `mermaid` and `markdown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The `cursor` of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// The parts of a machine, page by page, in this order.
const PARTS: [&str; 8] = [
    "states",
    "transitions",
    "events",
    "artifacts",
    "context",
    "context_schema",
    "inputs",
    "proofs",
];

impl ToolCall for DescribeWorkflowCall {
    const NAME: &'static str = "describe_workflow";
    const TITLE: &'static str = "Describe a workflow";
    const DESCRIPTION: &'static str =
        "States, transitions, guards, artifacts, tools and proofs of a workflow; or its text.";
    const SET: Set = Set::Runs;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Free;
    const ROUTES: &'static [Route] = &[Route::get(
        "/workflows/{workflow}",
        "one of them; `format` may be json, mermaid or markdown",
    )];
    type Response = Described;

    fn run(&self, ctx: &Ctx<'_>) -> Result<Described, Problem> {
        let catalog = ctx.catalog();
        let id = &self.workflow;
        let found = catalog.find(id);
        let workflow = found.ok_or_else(|| unknown_workflow(catalog, id))?;
        let cursor = self.cursor.as_deref();
        let text = match self.format {
            Format::Json => return describe(ctx, &workflow, cursor),
            Format::Mermaid => catalog.diagram(id),
            Format::Markdown => catalog.source(id),
        };
        page_of_lines(id, &text.unwrap_or_default(), cursor)
    }
}

/// Describes a workflow by a text, as many of its lines as fit.
fn page_of_lines(id: &str, text: &str, cursor: Option<&str>) -> Result<Described, Problem> {
    let mut answer = Described {
        workflow: id.to_owned(),
        ..Described::default()
    };
    let start = page_start("text", cursor)?;
    let lines = text.split_inclusive('\n').map(Value::from).collect();
    let (page, rest) = paginate(Value::Array(lines), start, remaining_room(&answer));
    let lines = page.as_array().into_iter().flatten();
    answer.text = Some(lines.filter_map(Value::as_str).collect());
    answer.cursor = part_cursor("text", rest);
    Ok(answer)
}

/// Describes a machine by names.
fn describe(
    ctx: &Ctx<'_>,
    workflow: &Workflow,
    cursor: Option<&str>,
) -> Result<Described, Problem> {
    let cursor: Option<PartCursor> = cursor.map(str::parse).transpose()?;
    let mut answer = Described {
        workflow: workflow.id().to_owned(),
        hash: Some(workflow.hash()),
        unreviewed: !ctx.runs().authority()?.has_accepted(workflow),
        ..Described::default()
    };
    let meta = workflow.meta();
    if cursor.is_none() {
        let specs = ctx.catalog().specs();
        let spec = specs.into_iter().find(|it| it.id == workflow.id());
        answer.diagnostics = spec.map(|spec| spec.diagnostics);
        answer.title = meta.get("title").cloned();
        answer.description = meta.get("description").cloned();
        answer.drawing = Some(Address::Drawing(workflow.id().to_owned()).to_string());
    }
    let (first, mut start) = match &cursor {
        Some(cursor) => (cursor.part.as_str(), cursor.position),
        None => ("states", Position::default()),
    };
    let begin = PARTS.iter().position(|it| *it == first);
    for part in PARTS.iter().skip(begin.ok_or_else(invalid_cursor)?) {
        let rest = add_part(ctx, workflow, &mut answer, part, start);
        answer.cursor = part_cursor(part, rest);
        if answer.cursor.is_some() {
            break;
        }
        start = Position::default();
    }
    Ok(answer)
}

/// Adds as much of a part as there is room for. Returns the position at which it continues.
fn add_part(
    ctx: &Ctx<'_>,
    workflow: &Workflow,
    answer: &mut Described,
    part: &str,
    start: Position,
) -> Option<Position> {
    let room = remaining_room(answer);
    let rest;
    match part {
        "states" => (answer.states, rest) = Page::fill(states(workflow), start, room),
        "transitions" => {
            (answer.transitions, rest) = Page::fill(transitions(workflow), start, room);
        }
        "proofs" => match ctx.catalog().proofs(workflow.id()) {
            Some(Value::Array(mut proofs)) => {
                proofs.iter_mut().for_each(remove_nulls);
                (answer.proofs, rest) = Page::fill(proofs, start, room);
            }
            _ => rest = None,
        },
        key => {
            let items = match key {
                "events" => described_events(workflow),
                key => workflow.meta().get(key).cloned(),
            };
            let paged = items.map(|items| paginate(items, start, room));
            let (page, position) = paged.unzip();
            rest = position.flatten();
            match key {
                "artifacts" => answer.artifacts = page,
                "events" => answer.events = page,
                "context_schema" => answer.context_schema = page,
                "inputs" => answer.inputs = page,
                _ => answer.context = page,
            }
        }
    }
    rest
}

/// Removes the keys of a proof that say nothing.
fn remove_nulls(proof: &mut Value) {
    if let Some(proof) = proof.as_object_mut() {
        proof.retain(|_, value| !value.is_null());
    }
}
