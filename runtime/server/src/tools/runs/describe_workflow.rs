//! `describe_workflow`: a machine as data, as a diagram, or as its author wrote it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runtime::EventKind;
use statemark_store::Workflow;

use crate::bounds;
use crate::problem::Problem;
use crate::tool::{Call, Data, Hints, Set, Tool};
use crate::tools::{fields, put};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The workflow's id.
    workflow: String,
    /// The machine as JSON, as a Mermaid diagram, or the spec as it was written.
    #[serde(default)]
    format: Format,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Json,
    Mermaid,
    Markdown,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("describe_workflow", Set::Runs, Hints::READS),
        (
            "Describe a workflow",
            "States, transitions, guards, artifacts and tools of a workflow; or its text.",
        ),
        &[
            ("workflow", "string"),
            ("states", "array"),
            ("transitions", "array"),
            ("text", "string"),
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let catalog = call.desk.catalog();
    let id = &input.workflow;
    let Some(workflow) = catalog.find(id) else {
        let known = catalog.ids();
        return Err(
            Problem::new("unknown_workflow", format!("there is no workflow `{id}`"))
                .with(json!({"known": known}))
                .mended_by("list_workflows", json!({})),
        );
    };
    let text = match input.format {
        Format::Json => return Ok(described(&workflow)),
        Format::Mermaid => catalog.diagram(id),
        Format::Markdown => catalog.source(id),
    };
    let text = text.unwrap_or_default();
    let (shown, is_cut) = bounds::cut(&text, bounds::MOST);
    let mut answer = json!({"workflow": id, "text": shown});
    if is_cut {
        put(
            &mut answer,
            "resource",
            json!(format!("statemark://workflow/{id}")),
        );
    }
    Ok(fields(answer))
}

/// The machine by names.
fn described(workflow: &Workflow) -> Map<String, Value> {
    let table = workflow.table();
    let text = |meta: &Value, key: &str| meta.get(key).cloned();
    let states = workflow.visible_states().map(|(id, name)| {
        let meta = workflow.state_meta(id);
        let mut state = json!({"state": name});
        if let Some(parent) = table.parent(id).and_then(|it| table.parent(it).map(|_| it)) {
            put(&mut state, "in", json!(table.state_name(parent)));
        }
        for key in [
            "title",
            "allowed_tools",
            "disallowed_tools",
            "capabilities",
            "requires",
            "max_iterations",
        ] {
            if let Some(value) = text(meta, key) {
                put(&mut state, key, value);
            }
        }
        state
    });
    let states: Vec<Value> = states.collect();
    let transitions = table.transitions().map(|(id, row)| {
        let events: Vec<&str> = table
            .triggers(id)
            .iter()
            .filter(|event| {
                table
                    .event(**event)
                    .is_some_and(|row| row.kind == EventKind::Named)
            })
            .map(|event| table.event_name(*event))
            .collect();
        let targets: Vec<&str> = table
            .targets(id)
            .iter()
            .map(|it| table.state_name(*it))
            .collect();
        let mut transition =
            json!({"from": table.state_name(row.source), "to": targets, "events": events});
        let meta = workflow.transition_meta(id);
        for key in ["guard", "requires_approval", "description"] {
            if let Some(value) = text(meta, key) {
                put(&mut transition, key, value);
            }
        }
        transition
    });
    let transitions: Vec<Value> = transitions.collect();
    let meta = workflow.meta();
    let mut answer = json!({"workflow": workflow.id(), "hash": workflow.hash()});
    for key in ["title", "description", "artifacts", "context"] {
        if let Some(value) = text(meta, key) {
            put(&mut answer, key, value);
        }
    }
    let states = bounds::fitting(states, bounds::MOST / 2);
    put(&mut answer, "states", json!(states));
    let beside = answer.to_string().len();
    let count = transitions.len();
    let transitions = bounds::fitting(transitions, beside);
    if transitions.len() < count {
        put(
            &mut answer,
            "resource",
            json!(format!("statemark://workflow/{}", workflow.id())),
        );
    }
    put(&mut answer, "transitions", json!(transitions));
    fields(answer)
}
