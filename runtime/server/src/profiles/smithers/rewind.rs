//! `rewind_run`, `time_travel` and `revert_attempt`: one operation, to a frame or to an attempt.
//!
//! Each plans first and shows what it undid; effects that nothing takes back are left behind only with `confirm: true`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use statemark_runs::body::Scope;
use statemark_runs::runs::{RewindPlan, RewindRun};
use statemark_runs::{Loaded, RunError, RunId, plan_rewind, state};

use super::nodes::Nodes;
use super::summary::{self, Teller};
use super::{ENDS, invalid, load, shape};
use crate::ctx::Ctx;
use crate::envelope::{find_refusal, set_field};
use crate::options::Set;
use crate::problem::{Outcome, Problem};
use crate::tool::Tool;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToFrame {
    /// The run.
    run_id: String,
    /// The frame that it goes back to, from `get_timeline`.
    frame_no: u64,
    /// Must be true.
    #[serde(default)]
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToNode {
    /// The run.
    run_id: String,
    /// The node that it goes back to.
    node_id: String,
    /// Which visit of the node; 0 if it isn't given.
    #[serde(default)]
    iteration: u64,
    /// Which attempt; the last one if it isn't given.
    attempt: Option<u64>,
    /// Put the files back, too, if they were saved; true if it isn't given.
    restore_vcs: Option<bool>,
    /// Must be true: what came behind the attempt depends on it.
    reset_dependents: Option<bool>,
    /// Also if the run is running.
    #[serde(default)]
    force: bool,
    /// Effects that nothing takes back are left behind.
    #[serde(default)]
    confirm: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToAttempt {
    /// The run.
    run_id: String,
    /// The node.
    node_id: String,
    /// Which visit of the node; 0 if it isn't given.
    #[serde(default)]
    iteration: u64,
    /// Which attempt, from 1.
    attempt: u64,
    /// Effects that nothing takes back are left behind.
    #[serde(default)]
    confirm: bool,
}

pub(super) fn all() -> Vec<Tool> {
    vec![
        Tool::profile(
            ("rewind_run", Set::Smithers, ENDS),
            (
                "Rewind a run",
                "Takes back what came behind a frame. Nothing is deleted: the journal says what was taken back.",
            ),
            shape,
            rewind,
        )
        .equivalent_to("rewind_run")
        .with_output(&[("result", "object"), ("run", "object")]),
        Tool::profile(
            ("time_travel", Set::Smithers, ENDS),
            (
                "Travel to an attempt",
                "Takes a run back to the beginning of an attempt of a node, with its files if they were saved.",
            ),
            shape,
            travel,
        )
        .equivalent_to("rewind_run")
        .with_output(&[("result", "object"), ("run", "object")]),
        Tool::profile(
            ("revert_attempt", Set::Smithers, ENDS),
            (
                "Revert to an attempt",
                "Takes a run and its files, if they were saved, back to the beginning of an attempt of a node.",
            ),
            shape,
            revert,
        )
        .equivalent_to("rewind_run")
        .with_output(&[
            ("runId", "string"),
            ("nodeId", "string"),
            ("iteration", "integer"),
            ("attempt", "integer"),
            ("success", "boolean"),
            ("error", "string"),
            ("jjPointer", "string"),
            ("run", ""),
        ]),
    ]
}

fn rewind(ctx: &Ctx<'_>, input: &ToFrame) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    if !input.confirm {
        let message = "a rewind takes back what came behind the frame: say `confirm: true`";
        return Err(invalid(message));
    }
    let done = back(
        ctx,
        &loaded,
        &Back {
            to: input.frame_no,
            files: false,
            confirm: true,
        },
    )?;
    Ok(json!({"result": done.result(), "run": Teller::of(ctx).summary(ctx, &done.loaded)?}))
}

fn travel(ctx: &Ctx<'_>, input: &ToNode) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    if input.reset_dependents == Some(false) {
        let message = "`resetDependents`: what came behind the attempt rests on it, and is taken back with it";
        return Err(invalid(message));
    }
    if summary::status(&loaded)? == "running" && !input.force {
        let message = format!("run `{}` is running: say `force: true`", loaded.run);
        return Err(Problem::new("RUN_STILL_RUNNING", message));
    }
    let to = began(
        ctx,
        &loaded,
        (&input.node_id, input.iteration),
        input.attempt,
    )?;
    let done = back(
        ctx,
        &loaded,
        &Back {
            to,
            files: input.restore_vcs.unwrap_or(true),
            confirm: input.confirm,
        },
    )?;
    Ok(json!({"result": done.result(), "run": Teller::of(ctx).summary(ctx, &done.loaded)?}))
}

