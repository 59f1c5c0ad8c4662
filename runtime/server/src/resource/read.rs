//! The contents of resources.

use serde_json::{Value, json};
use statemark_runs::{RunId, Workflow, builtin, builtin_type, load_trail, read_artifact};
use statemark_tools::envelope::bounds;
use statemark_tools::lookup::{missing_workflow, unknown_revision};
use statemark_tools::{Address, Ctx, Part, Problem};

/// Most bytes of a part of a journal. Unit: bytes.
///
/// Why: a reader of resources has more room than a model's context, but not for a journal of 100,000 records.
const MAX_PART: usize = 256 << 10;

/// The media type of drawings.
const SVG: &str = "image/svg+xml";

/// Most records that are read at once.
const PAGE: usize = 500;

/// The content of a resource.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Content {
    /// The media type.
    pub(crate) media: String,
    /// The text or file.
    pub(crate) bytes: Vec<u8>,
    /// The address of the rest, if this isn't all.
    pub(crate) more: Option<Address>,
}

impl Content {
    fn text(media: &str, text: impl Into<String>) -> Self {
        Self {
            media: media.to_owned(),
            bytes: text.into().into_bytes(),
            more: None,
        }
    }
}

/// Reads a resource, if the caller may.
///
/// # Errors
///
/// The resource doesn't exist, the server doesn't offer it, or it belongs to a run that the caller may not touch.
pub(crate) fn read(ctx: &Ctx<'_>, address: &Address) -> Result<Content, Problem> {
    address.check(ctx)?;
    if let Some(run) = address.run() {
        ctx.resolve_run(Some(run.as_str()))?;
    }
    let catalog = ctx.catalog();
    match address {
        Address::Spec(id) => {
            let specs = catalog.specs();
            let source = specs.iter().find(|it| it.id == *id);
            let media = source.map_or("text/plain", |it| media_of(&it.source));
            let text = catalog.source(id).ok_or_else(|| unknown(ctx, id))?;
            Ok(Content::text(media, text))
        }
        Address::Diagram(id) => {
            let text = catalog.diagram(id).ok_or_else(|| unknown(ctx, id))?;
            Ok(Content::text("text/vnd.mermaid", text))
        }
        Address::Drawing(id) => {
            let workflow = catalog.find(id).ok_or_else(|| unknown(ctx, id))?;
            let text = catalog.drawing(&workflow, None);
            Ok(Content::text(SVG, text.ok_or_else(undrawn)?))
        }
        Address::RunDrawing(run) => {
            let loaded = ctx.runs().catch_up(run)?;
            let trail = load_trail(ctx.runs(), &loaded)?;
            let text = catalog.drawing(&loaded.workflow, Some(&trail));
            Ok(Content::text(SVG, text.ok_or_else(undrawn)?))
        }
        Address::Table(id) => {
            let workflow = catalog.find(id).ok_or_else(|| unknown(ctx, id))?;
            let text = statemark_runtime::dump(workflow.table().sections());
            Ok(Content::text("text/plain", text))
        }
        Address::State(id, state) => {
            let workflow = catalog.find(id).ok_or_else(|| unknown(ctx, id))?;
            state_page(&workflow, state)
        }
        Address::Contract(id, name) => {
            let workflow = catalog.find(id).ok_or_else(|| unknown(ctx, id))?;
            contract_page(&workflow, name)
        }
        Address::Journal(run, part) => journal(ctx, run, *part),
        Address::Transcript(run, part) => transcript(ctx, run, *part),
        Address::Artifacts(run) => artifacts(ctx, run),
        Address::Artifact(run, name, revision) => {
            let loaded = ctx.runs().catch_up(run)?;
            let found = read_artifact(ctx.runs(), &loaded, name, *revision);
            let found = found.map_err(|error| unknown_revision(&loaded.run, error))?;
            let media = found.revision.artifact.media.clone();
            let is_text = std::str::from_utf8(&found.content).is_ok();
            let plain = if is_text {
                "text/plain"
            } else {
                "application/octet-stream"
            };
            Ok(Content {
                media: media.unwrap_or_else(|| plain.to_owned()),
                bytes: found.content,
                more: None,
            })
        }
        Address::Page(page) => {
            let text = ctx.docs().text(&address.to_string());
            let text = text.ok_or_else(|| {
                let message = format!("the documentation has no page `{page}`");
                Problem::new("unknown_resource", message)
            })?;
            Ok(Content::text("text/markdown", text))
        }
    }
}

