//! `submit_artifact`: hands in what a state requires, checked against its contract.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use statemark_runs::body::Verdict;
use statemark_runs::runs::{
    DiscardArtifact, Edit, EditArtifact, FinalizeArtifact, PutArtifact, Submitted,
};
use statemark_runs::{Loaded, Order, Written};

use super::diagnostic;
use crate::ctx::Ctx;
use crate::envelope::{Fields, NEXT, answer_about, answer_order, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::resource::Address;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The artifact.
    name: String,
    /// Only check it; keep it as a draft; hand it in as final; throw a revision away. `final` without content makes the
    /// current draft final.
    mode: Mode,
    /// All of it: a text, or JSON.
    content: Option<Value>,
    /// Instead: changes of the current revision, each of what the one before has left.
    #[serde(default)]
    edits: Vec<Change>,
    /// The revision that it is made from, or that is meant: refused if it isn't the current one any more.
    base_revision: Option<u64>,
    /// Its media type, if its contract doesn't say it.
    media: Option<String>,
    /// The unit of work that made it.
    unit: Option<String>,
    /// Why, for `discard`.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Check,
    Draft,
    Final,
    Discard,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    /// What stands there exactly once.
    old: String,
    /// What shall stand there.
    new: String,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("submit_artifact", Set::Artifacts, Annotations::IDEMPOTENT),
        (
            "Submit an artifact",
            "Hands in what a state requires, whole or as edits. What its contract refuses is named by line, and stays a draft.",
        ),
        &[
            ("revision", "integer"),
            ("stage", "string"),
            ("valid", "boolean"),
            ("diagnostics", "array"),
            NEXT,
        ],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let runs = ctx.runs();
    if input.content.is_some() && !input.edits.is_empty() {
        return Err(Problem::argument("edits", "give either them, or `content`"));
    }
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(run, key, input.expected_seq)?;
    let content = input.content.as_ref().map(text);
    let written = match (input.mode, content) {
        (Mode::Check, content) => return check(ctx, &order, input, content),
        (Mode::Discard, None) if input.edits.is_empty() => {
            let discard = DiscardArtifact {
                name: input.name.clone(),
                revision: input.base_revision,
                reason: input.reason.clone(),
            };
            runs.execute(&order, &discard)?
        }
        (Mode::Discard, _) => {
            let what = "nothing is handed in with `mode: discard`";
            return Err(Problem::argument("content", what));
        }
        (mode, Some(content)) => {
            let put = PutArtifact {
                media: input.media.clone(),
                is_final: mode == Mode::Final,
                base: input.base_revision,
                unit: input.unit.clone(),
                ..PutArtifact::draft(&input.name, content)
            };
            runs.execute(&order, &put)?
        }
        (_, None) if !input.edits.is_empty() => runs.execute(&order, &edits(input))?,
        (Mode::Final, None) => {
            let finalize = FinalizeArtifact {
                name: input.name.clone(),
                revision: input.base_revision,
            };
            runs.execute(&order, &finalize)?
        }
        (_, None) => {
            let what = "say what to hand in, here or as `edits`";
            return Err(Problem::argument("content", what));
        }
    };
    submitted(ctx, input, &written)
}

/// Content as it is kept: a text as it is, JSON for people.
fn text(content: &Value) -> Vec<u8> {
    match content {
        Value::String(text) => text.clone().into_bytes(),
        other => format!("{other:#}\n").into_bytes(),
    }
}

fn edits(input: &Input) -> EditArtifact {
    let edits = input.edits.iter().map(|it| Edit {
        old: it.old.clone(),
        new: it.new.clone(),
    });
    EditArtifact {
        name: input.name.clone(),
        edits: edits.collect(),
        is_final: input.mode == Mode::Final,
        base: input.base_revision,
    }
}

/// What the contract says; nothing is written.
fn check(ctx: &Ctx<'_>, order: &Order, input: &Input, content: Option<Vec<u8>>) -> Fields {
    let runs = ctx.runs();
    let loaded = runs.caught_up(&order.run)?;
    let verdict = match content {
        Some(content) => runs.check_artifact(&loaded, &input.name, &content)?,
        None if !input.edits.is_empty() => runs.check_edit(&loaded, &edits(input))?,
        None => {
            let current = runs.read_artifact(&loaded, &input.name, input.base_revision)?;
            runs.check_artifact(&loaded, &input.name, &current.content)?
        }
    };
    let mut told = json!({"name": input.name});
    add(&mut told, Some(&verdict));
    answer_about(&loaded, told)
}

