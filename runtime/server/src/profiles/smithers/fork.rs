//! `fork_run` and `replay_run`: a run that begins as a copy of another's first frames.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::runs::{ForkRun, RestoreFiles, RewindRun};
use statemark_runs::{
    Loaded, NameError, RunError, RunId, StoreError, plan_fork, plan_rewind, state,
};

use super::nodes;
use super::rewind::check_effects;
use super::summary::Teller;
use super::{invalid, load, shape};
use crate::ctx::Ctx;
use crate::envelope::{find_refusal, set_field};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::{Annotations, Tool};

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

/// What `fork_run` takes and some more. The fields stand here again because serde can't refuse unknown fields in a struct
/// that another one is flattened into.
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
    Tool::profile(
        ("fork_run", Set::Smithers, Annotations::ADDITIVE),
        (
            "Fork a run",
            "Begins a run as a copy of another up to a frame. The other is untouched, and the new one waits for its agent.",
        ),
        shape,
        |ctx, input: &Forking| {
            let asked = Asked {
                frame: input.frame_no,
                reset: &input.reset_nodes,
                overrides: &input.input_overrides,
                label: input.branch_label.as_deref(),
                run: input.run_id.as_deref(),
            };
            let (told, _) = forked(ctx, &load(ctx, &input.parent_run_id)?, &asked)?;
            Ok(told)
        },
    )
    .equivalent_to("fork_run")
    .with_output(GIVES)
}

pub(super) fn replay() -> Tool {
    let mut gives = GIVES.to_vec();
    gives.extend([
        ("vcsRestored", "boolean"),
        ("vcsPointer", ""),
        ("vcsError", "string"),
    ]);
    Tool::profile(
        ("replay_run", Set::Smithers, Annotations::ADDITIVE),
        (
            "Replay a run",
            "Forks a run to go over it again from a frame, with its files if asked for. Go on with `run_workflow` and `resume`.",
        ),
        shape,
        replayed,
    )
    .equivalent_to("fork_run")
    .with_output(&gives)
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

impl Asked<'_> {
    /// The fork that is meant. Nodes that weren't entered up to the frame are as they shall be; the store refuses them.
    fn fork(&self, ctx: &Ctx<'_>, parent: &Loaded) -> Result<ForkRun, Problem> {
        let mut fork = ForkRun {
            input: Value::Object(self.overrides.clone()),
            title: self.label.map(str::to_owned),
            ..ForkRun::new(parent.run.clone(), self.frame)
        };
        if self.reset.is_empty() {
            return Ok(fork);
        }
        let store = ctx.runs().store();
        let visits = state::replay(store, &parent.run, Some(self.frame))?.visits;
        for node in self.reset {
            nodes::known(parent, node)?;
            if visits.get(node).is_some_and(|it| it.entered > 0) {
                fork.reset.push(node.clone());
            }
        }
        Ok(fork)
    }
}

fn replayed(ctx: &Ctx<'_>, input: &Replaying) -> Outcome {
    ctx.check_may_start()?;
    let parent = load(ctx, &input.parent_run_id)?;
    let asked = Asked {
        frame: input.frame_no,
        reset: &input.reset_nodes,
        overrides: &input.input_overrides,
        label: input.branch_label.as_deref(),
        run: input.run_id.as_deref(),
    };
    let runs = ctx.runs();
    // Where nothing can be taken back there is nothing that would leave again.
    if let Ok(begins) = plan_fork(runs, &asked.fork(ctx, &parent)?)
        && let Ok(plan) = plan_rewind(runs, &parent.run, &RewindRun::to(begins.at))
    {
        check_effects(&plan, input.confirm)?;
    }
    let (mut told, fork) = forked(ctx, &parent, &asked)?;
    let (pointer, error) = match restored(ctx, &fork, input) {
        Ok(pointer) => (pointer, None),
        Err(why) => (None, Some(why)),
    };
    set_field(&mut told, "vcsRestored", json!(pointer.is_some()));
    set_field(&mut told, "vcsPointer", json!(pointer));
    if let Some(error) = error {
        set_field(&mut told, "vcsError", json!(error));
    }
    Ok(told)
}

/// The commit that the files were put back to; why they weren't, if they should have been.
fn restored(ctx: &Ctx<'_>, fork: &Loaded, input: &Replaying) -> Result<Option<String>, String> {
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
    let runs = ctx.runs();
    let order = ctx.order(fork.run.clone(), None, None);
    let order = order.map_err(|problem| problem.message)?;
    let restore = RestoreFiles { name: name.clone() };
    let written = runs.execute(&order, &restore);
    let written = written.map_err(|error| error.to_string())?;
    match find_refusal(&written) {
        Some(refused) => Err(refused.reason),
        None => Ok(Some(saved.taken.commit.clone())),
    }
}

/// The id that a new run is to have.
fn chosen(named: &str) -> Result<RunId, NameError> {
    let run: RunId = named.parse()?;
    run.check_chosen()?;
    Ok(run)
}

fn forked(ctx: &Ctx<'_>, parent: &Loaded, asked: &Asked<'_>) -> Result<(Value, Loaded), Problem> {
    ctx.check_may_start()?;
    let fork = asked.fork(ctx, parent)?;
    let run = match asked.run {
        Some(named) => chosen(named).map_err(|error| invalid(format!("`runId`: {error}")))?,
        None => RunId::random(),
    };
    let order = ctx.order(run, None, None)?;
    let written = ctx.runs().execute(&order, &fork);
    let new = written
        .map_err(|error| no_frame(error, asked.frame))?
        .loaded;
    let at = new.head.forked.as_ref().map_or(asked.frame, |it| it.1);
    let store = ctx.runs().store();
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
        "run": Teller::of(ctx).summary(ctx, &new)?,
    });
    Ok((told, new))
}

/// A frame that isn't one is no run that isn't there.
fn no_frame(error: RunError, at: u64) -> Problem {
    let message = error.to_string();
    match error {
        RunError::Invalid(_) | RunError::Store(StoreError::NotFound { .. }) => {
            let details = json!({"frameNo": at});
            Problem::new("SNAPSHOT_NOT_FOUND", message).with(details)
        }
        RunError::Store(StoreError::Conflict { .. }) => {
            invalid("there is a run of that id already: leave `runId` out")
        }
        other => other.into(),
    }
}