fn unknown(ctx: &Ctx<'_>, id: &str) -> Problem {
    missing_workflow(ctx.catalog(), id).mended_by("list_workflows", json!({}))
}

/// Creates the problem of a server that can't draw.
fn undrawn() -> Problem {
    let message =
        "this server has no drawings: it serves tables without the program that draws them";
    Problem::new("not_offered", message)
}

/// Returns the media type of a spec, by its file's name.
fn media_of(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("md") => "text/markdown",
        Some("mmd" | "mermaid") => "text/vnd.mermaid",
        Some("json") => "application/json",
        Some("scxml" | "xml") => "application/scxml+xml",
        _ => "text/plain",
    }
}

/// Writes the texts and options of a state.
fn state_page(workflow: &Workflow, state: &str) -> Result<Content, Problem> {
    let found = workflow.visible_states().find(|(_, name)| *name == state);
    let Some((id, _)) = found else {
        let known: Vec<&str> = workflow.visible_states().map(|(_, name)| name).collect();
        let message = format!("`{}` has no state `{state}`", workflow.id());
        return Err(Problem::new("unknown_state", message).with(json!({"known": known})));
    };
    let meta = workflow.state_meta(id);
    let said = |key: &str| meta.get(key).and_then(Value::as_str);
    let mut text = format!("# {}\n", said("title").unwrap_or(state));
    for part in [said("description"), said("instructions")]
        .into_iter()
        .flatten()
    {
        text += &format!("\n{}\n", part.trim());
    }
    let rest = meta.as_object().into_iter().flatten().filter(|(key, _)| {
        !["title", "description", "instructions", "implied"].contains(&key.as_str())
    });
    let rest: serde_json::Map<String, Value> = rest
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !rest.is_empty() {
        text += &format!("\n{}", fenced(&Value::Object(rest)));
    }
    Ok(Content::text("text/markdown", text))
}

/// Writes the contract of an artifact, as the definition has it.
fn contract_page(workflow: &Workflow, name: &str) -> Result<Content, Problem> {
    let all = workflow.meta().get("artifacts").and_then(Value::as_object);
    let own = all.and_then(|all| all.get(name)).cloned();
    let common = || builtin_type(name).and_then(|kind| builtin(&kind));
    let Some(contract) = own.or_else(common) else {
        let known: Vec<&String> = all.into_iter().flat_map(|all| all.keys()).collect();
        let message = format!("`{}` declares no artifact `{name}`", workflow.id());
        return Err(Problem::new("unknown_artifact", message).with(json!({"known": known})));
    };
    let mut text = format!("# {name}\n\nThe contract of `{}`.\n", workflow.id());
    let needing = workflow.visible_states().filter(|(id, _)| {
        let requires = workflow.state_meta(*id).get("requires");
        requires.is_some_and(|it| names(it, name))
    });
    let needing: Vec<String> = needing.map(|(_, state)| format!("`{state}`")).collect();
    if !needing.is_empty() {
        text += &format!("States that need it: {}.\n", needing.join(", "));
    }
    let like = contract.get("like").and_then(Value::as_str);
    let named = like.and_then(|like| Some((like.to_owned(), builtin(like)?)));
    text += &prose(named.as_ref().map_or(&contract, |(_, named)| named));
    text += &format!("\n{}", fenced(&rules(contract)));
    if let Some((like, named)) = named {
        let rules = fenced(&rules(named));
        text += &format!("\nOtherwise it is like `{like}`:\n\n{rules}");
    }
    Ok(Content::text("text/markdown", text))
}

