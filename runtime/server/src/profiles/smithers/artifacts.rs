//! `list_artifacts`: what nodes have handed in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::Loaded;
use statemark_runs::body::{Artifact, Stage};
use statemark_runs::state::Revision;

use super::nodes::{self, Nodes, Visit};
use super::{load, shape, summary};
use crate::ctx::Ctx;
use crate::envelope::set_field;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: String,
    /// Only of this node.
    node_id: Option<String>,
    /// With what was handed in, as it was written.
    #[serde(default)]
    include_raw: bool,
}

/// Largest content that is told. Unit: bytes. Why: it goes into a model's context as a whole.
pub(super) const MOST: u64 = 64 << 10;

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("list_artifacts", Set::Smithers, Annotations::READ_ONLY),
        (
            "List artifacts",
            "What the nodes of a run have handed in, with its content.",
        ),
        shape,
        run,
    )
    .equivalent_to("get_artifact")
    .with_output(&[("artifacts", "array")])
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    if let Some(node) = &input.node_id {
        nodes::known(&loaded, node)?;
    }
    let nodes = Nodes::read(ctx, &loaded)?;
    let mut found: Vec<(&Visit, &Revision)> = Vec::new();
    for name in loaded.state.artifacts.keys() {
        if let Some(current) = loaded.state.current(name)
            && let Some(visit) = made_in(&nodes, current)
            && input.node_id.as_ref().is_none_or(|it| *it == visit.node)
        {
            found.push((visit, current));
        }
    }
    found.sort_by_key(|(_, revision)| revision.seq);
    let mut told = Vec::new();
    for (visit, revision) in &found {
        let same = found
            .iter()
            .filter(|(other, _)| (&other.node, other.iteration) == (&visit.node, visit.iteration));
        let artifact = &revision.artifact;
        let mut id = format!("{}:{}:{}", loaded.run, visit.node, visit.iteration);
        if same.count() > 1 {
            id = format!("{id}:{}", artifact.name);
        }
        let output = output(ctx, artifact)?;
        let mut item = json!({
            "artifactId": id,
            "kind": "node-output",
            "runId": loaded.run,
            "nodeId": visit.node,
            "iteration": visit.iteration,
            "label": summary::label(&loaded, &visit.node),
            "state": visit.state(),
            "outputTable": artifact.name,
            "source": "output-table",
            "cacheKey": null,
            "value": output.validated,
        });
        if input.include_raw {
            set_field(&mut item, "rawValue", output.raw);
        }
        told.push(item);
    }
    Ok(json!({"artifacts": told}))
}

/// The visit that a revision was handed in from.
pub(super) fn made_in<'n>(nodes: &'n Nodes, revision: &Revision) -> Option<&'n Visit> {
    let maker = revision.artifact.step.as_deref();
    let own = maker.and_then(|maker| nodes.of_at(maker, revision.seq));
    own.or_else(|| nodes.at(revision.seq))
}

/// The content of a revision.
pub(super) struct Output {
    /// If it is final and as its contract says.
    pub(super) validated: Value,
    /// As it was handed in.
    pub(super) raw: Value,
}

/// What is in a revision; nothing where it lies somewhere else or is too large to be told.
pub(super) fn output(ctx: &Ctx<'_>, artifact: &Artifact) -> Result<Output, Problem> {
    let content = artifact
        .content
        .filter(|_| artifact.size.is_none_or(|size| size <= MOST));
    let Some(content) = content else {
        return Ok(Output {
            validated: Value::Null,
            raw: Value::Null,
        });
    };
    let bytes = ctx.runs().store().blob(&content)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let counts = artifact.stage == Stage::Final && artifact.holds();
    let validated = counts.then(|| {
        let parsed = serde_json::from_str(&text);
        parsed.unwrap_or_else(|_| Value::String(text.clone()))
    });
    Ok(Output {
        validated: validated.unwrap_or_default(),
        raw: Value::String(text),
    })
}

/// The newest revision that a visit has handed in and that isn't discarded.
pub(super) fn of_visit<'l>(
    loaded: &'l Loaded,
    nodes: &Nodes,
    visit: &Visit,
) -> Option<&'l Revision> {
    let names = loaded.state.artifacts.keys();
    let current = names.filter_map(|name| loaded.state.current(name));
    let own = current.filter(|revision| {
        let made = made_in(nodes, revision);
        made.is_some_and(|it| (&it.node, it.iteration) == (&visit.node, visit.iteration))
    });
    own.max_by_key(|revision| revision.seq)
}
