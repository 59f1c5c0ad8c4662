//! `get_artifact`: what a run has handed in, and what is in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::Artifact;
use statemark_runs::state::Revision;
use statemark_runs::{Loaded, RunError, RunId};

use super::diagnostic;
use crate::bounds;
use crate::call::Call;
use crate::next::next;
use crate::problem::Problem;
use crate::resource::Address;
use crate::tool::{Data, Hints, Set, Tool};
use crate::tools::{NEXT, about, add, fields, place, put, room};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The artifact; else all are listed.
    name: Option<String>,
    /// Instead of the name: the path of one that is a file.
    path: Option<String>,
    /// The revision; else the current one.
    revision: Option<u64>,
    /// From this byte of the content on.
    #[serde(default)]
    offset: usize,
    /// Where the list before ended.
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::new(
        ("get_artifact", Set::Artifacts, Hints::READS),
        (
            "Read an artifact",
            "Lists what a run has handed in and what is missing; by name, the content with its hash. `next_offset` is where long content goes on.",
        ),
        &[
            ("artifacts", "array"),
            ("missing", "array"),
            ("content", "string"),
            ("hash", "string"),
            ("next_offset", "integer"),
            NEXT,
        ],
        run,
    )
}

fn run(call: &Call<'_>, input: &Input) -> Data {
    let loaded = call.load(input.run_id.as_deref())?;
    match named(&loaded, input)? {
        Some(name) => content(call, &loaded, &name, input),
        None => list(&loaded, input),
    }
}

/// The artifact that is meant, if one is.
fn named(loaded: &Loaded, input: &Input) -> Result<Option<String>, Problem> {
    let Some(path) = &input.path else {
        return Ok(input.name.clone());
    };
    let mut all = loaded.state.artifacts.iter();
    let found = all.find(|(name, revisions)| {
        let is_there = revisions
            .iter()
            .any(|it| it.artifact.path.as_ref() == Some(path));
        is_there && input.name.as_ref().is_none_or(|it| it == *name)
    });
    match found {
        Some((name, _)) => Ok(Some(name.clone())),
        None => {
            let message = format!("no artifact of the run is the file `{path}`");
            let list = json!({"run_id": loaded.run});
            Err(Problem::new("no_revision", message).mended_by("get_artifact", list))
        }
    }
}

/// All of them, as they count now.
fn list(loaded: &Loaded, input: &Input) -> Data {
    let from = place("artifacts", input.cursor.as_deref())?;
    let state = &loaded.state;
    let known = loaded.known_artifacts().into_iter();
    let missing: Vec<String> = known.filter(|it| state.standing(it).is_none()).collect();
    let mut answer = fields(json!({"run_id": loaded.run}));
    if input.cursor.is_none() {
        answer.insert("next".to_owned(), next(loaded)?);
    }
    if !missing.is_empty() && input.cursor.is_none() {
        let missing = missing.into_iter().map(Value::from).collect();
        let missing = bounds::fitting(missing, bounds::MOST / 2);
        answer.insert("missing".to_owned(), json!(missing));
    }
    add(&mut answer, "artifacts", all(loaded), from);
    Ok(answer)
}

/// All artifacts of a run as they count now: of each the current revision; of one that has none, the last.
pub(crate) fn all(loaded: &Loaded) -> Value {
    let state = &loaded.state;
    let told = state.artifacts.iter().filter_map(|(name, revisions)| {
        let current = state.current(name).or(revisions.last())?;
        let mut told = told(&current.artifact);
        put(&mut told, "revisions", json!(revisions.len()));
        Some(told)
    });
    told.collect()
}

/// What is known of a revision, without what is in it.
fn told(artifact: &Artifact) -> Value {
    let mut told = json!({
        "name": artifact.name,
        "revision": artifact.revision,
        "stage": artifact.stage,
        "valid": artifact.holds(),
    });
    for (key, value) in [
        ("size", json!(artifact.size)),
        ("hash", json!(artifact.content)),
        ("media", json!(artifact.media)),
        ("path", json!(artifact.path)),
        ("storage_root", json!(artifact.storage_root)),
        ("step", json!(artifact.step)),
        ("unit", json!(artifact.unit)),
        ("reason", json!(artifact.reason)),
    ] {
        if !value.is_null() {
            put(&mut told, key, value);
        }
    }
    told
}

fn with_run(loaded: &Loaded, artifact: &Artifact) -> Value {
    let mut told = told(artifact);
    put(&mut told, "run_id", json!(loaded.run));
    told
}

fn content(call: &Call<'_>, loaded: &Loaded, name: &str, input: &Input) -> Data {
    let known = loaded.state.artifacts.get(name);
    let meant = |it: &&Revision| {
        input
            .revision
            .is_none_or(|wanted| wanted == it.artifact.revision)
    };
    let file = known.and_then(|all| all.iter().rev().find(meant));
    if let Some(file) = file.filter(|it| it.artifact.content.is_none()) {
        // Its content is where it lies, and not in the store.
        return about(loaded, with_run(loaded, &file.artifact));
    }
    let runs = call.desk.runs();
    let read = runs
        .read_artifact(loaded, name, input.revision)
        .map_err(|error| no_revision(&loaded.run, error))?;
    let artifact = &read.revision.artifact;
    let mut answer = fields(with_run(loaded, artifact));
    if input.offset == 0 {
        // A piece behind the first one goes on with an answer that has it.
        answer.insert("next".to_owned(), next(loaded)?);
    }
    let diagnostics = artifact.verdict.as_ref().filter(|it| !it.holds);
    if let Some(verdict) = diagnostics.filter(|_| input.offset == 0) {
        let found = verdict.findings.iter().map(diagnostic);
        answer.insert("diagnostics".to_owned(), json!(found.collect::<Vec<_>>()));
    }
    let Ok(text) = std::str::from_utf8(&read.content) else {
        let (run, revision) = (loaded.run.clone(), Some(artifact.revision));
        let resource = Address::Artifact(run, name.to_owned(), revision).to_string();
        answer.insert("resource".to_owned(), json!(resource));
        return Ok(answer);
    };
    piece(&mut answer, text, input.offset)?;
    Ok(answer)
}

/// That there is no such revision, and where those are listed that there are.
pub(crate) fn no_revision(run: &RunId, error: RunError) -> Problem {
    match error {
        RunError::Invalid { what } => {
            Problem::new("no_revision", what).mended_by("get_artifact", json!({"run_id": run}))
        }
        error => error.into(),
    }
}

/// As much of a text as there is room for.
fn piece(answer: &mut Map<String, Value>, text: &str, from: usize) -> Result<(), Problem> {
    let Some(rest) = text.get(from..) else {
        let what = format!(
            "no character of the content, which has {} bytes, begins there",
            text.len()
        );
        return Err(Problem::argument("offset", what));
    };
    let room = room(answer);
    let mut piece = bounds::cut(rest, room).0;
    // A text is longer in JSON, where quotes and line ends are two characters.
    loop {
        let size = json!(piece).to_string().len();
        if size <= room || piece.len() < 16 {
            break;
        }
        let most = piece.len().saturating_mul(room) / size;
        piece = bounds::cut(piece, most.min(piece.len().saturating_sub(1))).0;
    }
    answer.insert("content".to_owned(), json!(piece));
    let end = from.saturating_add(piece.len());
    if from > 0 {
        answer.insert("offset".to_owned(), json!(from));
    }
    if end < text.len() {
        answer.insert("next_offset".to_owned(), json!(end));
    }
    Ok(())
}
