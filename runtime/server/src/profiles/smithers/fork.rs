//! `fork_run` and `replay_run`: a run that begins as a copy of another's first frames.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_store::runs::{Fork, Restore, Rewind};
use statemark_store::{Loaded, Record, RunError, RunId, StoreError};

use super::nodes::{self, Nodes};
use super::rewind::{check_effects, end_of};
use super::summary::Teller;
use super::{invalid, load, shape};
use crate::call::Call;
use crate::problem::Problem;
use crate::tool::{Hints, Outcome, Set, Tool};
use crate::tools::{put, refusal};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Forking {
    /// The run that it branches off from.
    parent_run_id: String,
    /// The frame, from `get_timeline`.
    frame_no: u64,
    /// Nodes that shall not have been entered yet: the fork begins before the first of them was.
    #[serde(default)]
    reset_nodes: Vec<String>,
    /// Data that is different from here on.
    #[serde(default)]
    input_overrides: Map<String, Value>,
    /// A name for people.
    branch_label: Option<String>,
    /// What to call the new run; else it gets an id that nobody can guess.
    run_id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Replaying {
    /// The run that it branches off from.
    parent_run_id: String,
    /// The frame, from `get_timeline`.
    frame_no: u64,
    /// Nodes that shall not have been entered yet: the fork begins before the first of them was.
    #[serde(default)]
    reset_nodes: Vec<String>,
    /// Data that is different from here on.
    #[serde(default)]
    input_overrides: Map<String, Value>,
    /// A name for people.
    branch_label: Option<String>,
    /// What to call the new run; else it gets an id that nobody can guess.
    run_id: Option<String>,
    /// Put the files back as they were at the frame.
    #[serde(default)]
    restore_vcs: bool,
    /// The working copy that is meant: refused if the files were saved from another.
    cwd: Option<String>,
    /// Effects that have left behind the frame may leave again.
    #[serde(default)]
    confirm: bool,
}

pub(super) fn fork() -> Tool {
    Tool::foreign(
        ("fork_run", Set::Smithers, Hints::ADDS),
        (
            "Fork a run",
            "Begins a run as a copy of another up to a frame. The other is untouched, and the new one waits for its agent.",
        ),
        shape,
        |call, input: &Forking| {
            let asked = Asked {
                frame: input.frame_no,
                reset: &input.reset_nodes,
                overrides: &input.input_overrides,
                label: input.branch_label.as_deref(),
                run: input.run_id.as_deref(),
            };
            let (told, _) = forked(call, &load(call, &input.parent_run_id)?, &asked)?;
            Ok(told)
        },
    )
    .like("fork_run")
    .gives(GIVES)
}

pub(super) fn replay() -> Tool {
    let mut gives = GIVES.to_vec();
    gives.extend([
        ("vcsRestored", "boolean"),
        ("vcsPointer", ""),
        ("vcsError", "string"),
    ]);
    Tool::foreign(
        ("replay_run", Set::Smithers, Hints::ADDS),
        (
            "Replay a run",
            "Forks a run to go over it again from a frame, with its files if asked for. Go on with `run_workflow` and `resume`.",
        ),
        shape,
        replayed,
    )
    .like("fork_run")
    .gives(&gives)
}

const GIVES: &[(&str, &str)] = &[
    ("runId", "string"),
    ("parentRunId", "string"),
    ("parentFrameNo", "integer"),
    ("branch", "object"),
    ("snapshot", "object"),
    ("run", "object"),
];

struct Asked<'a> {
    frame: u64,
    reset: &'a [String],
    overrides: &'a Map<String, Value>,
    label: Option<&'a str>,
    /// The new run.
    run: Option<&'a str>,
}

fn replayed(call: &Call<'_>, input: &Replaying) -> Outcome {
    let parent = load(call, &input.parent_run_id)?;
    // Where nothing can be taken back there is nothing that would leave again.
    let behind = call
        .desk
        .runs()
        .plan_rewind(&parent.run, &Rewind::to(input.frame_no));
    if let Ok(plan) = behind {
        check_effects(&plan, input.confirm)?;
    }
    let asked = Asked {
        frame: input.frame_no,
        reset: &input.reset_nodes,
        overrides: &input.input_overrides,
        label: input.branch_label.as_deref(),
        run: input.run_id.as_deref(),
    };
    let (mut told, fork) = forked(call, &parent, &asked)?;
    let (pointer, error) = match restored(call, &fork, input) {
        Ok(pointer) => (pointer, None),
        Err(why) => (None, Some(why)),
    };
    put(&mut told, "vcsRestored", json!(pointer.is_some()));
    put(&mut told, "vcsPointer", json!(pointer));
    if let Some(error) = error {
        put(&mut told, "vcsError", json!(error));
    }
    Ok(told)
}

