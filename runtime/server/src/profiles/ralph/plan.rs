//! The plan, section by section: submit, look, finalize, discard.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::Stage;
use statemark_runs::runs::{DiscardArtifact, FinalizeArtifact};
use statemark_runs::{Contract, Loaded, builtin, read_artifact};

use super::artifact::{broken, check, submit};
use super::shape;
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

/// The artifact.
const PLAN: &str = "plan";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Section {
    /// The section: summary, skills_mcp, steps, critical_files, risks_mitigations, verification_strategy, parallel_plan.
    section: String,
    /// What the section is to be: JSON, in a text.
    content: Value,
    /// `append` adds one item to a section that is a list.
    #[serde(default)]
    mode: Mode,
    /// The run, where several are active.
    run_id: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Append,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfRun {
    /// The run, where several are active.
    run_id: Option<String>,
}

pub(super) fn all() -> Vec<Tool> {
    vec![
        Tool::profile(
            ("ralph_submit_plan_section", Set::Ralph, Annotations::IDEMPOTENT),
            (
                "Submit a section of the plan",
                "Stages one section of the plan's draft, after it was checked. `ralph_finalize_plan` hands in the whole.",
            ),
            shape,
            section,
        )
        .equivalent_to("submit_artifact"),
        Tool::profile(
            ("ralph_finalize_plan", Set::Ralph, Annotations::IDEMPOTENT),
            (
                "Finalize the plan",
                "Checks the plan's draft as a whole and hands it in. If it isn't as its contract says, the draft stays.",
            ),
            shape,
            finalize,
        )
        .equivalent_to("submit_artifact"),
        Tool::profile(
            ("ralph_get_plan_draft", Set::Ralph, Annotations::READ_ONLY),
            ("Get the plan's draft", "The sections that are staged, and what is in them."),
            shape,
            get,
        )
        .equivalent_to("submit_artifact"),
        Tool::profile(
            ("ralph_discard_plan_draft", Set::Ralph, Annotations::DESTRUCTIVE),
            (
                "Discard the plan's draft",
                "Throws the draft away, so that the next plan starts anew.",
            ),
            shape,
            discard,
        )
        .equivalent_to("submit_artifact"),
    ]
}

fn section(ctx: &Ctx<'_>, input: &Section) -> Outcome {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let loaded = ctx.runs().catch_up(&run)?;
    let schemas = sections(&loaded);
    let name = &input.section;
    let Some(schema) = schemas.get(name) else {
        let known: Vec<&str> = schemas.keys().map(String::as_str).collect();
        let message = format!(
            "the plan has no section `{name}`; it has {}",
            known.join(", ")
        );
        return Err(Problem::new("unknown_section", message));
    };
    let content = parsed(&input.content)?;
    let mut staged = draft(ctx, &loaded)?.map_or_else(Map::new, |it| it.sections);
    let value = match input.mode {
        Mode::Replace => content,
        Mode::Append => appended(name, schema, staged.get(name), content)?,
    };
    let contract = Contract::parse(&json!({"schema": schema}));
    let contract = contract.map_err(|error| Problem::new("bad_contract", error))?;
    let verdict = contract.check(pretty(&value).as_bytes());
    if !verdict.holds {
        return Err(broken(PLAN, &loaded, &verdict.findings));
    }
    staged.insert(name.clone(), value);
    let names: Vec<&str> = staged.keys().map(String::as_str).collect();
    let names = names.join(", ");
    submit(
        ctx,
        run,
        PLAN,
        pretty(&Value::Object(staged.clone())),
        false,
    )?;
    let mode = match input.mode {
        Mode::Replace => "replace",
        Mode::Append => "append",
    };
    Ok(json!(format!(
        "Plan section staged: {name} (mode={mode}). Staged sections: {names}"
    )))
}

/// What each section has to be like: by the definition's contract if it has one, else by the built-in one.
fn sections(loaded: &Loaded) -> Map<String, Value> {
    let own = loaded.workflow.meta().get("artifacts");
    let own = own.and_then(|it| it.get(PLAN)?.pointer("/schema/properties").cloned());
    let common = || builtin("ralph/plan").and_then(|it| it.pointer("/schema/properties").cloned());
    match own.or_else(common) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// A list with one more item.
fn appended(
    name: &str,
    schema: &Value,
    before: Option<&Value>,
    item: Value,
) -> Result<Value, Problem> {
    let is_list = schema.get("type").and_then(Value::as_str) == Some("array");
    match before {
        Some(Value::Array(all)) => {
            let mut all = all.clone();
            all.push(item);
            Ok(Value::Array(all))
        }
        None if is_list => Ok(json!([item])),
        _ => {
            let message = format!("`{name}` is no list: replace it");
            Err(Problem::new("invalid_arguments", message))
        }
    }
}

/// JSON, or the JSON in a text.
fn parsed(content: &Value) -> Result<Value, Problem> {
    let Value::String(text) = content else {
        return Ok(content.clone());
    };
    serde_json::from_str(text).map_err(|error| {
        let message = format!("`content`: this isn't JSON: {error}");
        Problem::new("invalid_arguments", message)
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The plan's draft.
struct Draft {
    sections: Map<String, Value>,
    revision: u64,
    time: u64,
}

/// The draft, if the current revision is one.
fn draft(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Option<Draft>, Problem> {
    let current = loaded.state.current(PLAN);
    let Some(current) = current.filter(|it| it.artifact.stage == Stage::Draft) else {
        return Ok(None);
    };
    let revision = current.artifact.revision;
    let text = read_artifact(ctx.runs(), loaded, PLAN, Some(revision))?;
    // What isn't an object was handed in some other way, and has no sections.
    let sections = serde_json::from_slice(&text.content).unwrap_or_default();
    Ok(Some(Draft {
        sections,
        revision,
        time: current.time,
    }))
}

fn finalize(ctx: &Ctx<'_>, input: &OfRun) -> Outcome {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let loaded = ctx.runs().catch_up(&run)?;
    let Some(draft) = draft(ctx, &loaded)? else {
        let message = "there is no draft of the plan: submit its sections first, or all of it with `ralph_submit_artifact`";
        return Err(Problem::new("no_draft", message));
    };
    let order = ctx.order(run, None, None)?;
    let finalize = FinalizeArtifact {
        name: PLAN.to_owned(),
        revision: Some(draft.revision),
    };
    let written = ctx.runs().execute(&order, &finalize)?;
    check(PLAN, &written)?;
    Ok(json!(format!("Artifact submitted: {PLAN}")))
}

fn get(ctx: &Ctx<'_>, input: &OfRun) -> Outcome {
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    let Some(draft) = draft(ctx, &loaded)? else {
        return Ok(json!({"staged_sections": []}));
    };
    let revisions = loaded.state.artifacts.get(PLAN);
    let first = revisions.and_then(|all| all.iter().find(|it| it.artifact.stage == Stage::Draft));
    let names: Vec<&String> = draft.sections.keys().collect();
    Ok(json!({
        "staged_sections": names,
        "started_at": first.map(|it| it.time),
        "updated_at": draft.time,
        "draft": draft.sections,
    }))
}

fn discard(ctx: &Ctx<'_>, input: &OfRun) -> Outcome {
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    if draft(ctx, &loaded)?.is_none() {
        return Ok(json!("No plan draft to discard."));
    }
    let runs = ctx.runs();
    // Each staged section has made a revision; a plan that was final before them stands.
    let revisions = loaded.state.artifacts.get(PLAN).into_iter().flatten();
    let drafts = revisions.filter(|it| it.artifact.stage == Stage::Draft);
    let drafts: Vec<u64> = drafts.map(|it| it.artifact.revision).collect();
    for revision in drafts {
        let order = ctx.order(loaded.run.clone(), None, None)?;
        let discard = DiscardArtifact {
            name: PLAN.to_owned(),
            revision: Some(revision),
            reason: None,
        };
        check(PLAN, &runs.execute(&order, &discard)?)?;
    }
    Ok(json!("Plan draft discarded."))
}
