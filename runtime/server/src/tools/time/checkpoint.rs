//! `checkpoint`: saves the files of a run's working copy, or puts them back.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::runs::{Checkpoint, Restore};
use statemark_runs::state::Checkpoint as Kept;
use statemark_runs::{FinishRestore, GiveUpRestore, Loaded, Written};

use crate::ctx::Ctx;
use crate::envelope::pages::Position;
use crate::envelope::{Fields, NEXT, add_page, answer_about, answer_order, set_field};
use crate::options::Set;
use crate::problem::Problem;
use crate::tool::{Annotations, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Save the files, put them back, finish or give up putting them back, or list what was saved.
    #[serde(default)]
    action: Action,
    /// The checkpoint's name; a new one without gets the number of its record.
    name: Option<String>,
    /// A folder of the repository, under the one that the server works in.
    folder: Option<PathBuf>,
    /// Why.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// The same key with the same call gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Take,
    Restore,
    Finish,
    GiveUp,
    List,
}

pub(super) fn tool() -> Tool {
    Tool::own(
        ("checkpoint", Set::Time, Annotations::DESTRUCTIVE),
        (
            "Save or restore files",
            "Saves the files of the working copy with the run, or puts them back; git's branches, index and stash stay. What is overwritten is saved before.",
        ),
        &[("checkpoint", "object"), ("checkpoints", "array"), NEXT],
        run,
    )
}

fn run(ctx: &Ctx<'_>, input: &Input) -> Fields {
    let runs = ctx.runs();
    let run = ctx.resolve_run(input.run_id.as_deref())?;
    let key = input.idempotency_key.as_deref();
    let order = ctx.order(run, key, input.expected_seq)?;
    let written = match input.action {
        Action::List => return list(&runs.caught_up(&order.run)?),
        Action::Take => {
            let checkpoint = Checkpoint {
                folder: folder(input.folder.as_deref())?,
                name: input.name.clone(),
                reason: input.reason.clone(),
            };
            runs.execute(&order, &checkpoint)?
        }
        Action::Restore => {
            let Some(name) = input.name.clone() else {
                return Err(Problem::argument(
                    "name",
                    "say which, for `action: restore`",
                ));
            };
            runs.execute(&order, &Restore { name })?
        }
        Action::Finish => runs.execute(&order, &FinishRestore)?,
        Action::GiveUp => {
            let reason = input.reason.clone();
            let reason = reason.unwrap_or_else(|| "given up by its caller".to_owned());
            runs.execute(&order, &GiveUpRestore { reason })?
        }
    };
    let current = current(&written);
    answer_order(&written, json!({"checkpoint": current}))
}

/// The one that the files are as, if they are as one.
fn current<T>(written: &Written<T>) -> Option<Value> {
    let state = &written.loaded.state;
    let name = state.workspace.as_ref()?;
    state.checkpoints.get(name).map(told)
}

fn list(loaded: &Loaded) -> Fields {
    let state = &loaded.state;
    let mut kept: Vec<&Kept> = state.checkpoints.values().collect();
    kept.sort_by_key(|it| it.seq);
    let kept = kept.into_iter().map(|it| {
        let mut told = told(it);
        if state.workspace.as_ref() == Some(&it.taken.name) {
            set_field(&mut told, "current", json!(true));
        }
        told
    });
    let kept: Vec<Value> = kept.collect();
    let restoring = state.restoring.as_ref().map(|it| &it.name);
    let mut answer = answer_about(loaded, json!({"restoring": restoring}))?;
    add_page(&mut answer, "checkpoints", json!(kept), Position::default());
    Ok(answer)
}

fn told(kept: &Kept) -> Value {
    let mut told = json!({
        "name": kept.taken.name,
        "seq": kept.seq,
        "time": kept.time,
        "commit": kept.taken.commit,
        "tree": kept.taken.tree,
    });
    if let Some(reason) = &kept.taken.reason {
        set_field(&mut told, "reason", json!(reason));
    }
    told
}

/// The folder, which has to lie under the one that the server works in: a caller doesn't choose among all that it can read.
fn folder(named: Option<&Path>) -> Result<PathBuf, Problem> {
    let unreadable = |error| Problem::argument("folder", format!("it can't be read: {error}"));
    let root = std::env::current_dir().and_then(|it| it.canonicalize());
    let root = root.map_err(unreadable)?;
    let Some(named) = named else {
        return Ok(root);
    };
    let folder = root.join(named).canonicalize().map_err(unreadable)?;
    if folder.starts_with(&root) {
        return Ok(folder);
    }
    let what = "it has to lie under the folder that the server works in";
    Err(Problem::argument("folder", what))
}