fn revert(ctx: &Ctx<'_>, input: &ToAttempt) -> Outcome {
    let loaded = load(ctx, &input.run_id)?;
    if input.attempt == 0 {
        return Err(invalid("`attempt`: it is 1 at least"));
    }
    let node = (input.node_id.as_str(), input.iteration);
    let to = began(ctx, &loaded, node, Some(input.attempt))?;
    let back_to = Back {
        to,
        files: true,
        confirm: input.confirm,
    };
    let mut told = json!({
        "runId": loaded.run,
        "nodeId": input.node_id,
        "iteration": input.iteration,
        "attempt": input.attempt,
    });
    let now = match back(ctx, &loaded, &back_to) {
        Ok(done) => {
            set_field(&mut told, "success", json!(true));
            if let Some(commit) = &done.commit {
                set_field(&mut told, "jjPointer", json!(commit));
            }
            done.loaded
        }
        // What the caller has to say first is no failure of the revert.
        Err(problem) if problem.code == BLOCKED => return Err(problem),
        Err(problem) => {
            set_field(&mut told, "success", json!(false));
            set_field(&mut told, "error", json!(problem.message));
            loaded
        }
    };
    set_field(&mut told, "run", Teller::of(ctx).summary(ctx, &now)?);
    Ok(told)
}

/// The record that a run was at when an attempt had begun.
fn began(
    ctx: &Ctx<'_>,
    loaded: &Loaded,
    (node, iteration): (&str, u64),
    attempt: Option<u64>,
) -> Result<u64, Problem> {
    let nodes = Nodes::read(ctx, loaded)?;
    let visit = nodes.wanted(loaded, node, Some(iteration))?;
    let wanted = attempt.unwrap_or_else(|| visit.last_attempt());
    let found = visit.attempts.iter().find(|it| it.number == wanted);
    let found = found.ok_or_else(|| {
        let last = visit.last_attempt();
        let message =
            format!("`attempt`: `{node}` has 1 to {last} in iteration {iteration}, not {wanted}");
        invalid(message)
    })?;
    end_of(ctx, &loaded.run, found.first)
}

/// The last of the records that one was written with: only there the run ever was.
pub(super) fn end_of(ctx: &Ctx<'_>, run: &RunId, seq: u64) -> Result<u64, Problem> {
    let mut at = seq;
    loop {
        let store = ctx.runs().store();
        let records = store.records(run, at.saturating_sub(1), 1)?;
        match records.first() {
            Some(record) if record.continues() => at = at.saturating_add(1),
            _ => return Ok(at),
        }
    }
}

/// Where to go back to, and how.
pub(super) struct Back {
    /// The last record that still counts.
    pub(super) to: u64,
    /// Whether files are put back, if they were saved.
    pub(super) files: bool,
    /// Whether effects are left behind.
    pub(super) confirm: bool,
}

/// What going back has undone.
pub(super) struct Done {
    plan: RewindPlan,
    /// The commit of the files.
    commit: Option<String>,
    pub(super) loaded: Loaded,
}

impl Done {
    fn result(&self) -> Value {
        let mut told = json!(self.plan);
        if let Some(map) = told.as_object_mut() {
            map.remove("token");
            map.insert("runId".to_owned(), json!(self.loaded.run));
            map.insert("frameNo".to_owned(), json!(self.plan.to));
            map.insert("vcsRestored".to_owned(), json!(self.commit.is_some()));
            map.insert("vcsPointer".to_owned(), json!(self.commit));
        }
        told
    }
}

/// That effects would be left behind.
const BLOCKED: &str = "TIME_TRAVEL_SIDE_EFFECT_BLOCKED";

/// Takes a run back.
pub(super) fn back(ctx: &Ctx<'_>, loaded: &Loaded, back: &Back) -> Result<Done, Problem> {
    let runs = ctx.runs();
    let run = &loaded.run;
    let saved = state::replay(runs.store(), run, Some(back.to.min(loaded.head.seq)))?.workspace;
    let name = saved.filter(|_| back.files);
    let mut rewind = RewindRun::to(back.to);
    if name.is_some() {
        rewind.scope = Scope::Both;
    }
    let plan = plan_rewind(runs, run, &rewind).map_err(|error| match error {
        RunError::Invalid(error) => invalid(error.to_string()),
        other => other.into(),
    })?;
    check_effects(&plan, back.confirm)?;
    rewind.force = plan.blocking().next().is_some();
    rewind.token = Some(plan.token.clone());
    let order = ctx.order(run.clone(), None, None)?;
    let written = runs.execute(&order, &rewind)?;
    if let Some(refused) = find_refusal(&written) {
        return Err(Problem::refused(&refused));
    }
    let taken = name.and_then(|name| loaded.state.checkpoints.get(&name));
    Ok(Done {
        plan,
        commit: taken.map(|it| it.taken.commit.clone()),
        loaded: written.loaded,
    })
}

/// Whether nothing is left behind, or the caller has said that it may be.
pub(super) fn check_effects(plan: &RewindPlan, confirm: bool) -> Result<(), Problem> {
    let left: Vec<Value> = plan.blocking().map(|it| json!(it)).collect();
    if left.is_empty() || confirm {
        return Ok(());
    }
    let names: Vec<String> = plan.blocking().map(|it| format!("`{}`", it.name)).collect();
    let message = format!(
        "effects have left that nothing takes back: {}; say `confirm: true` to leave them behind",
        names.join(", ")
    );
    Err(Problem::new(BLOCKED, message).with(json!({"effects": left})))
}
