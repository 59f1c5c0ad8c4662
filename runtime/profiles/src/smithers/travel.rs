//! Time travel: back to a frame or an attempt, forks of a run, and its saved working copies.
//!
//! `rewind_run`, `time_travel` and `revert_attempt` are one operation. Each plans first and shows what it undid. Irreversible
//! effects are left only with `confirm: true`.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use statemark_runs::body::{Body, Scope};
use statemark_runs::runs::{ForkRun, RestoreFiles, RewindPlan, RewindRun};
use statemark_runs::state::Checkpoint;
use statemark_runs::{Loaded, RunError, RunId, StoreError, plan_fork, plan_rewind, state};
use statemark_tools::envelope::set_field;
use statemark_tools::{Annotations, Ctx, Outcome, Problem, ProfileTool, Tool};

use super::nodes::{Nodes, check_node};
use super::summary::{self, Summarizer};
use super::{ENDING, READ_ONLY, RunInput, invalid, tool};
use crate::{execute, read_record};

pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(&ProfileTool {
            name: "rewind_run",
            title: "Rewind a run",
            description: "Takes back what came after a frame. Nothing is deleted: the journal says what was taken back.",
            annotations: ENDING,
            output: "result: object, run: object",
            equivalent: Some("rewind_run"),
            run: rewind_run,
        }),
        tool(&ProfileTool {
            name: "time_travel",
            title: "Travel to an attempt",
            description: "Takes a run back to the beginning of an attempt of a node, with its files if they were saved.",
            annotations: ENDING,
            output: "result: object, run: object",
            equivalent: Some("rewind_run"),
            run: time_travel,
        }),
        tool(&ProfileTool {
            name: "revert_attempt",
            title: "Revert to an attempt",
            description: "Takes a run and its saved files back to the beginning of an attempt of a node.",
            annotations: ENDING,
            output: "runId: string, nodeId: string, iteration: integer, attempt: integer, success: boolean, error: string, jjPointer: string, run",
            equivalent: Some("rewind_run"),
            run: revert_attempt,
        }),
        tool(&ProfileTool {
            name: "fork_run",
            title: "Fork a run",
            description: "Starts a run as a copy of another up to a frame. The other is untouched, and the new one waits for its agent.",
            annotations: Annotations::ADDITIVE,
            output: "runId: string, parentRunId: string, parentFrameNo: integer, branch: object, snapshot: object, run: object",
            equivalent: Some("fork_run"),
            run: fork_run,
        }),
        tool(&ProfileTool {
            name: "replay_run",
            title: "Replay a run",
            description: "Forks a run to repeat it from a frame, with its files on request. Continue with `run_workflow` and `resume`.",
            annotations: Annotations::ADDITIVE,
            output: "runId: string, parentRunId: string, parentFrameNo: integer, branch: object, snapshot: object, run: object, vcsRestored: boolean, vcsPointer, vcsError: string",
            equivalent: Some("fork_run"),
            run: replay_run,
        }),
        tool(&ProfileTool {
            name: "list_snapshots",
            title: "List snapshots",
            description: "The saved working copies of a run.",
            annotations: READ_ONLY,
            output: "snapshots: array",
            equivalent: Some("get_timeline"),
            run: list_snapshots,
        }),
        tool(&ProfileTool {
            name: "restore_checkpoint",
            title: "Restore a checkpoint",
            description: "Restores the files of a checkpoint of a node. Overwritten files are kept as a safety copy, which is no checkpoint.",
            annotations: ENDING,
            output: "runId: string, nodeId: string, iteration: integer, seq: integer, commitId: string, cwd: string, success: boolean, error: string",
            equivalent: Some("rewind_run"),
            run: restore_checkpoint,
        }),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RewindArguments {
    /// The run.
    run_id: String,
    /// The frame to go back to, from the timeline.
    frame_no: u64,
    /// Must be true.
    #[serde(default)]
    confirm: bool,
}

