//! `get_artifact`: what a run has handed in, and what is in it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::Loaded;
use statemark_runs::body::Artifact;
use statemark_runs::state::Revision;

use super::diagnostic;
use crate::ctx::Ctx;
use crate::envelope::bounds;
use crate::envelope::next::{describe_artifact, describe_next, list_artifacts};
use crate::envelope::{
    Fields, NEXT, add_page, answer_about, into_fields, page_start, remaining_room,
};
use crate::lookup::unknown_revision;
use crate::options::Set;
use crate::problem::Problem;
use crate::resource::Address;
use crate::tool::{Annotations, Tool};

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
    Tool::own(
        ("get_artifact", Set::Artifacts, Annotations::READ_ONLY),
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

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let loaded = ctx.load_run(input.run_id.as_deref())?;
    match named(&loaded, input)? {
        Some(name) => content(ctx, &loaded, &name, input),
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
fn list(loaded: &Loaded, input: &Input) -> Fields {
    let from = page_start("artifacts", input.cursor.as_deref())?;
    let state = &loaded.state;
    let known = loaded.known_artifacts().into_iter();
    let missing: Vec<String> = known.filter(|it| state.standing(it).is_none()).collect();
    let mut answer = into_fields(json!({"run_id": loaded.run}));
    if input.cursor.is_none() {
        answer.insert("next".to_owned(), describe_next(loaded)?);
    }
    if !missing.is_empty() && input.cursor.is_none() {
        let missing = missing.into_iter().map(Value::from).collect();
        let missing = bounds::take_fitting(missing, bounds::MAX_REPLY / 2);
        answer.insert("missing".to_owned(), json!(missing));
    }
    add_page(&mut answer, "artifacts", list_artifacts(loaded), from);
    Ok(answer)
}

fn with_run(loaded: &Loaded, artifact: &Artifact) -> Value {
    let mut fields = describe_artifact(artifact);
    fields.insert("run_id".to_owned(), json!(loaded.run));
    Value::Object(fields)
}

fn content(ctx: &Ctx<'_>, loaded: &Loaded, name: &str, input: &Input) -> Fields {
    let known = loaded.state.artifacts.get(name);
    let meant = |it: &&Revision| {
        input
            .revision
            .is_none_or(|wanted| wanted == it.artifact.revision)
    };
    let file = known.and_then(|all| all.iter().rev().find(meant));
    if let Some(file) = file.filter(|it| it.artifact.content.is_none()) {
        // Its content is where it lies, and not in the store.
        return answer_about(loaded, with_run(loaded, &file.artifact));
    }
    let runs = ctx.runs();
    let read = runs
        .read_artifact(loaded, name, input.revision)
        .map_err(|error| unknown_revision(&loaded.run, error))?;
    let artifact = &read.revision.artifact;
    let mut answer = into_fields(with_run(loaded, artifact));
    if input.offset == 0 {
        // A piece behind the first one goes on with an answer that has it.
        answer.insert("next".to_owned(), describe_next(loaded)?);
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

/// As much of a text as there is room for.
fn piece(answer: &mut Map<String, Value>, text: &str, from: usize) -> Result<(), Problem> {
    let Some(rest) = text.get(from..) else {
        let what = format!(
            "no character of the content, which has {} bytes, begins there",
            text.len()
        );
        return Err(Problem::argument("offset", what));
    };
    let room = remaining_room(answer);
    let mut piece = bounds::truncate(rest, room).0;
    // A text is longer in JSON, where quotes and line ends are two characters.
    loop {
        let size = json!(piece).to_string().len();
        if size <= room || piece.len() < 16 {
            break;
        }
        let most = piece.len().saturating_mul(room) / size;
        piece = bounds::truncate(piece, most.min(piece.len().saturating_sub(1))).0;
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
