//! `describe_workflow`: a machine as data, as a diagram, or as its author wrote it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::{Workflow, expression, raised_when};
use statemark_runtime::{
    ActionKind, EventId, EventKind, StateId, Table, TransitionId, TransitionRow,
};

use crate::ctx::Ctx;
use crate::envelope::pages::{PartCursor, Position, invalid_cursor};
use crate::envelope::{Fields, add_page, into_fields, page_start, set_field};
use crate::lookup::unknown_workflow;
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The workflow's id.
    workflow: String,
    /// The machine as JSON, as a Mermaid diagram, or the spec as it was written.
    #[serde(default)]
    format: Format,
    /// Where the answer before ended.
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

/// What is told of a machine, page by page, in this order.
const PARTS: [&str; 5] = ["states", "transitions", "artifacts", "context", "proofs"];

pub(super) fn tool() -> Tool {
    Tool::own(
        ("describe_workflow", Set::Runs, Annotations::READ_ONLY),
        (
            "Describe a workflow",
            "States, transitions, guards, artifacts, tools and proofs of a workflow; or its text.",
        ),
        &[
            ("workflow", "string"),
            ("states", "array"),
            ("transitions", "array"),
            ("proofs", "array"),
            ("text", "string"),
            ("cursor", "string"),
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let catalog = ctx.catalog();
    let id = &input.workflow;
    let found = catalog.find(id);
    let workflow = found.ok_or_else(|| unknown_workflow(catalog, id))?;
    let cursor = input.cursor.as_deref();
    let text = match input.format {
        Format::Json => return described(ctx, &workflow, cursor),
        Format::Mermaid => catalog.diagram(id),
        Format::Markdown => catalog.source(id),
    };
    let mut answer = into_fields(json!({"workflow": id}));
    lines(&mut answer, &text.unwrap_or_default(), cursor)?;
    Ok(answer)
}

/// The text, by lines.
fn lines(answer: &mut Map<String, Value>, text: &str, cursor: Option<&str>) -> Result<(), Problem> {
    let from = page_start("text", cursor)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    add_page(answer, "text", json!(lines), from);
    if let Some(Value::Array(lines)) = answer.get("text") {
        let text: String = lines.iter().filter_map(Value::as_str).collect();
        answer.insert("text".to_owned(), json!(text));
    }
    Ok(())
}

/// The machine by names.
fn described(ctx: &Ctx<'_>, workflow: &Workflow, cursor: Option<&str>) -> Fields {
    let cursor: Option<PartCursor> = cursor.map(str::parse).transpose()?;
    let mut answer = into_fields(json!({"workflow": workflow.id(), "hash": workflow.hash()}));
    let meta = workflow.meta();
    if cursor.is_none() {
        let specs = ctx.catalog().specs();
        if let Some(spec) = specs.into_iter().find(|it| it.id == workflow.id()) {
            answer.insert("diagnostics".to_owned(), json!(spec.diagnostics));
        }
        for key in ["title", "description"] {
            if let Some(value) = meta.get(key) {
                answer.insert(key.to_owned(), value.clone());
            }
        }
    }
    let (first, mut from) = match &cursor {
        Some(cursor) => (cursor.part.as_str(), cursor.position),
        None => ("states", Position::default()),
    };
    let begin = PARTS.iter().position(|it| *it == first);
    for name in PARTS.iter().skip(begin.ok_or_else(invalid_cursor)?) {
        let items = match *name {
            "states" => Some(states(workflow)),
            "transitions" => Some(transitions(workflow)),
            "proofs" => ctx.catalog().proofs(workflow.id()).map(told),
            key => meta.get(key).cloned(),
        };
        if let Some(items) = items {
            add_page(&mut answer, name, items, from);
        }
        from = Position::default();
        if answer.contains_key("cursor") {
            break;
        }
    }
    Ok(answer)
}

/// The proofs without the keys that say nothing.
fn told(mut proofs: Value) -> Value {
    for proof in proofs.as_array_mut().into_iter().flatten() {
        if let Some(proof) = proof.as_object_mut() {
            proof.retain(|_, value| !value.is_null());
        }
    }
    proofs
}

fn states(workflow: &Workflow) -> Value {
    let table = workflow.table();
    let states = workflow.visible_states().map(|(id, name)| {
        let meta = workflow.state_meta(id);
        let mut state = json!({"state": name});
        if let Some(parent) = table.parent(id).filter(|it| table.parent(*it).is_some()) {
            set_field(&mut state, "in", json!(table.state_name(parent)));
        }
        if table.is_end(id) {
            set_field(&mut state, "is_final", json!(true));
        }
        for key in [
            "title",
            "instructions",
            "allowed_tools",
            "disallowed_tools",
            "capabilities",
            "requires",
            "max_iterations",
        ] {
            if let Some(value) = meta.get(key) {
                set_field(&mut state, key, value.clone());
            }
        }
        state
    });
    Value::Array(states.collect())
}

fn transitions(workflow: &Workflow) -> Value {
    let rows = workflow.table().transitions();
    Value::Array(
        rows.map(|(id, row)| transition(workflow, id, row))
            .collect(),
    )
}

fn transition(workflow: &Workflow, id: TransitionId, row: &TransitionRow) -> Value {
    let table = workflow.table();
    let targets: Vec<&str> = table
        .targets(id)
        .iter()
        .map(|it| table.state_name(*it))
        .collect();
    let mut transition = json!({"to": targets});
    // The machine itself is no state that anybody sees.
    if row.source != StateId::new(0) {
        set_field(&mut transition, "from", json!(table.state_name(row.source)));
    }
    let triggers = table.triggers(id).iter();
    // What can be sent, and what comes by itself.
    let (named, own): (Vec<&EventId>, Vec<&EventId>) = triggers.partition(|event| {
        let row = table.event(**event);
        row.is_some_and(|row| row.kind == EventKind::Named)
            && raised_when(table.event_name(**event)).is_none()
    });
    let mut raised = own
        .iter()
        .filter_map(|it| raised_when(table.event_name(**it)));
    if let Some(when) = raised.next() {
        set_field(&mut transition, "when", json!(when));
    }
    let names =
        |all: Vec<&_>| -> Vec<&str> { all.into_iter().map(|it| table.event_name(*it)).collect() };
    let timed: Vec<u64> = own.iter().filter_map(|it| delay(table, **it)).collect();
    let own: Vec<_> = own
        .into_iter()
        .filter(|it| delay(table, **it).is_none())
        .collect();
    if !timed.is_empty() {
        set_field(&mut transition, "after_ms", json!(timed));
    }
    for (key, all) in [("events", names(named)), ("on", names(own))] {
        if !all.is_empty() {
            set_field(&mut transition, key, json!(all));
        }
    }
    let code = table.guard(id);
    if !code.is_empty() {
        set_field(
            &mut transition,
            "guard",
            json!(expression::text(table, code)),
        );
    }
    let calls = table.calls(&row.calls).iter().filter(|action| {
        // What starts and stops timers is the compiler's, not the author's.
        let row = table.action(**action);
        !row.is_some_and(|row| {
            matches!(row.kind, ActionKind::Schedule(..) | ActionKind::Cancel(..))
        })
    });
    let actions: Vec<&str> = calls.map(|it| table.action_name(*it)).collect();
    if !actions.is_empty() {
        set_field(&mut transition, "actions", json!(actions));
    }
    let meta = workflow.transition_meta(id);
    for key in ["requires_approval", "description"] {
        if let Some(value) = meta.get(key) {
            set_field(&mut transition, key, value.clone());
        }
    }
    transition
}

/// How long the timer runs that an event comes from. Unit: milliseconds.
fn delay(table: &Table, event: EventId) -> Option<u64> {
    table.actions().find_map(|(_, row)| match &row.kind {
        ActionKind::Schedule(timer, delay) => {
            let row = table.timer(*timer)?;
            (row.event == event).then_some(*delay)
        }
        _ => None,
    })
}