fn rewind_run(ctx: &Ctx<'_>, input: &RewindArguments) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    if !input.confirm {
        let message = "a rewind takes back what came after the frame: say `confirm: true`";
        return Err(invalid(message));
    }
    let target = Target {
        seq: input.frame_no,
        with_files: false,
        confirm: true,
    };
    rewind(ctx, &loaded, &target)?.answer(ctx)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TimeTravel {
    /// The run.
    run_id: String,
    /// The node to go back to.
    node_id: String,
    /// The visit of the node; 0 by default.
    #[serde(default)]
    iteration: u64,
    /// The attempt; the last one by default.
    #[schemars(range(min = 1))]
    attempt: Option<u64>,
    /// Restore the files, too, if they were saved.
    #[schemars(extend("default" = true))]
    restore_vcs: Option<bool>,
    /// Must be true: what came after the attempt depends on it.
    #[schemars(extend("default" = true))]
    reset_dependents: Option<bool>,
    /// Also if the run is running.
    #[serde(default)]
    force: bool,
    /// Leave irreversible effects.
    #[serde(default)]
    confirm: bool,
}

fn time_travel(ctx: &Ctx<'_>, input: &TimeTravel) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    if input.reset_dependents == Some(false) {
        let message = "`resetDependents`: what came after the attempt depends on it, and is taken back with it";
        return Err(invalid(message));
    }
    if summary::status(&loaded)? == "running" && !input.force {
        let message = format!("run `{}` is running: say `force: true`", loaded.run);
        return Err(Problem::new("RUN_STILL_RUNNING", message));
    }
    let visit = (input.node_id.as_str(), input.iteration);
    let target = Target {
        seq: begin_of_attempt(ctx, &loaded, visit, input.attempt)?,
        with_files: input.restore_vcs.unwrap_or(true),
        confirm: input.confirm,
    };
    rewind(ctx, &loaded, &target)?.answer(ctx)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RevertAttempt {
    /// The run.
    run_id: String,
    /// The node.
    node_id: String,
    /// The visit of the node; 0 by default.
    #[serde(default)]
    iteration: u64,
    /// The attempt.
    #[schemars(range(min = 1))]
    attempt: u64,
    /// Leave irreversible effects.
    #[serde(default)]
    confirm: bool,
}

fn revert_attempt(ctx: &Ctx<'_>, input: &RevertAttempt) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    if input.attempt == 0 {
        return Err(invalid("`attempt`: it is 1 at least"));
    }
    let visit = (input.node_id.as_str(), input.iteration);
    let target = Target {
        seq: begin_of_attempt(ctx, &loaded, visit, Some(input.attempt))?,
        with_files: true,
        confirm: input.confirm,
    };
    let mut answer = json!({
        "runId": loaded.run,
        "nodeId": input.node_id,
        "iteration": input.iteration,
        "attempt": input.attempt,
    });
    let saved = state::replay(ctx.runs().store(), &loaded.run, Some(target.seq))?.workspace;
    let outcome = match saved {
        Some(_) => rewind(ctx, &loaded, &target),
        // The tool is about the workspace: to take back the run alone would be half of what it promises.
        None => Err(no_files_saved(&input.node_id)),
    };
    let now = match outcome {
        Ok(done) => {
            set_field(&mut answer, "success", json!(true));
            if let Some(commit) = &done.commit {
                set_field(&mut answer, "jjPointer", json!(commit));
            }
            done.loaded
        }
        // A missing confirmation is no failure of the revert.
        Err(problem) if problem.code == EFFECTS_LEFT => return Err(problem),
        Err(problem) => {
            set_field(&mut answer, "success", json!(false));
            set_field(&mut answer, "error", json!(problem.message));
            loaded
        }
    };
    let run = Summarizer::new(ctx).summarize(ctx, &now)?;
    set_field(&mut answer, "run", run);
    Ok(answer)
}

/// Creates the problem that no files were saved up to an attempt.
fn no_files_saved(node: &str) -> Problem {
    let message = format!(
        "no files were saved up to this attempt of `{node}`, so they can't be restored: \
         `time_travel` with `restoreVcs: false` takes the run back alone"
    );
    Problem::new("NO_CHECKPOINT", message)
}

/// Returns the record at which a run was when an attempt had begun.
fn begin_of_attempt(
    ctx: &Ctx<'_>,
    loaded: &Loaded,
    (node, iteration): (&str, u64),
    attempt: Option<u64>,
) -> Result<u64, Problem> {
    let nodes = Nodes::read(ctx, loaded)?;
    let visit = nodes.require(loaded, node, Some(iteration))?;
    let last = visit.last_attempt();
    let wanted = attempt.unwrap_or(last);
    let found = visit.attempts.iter().find(|it| it.number == wanted);
    let found = found.ok_or_else(|| {
        let message =
            format!("`attempt`: `{node}` has 1 to {last} in iteration {iteration}, not {wanted}");
        invalid(message)
    })?;
    let mut seq = end_of_append(ctx, &loaded.run, found.first)?;
    // What was saved before anything else happened is how the attempt found the files.
    while let Some(record) = read_record(ctx, &loaded.run, seq.saturating_add(1))?
        && matches!(record.read(), Ok(Body::CheckpointTaken(taken)) if !taken.safety)
    {
        seq = record.seq;
    }
    Ok(seq)
}