/// What was kept, and what its contract says of it.
fn submitted(ctx: &Ctx<'_>, input: &Input, written: &Written<Submitted>) -> Fields {
    let submitted = &written.outcome;
    let mut told = json!({"name": input.name});
    if let Some(kept) = &submitted.artifact {
        set_field(&mut told, "revision", json!(kept.revision));
        set_field(&mut told, "stage", json!(kept.stage));
        set_field(&mut told, "size", json!(kept.size));
        set_field(&mut told, "hash", json!(kept.content));
        add(&mut told, kept.verdict.as_ref());
    }
    let Some(refused) = &submitted.refused else {
        return answer_order(written, told);
    };
    // What was kept all the same is said with the refusal.
    let mut problem = match answer_order(written, json!({})) {
        Err(problem) => problem,
        Ok(_) => Problem::refused(refused),
    };
    if let (Value::Object(details), Value::Object(told)) = (&mut problem.details, told) {
        details.extend(told);
        details.insert(
            "contract".to_owned(),
            json!(contract(&written.loaded, &input.name)),
        );
    }
    Err(mended(problem, &written.loaded, input, ctx))
}

/// The page that says what an artifact has to be like.
fn contract(loaded: &Loaded, name: &str) -> String {
    Address::Contract(loaded.workflow.id().to_owned(), name.to_owned()).to_string()
}

fn add(told: &mut Value, verdict: Option<&Verdict>) {
    set_field(told, "valid", json!(verdict.is_none_or(|it| it.holds)));
    let Some(verdict) = verdict.filter(|it| !it.findings.is_empty()) else {
        return;
    };
    let findings = verdict.findings.iter().map(diagnostic);
    set_field(told, "diagnostics", json!(findings.collect::<Vec<_>>()));
    if verdict.more > 0 {
        set_field(told, "more", json!(verdict.more));
    }
}

/// The problem with the call that leads on: one that edits what was kept, or one that reads what there is.
fn mended(problem: Problem, loaded: &Loaded, input: &Input, ctx: &Ctx<'_>) -> Problem {
    let run = &loaded.run;
    let current = loaded.state.current(&input.name);
    let revision = current.map(|it| it.artifact.revision);
    match problem.code.as_str() {
        "contract_broken" => {
            let edits = broken_lines(loaded, input, ctx);
            let mut arguments = json!({
                "run_id": run,
                "name": input.name,
                "mode": "final",
                "base_revision": revision,
            });
            match edits.as_slice() {
                [] => set_field(&mut arguments, "content", Value::Null),
                edits => set_field(&mut arguments, "edits", json!(edits)),
            }
            problem.mended_by("submit_artifact", arguments)
        }
        "stale_base" | "no_match" | "ambiguous" | "not_current" if revision.is_some() => {
            let arguments = json!({"run_id": run, "name": input.name});
            problem.mended_by("get_artifact", arguments)
        }
        "unknown_artifact" => problem.mended_by("get_artifact", json!({"run_id": run})),
        _ => problem,
    }
}

/// Edits of the lines that the contract finds fault with, where a line stands only once. What is null is for the caller to
/// write.
fn broken_lines(loaded: &Loaded, input: &Input, ctx: &Ctx<'_>) -> Vec<Value> {
    /// Most lines that are quoted, and most bytes of each.
    const LINES: usize = 5;
    const BYTES: usize = 200;
    let Ok(kept) = ctx.runs().read_artifact(loaded, &input.name, None) else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&kept.content).into_owned();
    let verdict = kept.revision.artifact.verdict.unwrap_or_default();
    let mut edits: Vec<Value> = Vec::new();
    for finding in &verdict.findings {
        let at = usize::try_from(finding.line.saturating_sub(1)).unwrap_or(usize::MAX);
        let line = text.lines().nth(at).unwrap_or_default();
        let stands_once = text.matches(line).take(2).count() == 1;
        let edit = json!({"old": line, "new": null});
        let is_known = edits.contains(&edit);
        if !line.trim().is_empty() && line.len() <= BYTES && stands_once && !is_known {
            edits.push(edit);
        }
        if edits.len() == LINES {
            break;
        }
    }
    edits
}