/// Writes what a built-in contract says about itself: its purpose, and an example.
fn prose(contract: &Value) -> String {
    let about = contract.get("about").and_then(Value::as_str);
    let about = about.map_or_else(String::new, |about| format!("\n{about}\n"));
    let example = contract.get("example").map(fenced);
    let example = example.map_or_else(String::new, |it| format!("\nAn example:\n\n{it}"));
    let heading = if about.is_empty() && example.is_empty() {
        ""
    } else {
        "\nThe contract itself:\n"
    };
    about + &example + heading
}

/// Returns the rules of a contract, without what it says about itself.
fn rules(mut contract: Value) -> Value {
    if let Some(keys) = contract.as_object_mut() {
        keys.retain(|key, _| !["about", "example"].contains(&key.as_str()));
    }
    contract
}

/// Checks whether a `requires`, a list or one for each event, names an artifact.
fn names(requires: &Value, name: &str) -> bool {
    match requires {
        Value::Array(all) => all.iter().any(|it| it == name),
        Value::Object(by_event) => by_event.values().any(|it| names(it, name)),
        _ => false,
    }
}

fn fenced(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("```json\n{text}\n```\n")
}

/// Writes records of a run, a line each. Returns the next part as well.
fn lines(
    ctx: &Ctx<'_>,
    run: &RunId,
    part: Part,
    mut line: impl FnMut(&statemark_runs::Record) -> String,
) -> Result<(String, Option<Part>), Problem> {
    let store = ctx.runs().store();
    let head = store.head(run)?;
    let mut text = String::new();
    let mut after = part.after;
    let mut left = part.limit.unwrap_or(u64::MAX);
    while after < head.seq && left > 0 {
        let page = store.records(run, after, PAGE)?;
        if page.is_empty() {
            break;
        }
        for record in &page {
            let line = line(record);
            let is_full = text.len().saturating_add(line.len()) > MAX_PART && !text.is_empty();
            if is_full || left == 0 {
                left = 0;
                break;
            }
            text += &line;
            text.push('\n');
            after = record.seq;
            left = left.saturating_sub(1);
        }
    }
    let limit = part.limit;
    let more = (after < head.seq).then_some(Part { after, limit });
    Ok((text, more))
}

fn journal(ctx: &Ctx<'_>, run: &RunId, part: Part) -> Result<Content, Problem> {
    let (text, more) = lines(ctx, run, part, |record| {
        let body: Value = serde_json::from_str(&record.body).unwrap_or_default();
        let mut line = json!({
            "seq": record.seq,
            "time": record.time,
            "kind": record.kind,
            "v": record.v,
            "actor": record.actor,
            "body": body,
        });
        if let (Some(key), Some(map)) = (&record.key, line.as_object_mut()) {
            map.insert("key".to_owned(), json!(key));
        }
        line.to_string()
    })?;
    let mut content = Content::text("application/jsonl", text);
    content.more = more.map(|part| Address::Journal(run.clone(), part));
    Ok(content)
}

fn transcript(ctx: &Ctx<'_>, run: &RunId, part: Part) -> Result<Content, Problem> {
    let (text, more) = lines(ctx, run, part, |record| {
        let summary = record.summary().replace('\n', " ");
        let (summary, _) = bounds::truncate(&summary, bounds::MAX_REPLY);
        format!(
            "{}  {}  {}  {summary}",
            record.seq, record.time, record.actor
        )
    })?;
    let mut content = Content::text("text/plain", text);
    content.more = more.map(|part| Address::Transcript(run.clone(), part));
    Ok(content)
}

/// Lists the artifacts of a run, without their contents.
fn artifacts(ctx: &Ctx<'_>, run: &RunId) -> Result<Content, Problem> {
    let loaded = ctx.runs().catch_up(run)?;
    let all = loaded.state.artifacts.iter().map(|(name, revisions)| {
        let revisions = revisions.iter().map(|revision| {
            let artifact = &revision.artifact;
            let address = Address::Artifact(run.clone(), name.clone(), Some(artifact.revision));
            json!({"revision": artifact.revision, "stage": artifact.stage, "uri": address.to_string()})
        });
        json!({"name": name, "revisions": revisions.collect::<Vec<_>>()})
    });
    let all: Vec<Value> = all.collect();
    let text = json!({"run_id": run, "artifacts": all}).to_string();
    Ok(Content::text("application/json", text))
}