/// Returns the last record of an append: the run never was at the others.
pub(super) fn end_of_append(ctx: &Ctx<'_>, run: &RunId, mut seq: u64) -> Result<u64, Problem> {
    while read_record(ctx, run, seq)?.is_some_and(|record| record.continues()) {
        seq = seq.saturating_add(1);
    }
    Ok(seq)
}

/// The target of a rewind.
pub(super) struct Target {
    /// The last record that still counts.
    pub(super) seq: u64,
    /// Restores the files, if they were saved.
    pub(super) with_files: bool,
    /// Leaves irreversible effects.
    pub(super) confirm: bool,
}

/// A rewind that was done.
pub(super) struct Rewound {
    plan: RewindPlan,
    /// The commit of the restored files.
    commit: Option<String>,
    pub(super) loaded: Loaded,
}

impl Rewound {
    fn answer(&self, ctx: &Ctx<'_>) -> Outcome {
        let mut result = json!(self.plan);
        if let Some(map) = result.as_object_mut() {
            map.remove("token");
        }
        for (key, value) in [
            ("runId", json!(self.loaded.run)),
            ("frameNo", json!(self.plan.to)),
            ("vcsRestored", json!(self.commit.is_some())),
            ("vcsPointer", json!(self.commit)),
        ] {
            set_field(&mut result, key, value);
        }
        let run = Summarizer::new(ctx).summarize(ctx, &self.loaded)?;
        Ok(json!({"result": result, "run": run}))
    }
}

/// The code of a rewind that needs `confirm: true`.
const EFFECTS_LEFT: &str = "TIME_TRAVEL_SIDE_EFFECT_BLOCKED";

/// Takes a run back.
pub(super) fn rewind(ctx: &Ctx<'_>, loaded: &Loaded, target: &Target) -> Result<Rewound, Problem> {
    let runs = ctx.runs();
    let run = &loaded.run;
    let upto = Some(target.seq.min(loaded.head.seq));
    let workspace = state::replay(runs.store(), run, upto)?.workspace;
    let checkpoint = workspace.filter(|_| target.with_files);
    let mut rewind = RewindRun::to(target.seq);
    if checkpoint.is_some() {
        rewind.scope = Scope::Both;
    }
    let plan = plan_rewind(runs, run, &rewind).map_err(|error| match error {
        RunError::Invalid(error) => invalid(error.to_string()),
        other => other.into(),
    })?;
    check_effects(&plan, target.confirm)?;
    rewind.force = plan.blocking().next().is_some();
    rewind.token = Some(plan.token.clone());
    let written = execute(ctx, run, &rewind)?;
    let saved = checkpoint.and_then(|name| loaded.state.checkpoints.get(&name));
    Ok(Rewound {
        plan,
        commit: saved.map(|it| it.taken.commit.clone()),
        loaded: written.loaded,
    })
}

/// Checks that no irreversible effect is left, or that the caller has confirmed it.
fn check_effects(plan: &RewindPlan, confirm: bool) -> Result<(), Problem> {
    let left: Vec<Value> = plan.blocking().map(|it| json!(it)).collect();
    if left.is_empty() || confirm {
        return Ok(());
    }
    let names: Vec<String> = plan.blocking().map(|it| format!("`{}`", it.name)).collect();
    let message = format!(
        "these effects can't be taken back: {}; say `confirm: true` to leave them",
        names.join(", ")
    );
    Err(Problem::new(EFFECTS_LEFT, message).with(json!({"effects": left})))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ForkArguments {
    /// The run to fork.
    parent_run_id: String,
    /// The frame, from the timeline.
    frame_no: u64,
    /// Nodes to enter again: the fork begins before the first of them was entered.
    #[serde(default)]
    reset_nodes: Vec<String>,
    /// Data that differs from here on.
    #[serde(default)]
    input_overrides: Map<String, Value>,
    /// A name for people.
    branch_label: Option<String>,
    /// The new run's id; by default one that nobody can guess.
    run_id: Option<String>,
}

/// The arguments of `fork_run` and more.
///
/// The fields are repeated because serde can't refuse unknown fields in a struct with a flattened one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplayRun {
    /// The run to fork.
    parent_run_id: String,
    /// The frame, from the timeline.
    frame_no: u64,
    /// Nodes to enter again: the fork begins before the first of them was entered.
    #[serde(default)]
    reset_nodes: Vec<String>,
    /// Data that differs from here on.
    #[serde(default)]
    input_overrides: Map<String, Value>,
    /// A name for people.
    branch_label: Option<String>,
    /// The new run's id; by default one that nobody can guess.
    run_id: Option<String>,
    /// Restore the files of the frame.
    #[serde(default)]
    restore_vcs: bool,
    /// The working copy: refused if the files were saved from another.
    cwd: Option<String>,
    /// Let effects after the frame happen again.
    #[serde(default)]
    confirm: bool,
}

