//! `ralph_submit_artifact`, and what all of its artifacts have in common.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::Finding;
use statemark_runs::runs::{PutArtifact, Submitted};
use statemark_runs::{Loaded, RunId, Written, builtins};

use super::shape;
use crate::ctx::Ctx;
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The type: plan, development_result, issues, fix_result, commit_message, development_analysis_decision,
    /// review_analysis_decision, or an artifact of the workflow.
    artifact_type: String,
    /// The artifact: JSON, in a text.
    content: Value,
    /// The run, where several are active.
    run_id: Option<String>,
}

/// Most findings that an error tells.
const FINDINGS: usize = 10;

/// Where the built-in contracts of these artifacts stand.
const PREFIX: &str = "ralph/";

pub(super) fn tool() -> Tool {
    Tool::profile(
        ("ralph_submit_artifact", Set::Ralph, Annotations::IDEMPOTENT),
        (
            "Submit an artifact",
            "Hands in a structured artifact of the session's run. An error says what its contract has against it, and where.",
        ),
        shape,
        run,
    )
    .equivalent_to("submit_artifact")
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Outcome {
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    // Two types that a commit agent may say are one artifact.
    let name = match input.artifact_type.as_str() {
        "commit" | "skip" => "commit_message",
        other => other,
    };
    let content = match &input.content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    submit(ctx, run, name, content, true)?;
    Ok(json!(format!("Artifact submitted: {name}")))
}

/// Hands in an artifact under its contract.
pub(super) fn submit(
    ctx: &Ctx<'_>,
    run: RunId,
    name: &str,
    content: String,
    is_final: bool,
) -> Result<Written<Submitted>, Problem> {
    let runs = ctx.runs();
    let loaded = runs.catch_up(&run)?;
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
    let order = ctx.order(run, None, None)?;
    let written = runs.execute(&order, &put)?;
    check(name, &written)?;
    Ok(written)
}

/// Whether it was taken, else what is wrong and where its contract is told.
pub(super) fn check(name: &str, written: &Written<Submitted>) -> Result<(), Problem> {
    let submitted = written.outcome.clone();
    let Some(refused) = submitted.refused else {
        return Ok(());
    };
    let verdict = submitted.artifact.and_then(|it| it.verdict);
    let findings = verdict.map(|it| it.findings).unwrap_or_default();
    if refused.code != "contract_broken" || findings.is_empty() {
        return Err(Problem::new(refused.code, refused.reason));
    }
    Err(broken(name, &written.loaded, &findings))
}

/// What a contract has against a document.
pub(super) fn broken(name: &str, loaded: &Loaded, findings: &[Finding]) -> Problem {
    let mut message = format!("`{name}` isn't as its contract says:");
    for finding in findings.iter().take(FINDINGS) {
        let help = finding.help.as_ref().map(|it| format!("; {it}"));
        let help = help.unwrap_or_default();
        message += &format!("\n- line {}: {}{help}", finding.line, finding.what);
    }
    let more = findings.len().saturating_sub(FINDINGS);
    if more > 0 {
        message += &format!("\n- and {more} more");
    }
    let workflow = &loaded.state.workflow;
    message += &format!("\nIts contract: statemark://workflow/{workflow}/artifact/{name}");
    Problem::new("contract_broken", message)
}