/// The commit that the files were put back to; why they weren't, if they should have been.
fn restored(call: &Call<'_>, fork: &Loaded, input: &Replaying) -> Result<Option<String>, String> {
    if !input.restore_vcs {
        return Ok(None);
    }
    let name = fork.state.workspace.as_ref();
    let Some((name, saved)) = name.and_then(|name| Some((name, fork.state.checkpoints.get(name)?)))
    else {
        return Err("no files were saved up to this frame".to_owned());
    };
    let folder = &saved.taken.repository;
    if let Some(cwd) = &input.cwd
        && !Path::new(cwd).starts_with(folder)
    {
        return Err(format!(
            "the files were saved from `{folder}`, not from `{cwd}`"
        ));
    }
    let runs = call.desk.runs();
    let order = call.order(fork.run.clone(), None, None);
    let order = order.map_err(|problem| problem.message)?;
    let restore = Restore { name: name.clone() };
    let written = runs.restore(&order, &restore);
    let written = written.map_err(|error| error.to_string())?;
    match refusal(&written) {
        Some(refused) => Err(refused.reason),
        None => Ok(Some(saved.taken.commit.clone())),
    }
}

fn forked(call: &Call<'_>, parent: &Loaded, asked: &Asked<'_>) -> Result<(Value, Loaded), Problem> {
    let at = begins_at(call, parent, asked)?;
    let fork = Fork {
        input: Value::Object(asked.overrides.clone()),
        title: asked.label.map(str::to_owned),
        ..Fork::new(parent.run.clone(), at)
    };
    let run = match asked.run {
        Some(named) => named
            .parse()
            .map_err(|error| invalid(format!("`runId`: {error}")))?,
        None => RunId::random(),
    };
    let order = call.order(run, None, None)?;
    let written = call.desk.runs().fork(&order, &fork);
    let written = written.map_err(|error| no_frame(error, at))?;
    let new = written.loaded;
    let store = call.desk.runs().store();
    let frame = store.records(&parent.run, at.saturating_sub(1), 1)?;
    let frame = frame.first();
    let told = json!({
        "runId": new.run,
        "parentRunId": parent.run,
        "parentFrameNo": at,
        "branch": {
            "runId": new.run,
            "parentRunId": parent.run,
            "parentFrameNo": at,
            "branchLabel": asked.label,
            "createdAtMs": new.head.created,
        },
        "snapshot": {
            "runId": parent.run,
            "frameNo": at,
            "createdAtMs": frame.map(|it| it.time),
            "contentHash": frame.map(|it| it.hash()),
            "states": new.state.leaves,
            "input": new.state.context,
        },
        "run": Teller::of(call).summary(call, &new)?,
    });
    Ok((told, new))
}

/// The frame that the fork begins at: the one asked for, or the last before one of the nodes was entered.
fn begins_at(call: &Call<'_>, parent: &Loaded, asked: &Asked<'_>) -> Result<u64, Problem> {
    let mut at = asked.frame;
    if asked.reset.is_empty() {
        return Ok(at);
    }
    let entered = Nodes::read(call, parent)?;
    for node in asked.reset {
        nodes::known(parent, node)?;
        let visits = entered.visits.iter().filter(|it| it.node == *node);
        let last = visits.rev().find(|it| it.entered <= asked.frame);
        if let Some(visit) = last {
            let before = before(call, &parent.run, visit.entered)?;
            at = at.min(before);
        }
    }
    Ok(at)
}

/// The last record before those that one was written with; the end of the first ones if there is none before.
fn before(call: &Call<'_>, run: &RunId, seq: u64) -> Result<u64, Problem> {
    let store = call.desk.runs().store();
    let mut at = seq.saturating_sub(1);
    while at > 0 {
        let record = store.records(run, at.saturating_sub(1), 1)?;
        if !record.first().is_some_and(Record::goes_on) {
            return Ok(at);
        }
        at = at.saturating_sub(1);
    }
    end_of(call, run, 1)
}

/// A frame that isn't one is no run that isn't there.
fn no_frame(error: RunError, at: u64) -> Problem {
    let message = error.to_string();
    match error {
        RunError::Invalid { .. } | RunError::Store(StoreError::NotFound { .. }) => {
            let details = json!({"frameNo": at});
            Problem::new("SNAPSHOT_NOT_FOUND", message).with(details)
        }
        RunError::Store(StoreError::Conflict { .. }) => {
            invalid("there is a run of that id already: leave `runId` out")
        }
        other => other.into(),
    }
}
