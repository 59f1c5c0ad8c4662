//! Artifacts, and the plan section by section.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::{Finding, Stage};
use statemark_runs::runs::{DiscardArtifact, FinalizeArtifact, PutArtifact, Submitted};
use statemark_runs::{
    Contract, Loaded, MAX_DOCUMENT_VALUES, Operation, Order, RunId, Written, builtin, builtin_type,
    builtins, read_artifact,
};
use statemark_text::json::{count_values, describe_repeated_key};
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Tool};

use super::{run_or_begin, tool};

/// Most findings in an error.
const MAX_FINDINGS: usize = 10;

/// The prefix of the built-in contracts of Ralph's artifacts.
const PREFIX: &str = "ralph/";

/// The name of the plan's artifact.
const PLAN: &str = "plan";

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "ralph_submit_artifact",
            title: "Submit an artifact",
            description: "Hands in a structured artifact of the session's run. An error says what breaks its contract, and where.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("submit_artifact"),
            run: submit_artifact,
        }),
        tool(&ProfileTool {
            name: "ralph_submit_plan_section",
            title: "Submit a section of the plan",
            description: "Checks one section of the plan and stages it. `ralph_finalize_plan` hands in the whole plan.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("submit_artifact"),
            run: submit_plan_section,
        }),
        tool(&ProfileTool {
            name: "ralph_finalize_plan",
            title: "Finalize the plan",
            description: "Checks the plan's draft as a whole and hands it in. If it breaks its contract, it stays a draft.",
            annotations: Annotations::IDEMPOTENT,
            output: "",
            equivalent: Some("submit_artifact"),
            run: finalize_plan,
        }),
        tool(&ProfileTool {
            name: "ralph_get_plan_draft",
            title: "Get the plan's draft",
            description: "The staged sections with their content.",
            annotations: Annotations::READ_ONLY,
            output: "",
            equivalent: Some("submit_artifact"),
            run: get_plan_draft,
        }),
        tool(&ProfileTool {
            name: "ralph_discard_plan_draft",
            title: "Discard the plan's draft",
            description: "Throws the draft away, so that the next plan starts anew.",
            annotations: Annotations::DESTRUCTIVE,
            output: "",
            equivalent: Some("submit_artifact"),
            run: discard_plan_draft,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitArtifact {
    /// The type.
    ///
    /// One of plan, development_result, issues, fix_result, commit_message, development_analysis_decision,
    /// review_analysis_decision, or an artifact of the workflow.
    artifact_type: String,
    /// The artifact: JSON, in a text.
    content: Value,
    /// The run, if several are active.
    run_id: Option<String>,
}

fn submit_artifact(ctx: &Ctx<'_>, input: &SubmitArtifact) -> Outcome {
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
    // A commit agent's two types are one artifact.
    let name = match input.artifact_type.as_str() {
        "commit" | "skip" => "commit_message",
        other => other,
    };
    let content = match &input.content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    submit(ctx, &run, name, content, true)?;
    Ok(json!(format!("Artifact submitted: {name}")))
}

/// Submits an artifact under its contract.
fn submit(
    ctx: &Ctx<'_>,
    run: &RunId,
    name: &str,
    content: String,
    is_final: bool,
) -> Result<(), Problem> {
    let runs = ctx.runs();
    let loaded = runs.catch_up(run)?;
    let kind = format!("{PREFIX}{name}");
    let known = builtins();
    let is_builtin = known.contains(&kind);
    if !is_builtin && !loaded.known_artifacts().iter().any(|it| it == name) {
        let types = known.iter().filter_map(|it| it.strip_prefix(PREFIX));
        let types: Vec<&str> = types.collect();
        let message = format!("there is no type `{name}`; there are {}", types.join(", "));
        return Err(Problem::new("unknown_artifact", message));
    }
    let put = PutArtifact {
        kind: is_builtin.then_some(kind),
        is_final,
        ..PutArtifact::draft(name, content)
    };
    change(ctx, run, name, &put)
}

/// Executes an operation on an artifact, and reports what its contract has against it.
fn change<O>(ctx: &Ctx<'_>, run: &RunId, name: &str, operation: &O) -> Result<(), Problem>
where
    O: Operation<Order = Order, Response = Written<Submitted>>,
{
    let order = ctx.order(run.clone(), None, None)?;
    let written = ctx.runs().execute(&order, operation)?;
    let submitted = written.outcome;
    let Some(refused) = submitted.refused else {
        return Ok(());
    };
    let verdict = submitted.artifact.and_then(|it| it.verdict);
    let findings = verdict.map(|it| it.findings).unwrap_or_default();
    if refused.code != "contract_broken" || findings.is_empty() {
        return Err(Problem::new(refused.code, refused.reason));
    }
    Err(contract_broken(name, &written.loaded, &findings))
}

/// Returns the problem of a document that breaks its contract.
fn contract_broken(name: &str, loaded: &Loaded, findings: &[Finding]) -> Problem {
    let mut message = format!("`{name}` isn't as its contract says:");
    for finding in findings.iter().take(MAX_FINDINGS) {
        let help = finding.help.as_ref().map(|it| format!("; {it}"));
        let help = help.unwrap_or_default();
        message += &format!("\n- line {}: {}{help}", finding.line, finding.what);
    }
    let more = findings.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        message += &format!("\n- and {more} more");
    }
    let workflow = &loaded.state.workflow;
    message += &format!("\nIts contract: statemark://workflow/{workflow}/artifact/{name}");
    // Not every client reads resources.
    let declared = loaded.workflow.meta().get("artifacts");
    let is_own = declared.is_some_and(|all| all.get(name).is_some());
    let common = builtin_type(name).filter(|_| !is_own);
    if let Some(example) = common.and_then(|kind| builtin(&kind)?.get("example").cloned()) {
        message += &format!("\nAn example: {example}");
    }
    Problem::new("contract_broken", message)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubmitPlanSection {
    /// The section.
    ///
    /// One of summary, skills_mcp, steps, work_units, critical_files, risks_mitigations, verification_strategy, parallel_plan.
    section: String,
    /// The section's content: JSON, in a text.
    content: Value,
    /// `append` adds one item to a section that is a list.
    #[serde(default)]
    mode: Mode,
    /// The run, if several are active.
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
struct PlanInput {
    /// The run, if several are active.
    run_id: Option<String>,
}

fn submit_plan_section(ctx: &Ctx<'_>, input: &SubmitPlanSection) -> Outcome {
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
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
    let content = parse(&input.content)?;
    let mut staged = read_draft(ctx, &loaded)?.map_or_else(Map::new, |it| it.sections);
    let value = match input.mode {
        Mode::Replace => content,
        Mode::Append => append(name, schema, staged.get(name), content)?,
    };
    let contract = Contract::parse(&json!({"schema": schema}));
    let contract = contract.map_err(|error| Problem::new("bad_contract", error))?;
    let verdict = contract.check(pretty(&value).as_bytes());
    if !verdict.holds {
        return Err(contract_broken(PLAN, &loaded, &verdict.findings));
    }
    staged.insert(name.clone(), value);
    let names: Vec<&str> = staged.keys().map(String::as_str).collect();
    let names = names.join(", ");
    submit(ctx, &run, PLAN, pretty(&Value::Object(staged)), false)?;
    let mode = match input.mode {
        Mode::Replace => "replace",
        Mode::Append => "append",
    };
    Ok(json!(format!(
        "Plan section staged: {name} (mode={mode}). Staged sections: {names}"
    )))
}

/// Returns the schema of each section: the definition's own, else the built-in one.
fn sections(loaded: &Loaded) -> Map<String, Value> {
    let own = loaded.workflow.meta().get("artifacts");
    let own = own.and_then(|it| it.get(PLAN)?.pointer("/schema/properties").cloned());
    let common = || builtin("ralph/plan").and_then(|it| it.pointer("/schema/properties").cloned());
    match own.or_else(common) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Appends an item to a list.
fn append(
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

/// Parses JSON in a text; other JSON stays.
fn parse(content: &Value) -> Result<Value, Problem> {
    let Value::String(text) = content else {
        return Ok(content.clone());
    };
    let refuse = |what: String| Problem::new("invalid_arguments", format!("`content`: {what}"));
    if count_values(text.as_bytes()) > MAX_DOCUMENT_VALUES {
        let what = format!("this has more than {MAX_DOCUMENT_VALUES} values");
        return Err(refuse(what));
    }
    let value =
        serde_json::from_str(text).map_err(|error| refuse(format!("this isn't JSON: {error}")))?;
    describe_repeated_key(text.as_bytes()).map_or(Ok(value), |repeated| Err(refuse(repeated)))
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

/// Reads the draft, if the current revision is one.
fn read_draft(ctx: &Ctx<'_>, loaded: &Loaded) -> Result<Option<Draft>, Problem> {
    let current = loaded.state.current(PLAN);
    let Some(current) = current.filter(|it| it.artifact.stage == Stage::Draft) else {
        return Ok(None);
    };
    let revision = current.artifact.revision;
    let text = read_artifact(ctx.runs(), loaded, PLAN, Some(revision))?;
    // A draft that isn't an object has no sections: it was submitted as a whole.
    let sections = serde_json::from_slice(&text.content).unwrap_or_default();
    Ok(Some(Draft {
        sections,
        revision,
        time: current.time,
    }))
}

fn finalize_plan(ctx: &Ctx<'_>, input: &PlanInput) -> Outcome {
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
    let loaded = ctx.runs().catch_up(&run)?;
    let Some(draft) = read_draft(ctx, &loaded)? else {
        let message = "there is no draft of the plan: submit its sections first, or all of it with `ralph_submit_artifact`";
        return Err(Problem::new("no_draft", message));
    };
    let finalize = FinalizeArtifact {
        name: PLAN.to_owned(),
        revision: Some(draft.revision),
    };
    change(ctx, &run, PLAN, &finalize)?;
    Ok(json!(format!("Artifact submitted: {PLAN}")))
}

fn get_plan_draft(ctx: &Ctx<'_>, input: &PlanInput) -> Outcome {
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
    let loaded = ctx.runs().catch_up(&run)?;
    let Some(draft) = read_draft(ctx, &loaded)? else {
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

fn discard_plan_draft(ctx: &Ctx<'_>, input: &PlanInput) -> Outcome {
    let run = run_or_begin(ctx, input.run_id.as_deref())?;
    let loaded = ctx.runs().catch_up(&run)?;
    if read_draft(ctx, &loaded)?.is_none() {
        return Ok(json!("No plan draft to discard."));
    }
    // Each staged section made a revision. An earlier final plan remains.
    let revisions = loaded.state.artifacts.get(PLAN).into_iter().flatten();
    let drafts = revisions.filter(|it| it.artifact.stage == Stage::Draft);
    let drafts: Vec<u64> = drafts.map(|it| it.artifact.revision).collect();
    for revision in drafts {
        let discard = DiscardArtifact {
            name: PLAN.to_owned(),
            revision: Some(revision),
            reason: None,
        };
        change(ctx, &loaded.run, PLAN, &discard)?;
    }
    Ok(json!("Plan draft discarded."))
}