impl ForkArguments {
    /// Creates the operation. Skips nodes that weren't entered up to the frame: the store refuses them.
    fn operation(&self, ctx: &Ctx<'_>, parent: &Loaded) -> Result<ForkRun, Problem> {
        let mut fork = ForkRun {
            input: Value::Object(self.input_overrides.clone()),
            title: self.branch_label.clone(),
            ..ForkRun::new(parent.run.clone(), self.frame_no)
        };
        if self.reset_nodes.is_empty() {
            return Ok(fork);
        }
        let store = ctx.runs().store();
        let visits = state::replay(store, &parent.run, Some(self.frame_no))?.visits;
        for node in &self.reset_nodes {
            check_node(parent, node)?;
            if visits.get(node).is_some_and(|it| it.entered > 0) {
                fork.reset.push(node.clone());
            }
        }
        Ok(fork)
    }

    /// Forks the run. Returns the answer and the new run.
    fn execute(&self, ctx: &Ctx<'_>, parent: &Loaded) -> Result<(Value, Loaded), Problem> {
        ctx.check_may_start()?;
        let fork = self.operation(ctx, parent)?;
        let run = match &self.run_id {
            Some(named) => parse_run_id(named)?,
            None => RunId::random(),
        };
        let order = ctx.order(run, None, None)?;
        let written = ctx.runs().execute(&order, &fork);
        let new = written
            .map_err(|error| map_error(error, self.frame_no))?
            .loaded;
        let at = new.head.forked.as_ref().map_or(self.frame_no, |it| it.1);
        let frame = read_record(ctx, &parent.run, at)?;
        let frame = frame.as_ref();
        let answer = json!({
            "runId": new.run,
            "parentRunId": parent.run,
            "parentFrameNo": at,
            "branch": {
                "runId": new.run,
                "parentRunId": parent.run,
                "parentFrameNo": at,
                "branchLabel": self.branch_label,
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
            "run": Summarizer::new(ctx).summarize(ctx, &new)?,
        });
        Ok((answer, new))
    }
}

fn fork_run(ctx: &Ctx<'_>, input: &ForkArguments) -> Outcome {
    let parent = ctx.load_run(Some(&input.parent_run_id))?;
    let (answer, _) = input.execute(ctx, &parent)?;
    Ok(answer)
}

fn replay_run(ctx: &Ctx<'_>, input: &ReplayRun) -> Outcome {
    ctx.check_may_start()?;
    let parent = ctx.load_run(Some(&input.parent_run_id))?;
    let fork = ForkArguments {
        parent_run_id: input.parent_run_id.clone(),
        frame_no: input.frame_no,
        reset_nodes: input.reset_nodes.clone(),
        input_overrides: input.input_overrides.clone(),
        branch_label: input.branch_label.clone(),
        run_id: input.run_id.clone(),
    };
    let runs = ctx.runs();
    // Where nothing can be taken back, no effect would happen again.
    if let Ok(begin) = plan_fork(runs, &fork.operation(ctx, &parent)?)
        && let Ok(plan) = plan_rewind(runs, &parent.run, &RewindRun::to(begin.at))
    {
        check_effects(&plan, input.confirm)?;
    }
    let (mut answer, new) = fork.execute(ctx, &parent)?;
    let (pointer, error) = match restore_files(ctx, &new, input) {
        Ok(pointer) => (pointer, None),
        Err(reason) => (None, Some(reason)),
    };
    set_field(&mut answer, "vcsRestored", json!(pointer.is_some()));
    set_field(&mut answer, "vcsPointer", json!(pointer));
    if let Some(error) = error {
        set_field(&mut answer, "vcsError", json!(error));
    }
    Ok(answer)
}

/// Restores the files of a fork, if wanted. Returns their commit.
///
/// # Errors
///
/// The reason why they weren't restored.
fn restore_files(
    ctx: &Ctx<'_>,
    fork: &Loaded,
    input: &ReplayRun,
) -> Result<Option<String>, String> {
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
    let restore = RestoreFiles { name: name.clone() };
    match execute(ctx, &fork.run, &restore) {
        Ok(_) => Ok(Some(saved.taken.commit.clone())),
        Err(problem) => Err(problem.message),
    }
}

/// Parses the id that a new run is to have.
fn parse_run_id(named: &str) -> Result<RunId, Problem> {
    let run = named
        .parse::<RunId>()
        .and_then(|run| run.check_chosen().map(|()| run));
    run.map_err(|error| invalid(format!("`runId`: {error}")))
}

/// Maps the errors of a fork: a frame that doesn't exist isn't a run that doesn't.
fn map_error(error: RunError, frame: u64) -> Problem {
    let message = error.to_string();
    match error {
        RunError::Invalid(_) | RunError::Store(StoreError::NotFound { .. }) => {
            let details = json!({"frameNo": frame});
            Problem::new("SNAPSHOT_NOT_FOUND", message).with(details)
        }
        RunError::Store(StoreError::Conflict { .. }) => {
            invalid("there is a run of that id already: leave `runId` out")
        }
        other => other.into(),
    }
}

fn list_snapshots(ctx: &Ctx<'_>, input: &RunInput) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let snapshots = loaded
        .state
        .saved_checkpoints()
        .into_iter()
        .map(|checkpoint| {
            let taken = &checkpoint.taken;
            let visit = nodes.at(checkpoint.seq);
            json!({
                "seq": checkpoint.seq,
                "nodeId": visit.map(|it| &it.node),
                "iteration": visit.map_or(0, |it| it.iteration),
                "attempt": visit.map_or(1, |it| it.attempt_at(checkpoint.seq)),
                "tier": "workspace",
                "source": "git",
                "label": taken.reason.as_ref().unwrap_or(&taken.name),
                "commitId": taken.commit,
                "operationId": null,
                "cwd": taken.repository,
                "createdAtMs": checkpoint.time,
            })
        });
    let snapshots: Vec<Value> = snapshots.collect();
    Ok(json!({"snapshots": snapshots}))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RestoreCheckpoint {
    /// The run.
    run_id: String,
    /// The node in which the checkpoint was taken.
    node_id: String,
    /// The visit of the node; any by default.
    iteration: Option<u64>,
    /// The checkpoint, from `list_snapshots`; the latest by default.
    seq: Option<u64>,
}

fn restore_checkpoint(ctx: &Ctx<'_>, input: &RestoreCheckpoint) -> Outcome {
    let loaded = ctx.load_run(Some(&input.run_id))?;
    check_node(&loaded, &input.node_id)?;
    let nodes = Nodes::read(ctx, &loaded)?;
    let all = loaded.state.saved_checkpoints();
    let taken_in_node = |checkpoint: &&Checkpoint| {
        let mut visits = nodes.visits.iter();
        visits.any(|visit| {
            let iteration = input.iteration.unwrap_or(visit.iteration);
            visit.node == input.node_id
                && visit.iteration == iteration
                && visit.contains(checkpoint.seq)
        })
    };
    let mut found = all.iter().copied().filter(taken_in_node);
    let checkpoint = match input.seq {
        Some(seq) => found.find(|it| it.seq == seq),
        None => found.next_back(),
    };
    let Some(checkpoint) = checkpoint else {
        let message = format!("no such checkpoint was taken in `{}`", input.node_id);
        let known: Vec<u64> = all.iter().map(|it| it.seq).collect();
        return Err(Problem::new("CHECKPOINT_NOT_FOUND", message).with(json!({"seqs": known})));
    };
    let visit = nodes.of_node_at(&input.node_id, checkpoint.seq);
    let name = checkpoint.taken.name.clone();
    let restored = execute(ctx, &loaded.run, &RestoreFiles { name });
    let mut answer = json!({
        "runId": loaded.run,
        "nodeId": input.node_id,
        "iteration": visit.map_or(0, |it| it.iteration),
        "seq": checkpoint.seq,
        "commitId": checkpoint.taken.commit,
        "cwd": checkpoint.taken.repository,
        "success": restored.is_ok(),
    });
    if let Err(problem) = restored {
        set_field(&mut answer, "error", json!(problem.message));
    }
    Ok(answer)
}
