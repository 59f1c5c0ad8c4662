//! A run's history: looking back, forking, rewinding, migrating, verifying, and saving files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use statemark_runs::body::{Body, Scope};
use statemark_runs::maintenance::{ignore_progress, verify};
use statemark_runs::policy::Gating;
use statemark_runs::runs::{
    ForkRun, MigrateRun, MigrationPlan, RestoreFiles, RewindRun, TakeCheckpoint,
};
use statemark_runs::state::Checkpoint;
use statemark_runs::{
    FinishRestore, GiveUpRestore, Loaded, NameChanges, RunError, RunId, StoreError, Written,
    load_timeline, plan_fork, plan_migration, plan_rewind, replay_run,
};

use crate::envelope::{
    About, Page, PartCursor, Position, answer_about, answer_order, bounds, describe_next,
    into_fields, invalid_cursor, part_cursor, remaining_room,
};
use crate::{Annotations, Ctx, Problem, Route, Set, ToolCall};

/// Most items of each list of a plan.
const MAX_ITEMS: usize = 20;

/// Shortens a plan to so many items of each list.
///
/// The numbers of items of longer lists are in `counts`. What is empty is left out.
fn shorten(plan: &impl Serialize) -> Map<String, Value> {
    let mut plan = into_fields(serde_json::to_value(plan).unwrap_or_default());
    let mut counts = Map::new();
    for (key, value) in &mut plan {
        let count = match value {
            Value::Array(all) => {
                let count = all.len();
                all.truncate(MAX_ITEMS);
                count
            }
            Value::Object(all) => {
                let count = all.len();
                let rest: Vec<String> = all.keys().skip(MAX_ITEMS).cloned().collect();
                rest.iter().for_each(|key| drop(all.remove(key)));
                count
            }
            _ => continue,
        };
        if count > MAX_ITEMS {
            counts.insert(key.clone(), count.into());
        }
    }
    plan.retain(|_, value| {
        let is_empty = value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        !is_empty && !value.is_null()
    });
    if !counts.is_empty() {
        plan.insert("counts".to_owned(), Value::Object(counts));
    }
    plan
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetTimelineCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct History {
    /// The run.
    #[schemars(with = "String")]
    run_id: RunId,
    /// The last record of the journal.
    seq: u64,
    /// The runs and records that the journal begins with, if the run is a fork; the nearest last.
    origins: Page<Value>,
    /// The stretches of the journal between jumps.
    branches: Page<Value>,
    /// The rewinds, migrations and checkpoints.
    marks: Page<Value>,
    /// The runs that begin with this one's journal.
    forks: Page<Value>,
    /// The visits of states, with what was taken back.
    visits: Page<Value>,
    /// The `cursor` of the next page, if there is one.
    cursor: Option<String>,
}

impl ToolCall for GetTimelineCall {
    const NAME: &'static str = "get_timeline";
    const TITLE: &'static str = "Look back";
    const DESCRIPTION: &'static str = "What has become of a run: branches, forks, rewinds, checkpoints and each visit of a state, with what was taken back.";
    const SET: Set = Set::Time;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Uncounted;
    const ROUTES: &'static [Route] = &[Route::get(
        "/runs/{run_id}/timeline",
        "its branches, visits and checkpoints",
    )];
    type Response = About<History>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<History>, Problem> {
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let cursor: Option<PartCursor> = self.cursor.as_deref().map(str::parse).transpose()?;
        let timeline = load_timeline(ctx.runs(), &run)?;
        let mut answer = About::without_next(History {
            run_id: run.clone(),
            seq: timeline.seq,
            origins: Page::default(),
            branches: Page::default(),
            marks: Page::default(),
            forks: Page::default(),
            visits: Page::default(),
            cursor: None,
        });
        if cursor.is_none() {
            // A further page continues an answer that has it.
            answer.next = Some(describe_next(&ctx.runs().load(&run)?)?);
        }
        // Page by page, in this order.
        let parts: [(&str, Vec<Value>, PageOf); 5] = [
            ("origins", to_values(timeline.origins), |it| &mut it.origins),
            ("branches", to_values(timeline.branches), |history| {
                &mut history.branches
            }),
            ("marks", to_values(timeline.marks), |it| &mut it.marks),
            ("forks", to_values(timeline.forks), |it| &mut it.forks),
            ("visits", to_values(timeline.visits), |it| &mut it.visits),
        ];
        let (first, mut start) = match &cursor {
            Some(cursor) => (cursor.part.as_str(), cursor.position),
            None => ("origins", Position::default()),
        };
        let begin = parts.iter().position(|(name, ..)| *name == first);
        let begin = begin.ok_or_else(invalid_cursor)?;
        for (name, items, page_of) in parts.into_iter().skip(begin) {
            if !items.is_empty() {
                let (page, rest) = Page::fill(items, start, remaining_room(&answer));
                *page_of(&mut answer.fields) = page;
                answer.fields.cursor = part_cursor(name, rest);
            }
            if answer.fields.cursor.is_some() {
                break;
            }
            start = Position::default();
        }
        Ok(answer)
    }
}

/// The page of a part of a history.
type PageOf = fn(&mut History) -> &mut Page<Value>;

fn to_values<T: Serialize>(items: Vec<T>) -> Vec<Value> {
    items.into_iter().map(|item| json!(item)).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ForkRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The last record that counts in both.
    at_seq: u64,
    /// States that shall not have been entered yet: the new run begins before the first of them was.
    #[serde(default)]
    reset_states: Vec<String>,
    /// The new run's id; else it gets one.
    new_run_id: Option<String>,
    /// Fields of the context that are different from there on.
    #[serde(default)]
    input_overrides: Map<String, Value>,
    /// Begin without artifacts.
    #[serde(default)]
    drop_artifacts: bool,
    /// A name for people.
    branch_label: Option<String>,
    /// Put the files back to the checkpoint of that time. What is overwritten is saved before.
    #[serde(default)]
    restore_workspace: bool,
    /// Only say what the new run would begin with.
    #[serde(default)]
    dry_run: bool,
    /// A repeated call with this key gives the first answer again.
    ///
    /// A key is one run's: with another `new_run_id` it forks another.
    idempotency_key: Option<String>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Forked {
    /// The new run.
    #[schemars(with = "Option<String>")]
    run_id: Option<RunId>,
    /// The run that it begins with.
    #[schemars(with = "Option<String>")]
    from: Option<RunId>,
    /// The last record that counts in both.
    at_seq: Option<u64>,
    /// The decisions of persons about the other run that count in the new one, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decided: Vec<String>,
    /// For a dry run: what the new run would begin with.
    plan: Option<Map<String, Value>>,
}

impl ToolCall for ForkRunCall {
    const NAME: &'static str = "fork_run";
    const TITLE: &'static str = "Fork a run";
    const DESCRIPTION: &'static str = "Begins a new run that shares another's journal up to a record. The other run is untouched.";
    const SET: Set = Set::Time;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Uncounted;
    const ROUTES: &'static [Route] = &[Route::post(
        "/runs/{run_id}/fork",
        "begins another with its journal; `dry_run` only says with what",
    )];
    type Response = About<Forked>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Forked>, Problem> {
        let runs = ctx.runs();
        let from = ctx.resolve_run(self.run_id.as_deref())?;
        let fork = ForkRun {
            reset: self.reset_states.clone(),
            input: Value::Object(self.input_overrides.clone()),
            drop_artifacts: self.drop_artifacts,
            restore_workspace: self.restore_workspace,
            title: self.branch_label.clone(),
            ..ForkRun::new(from.clone(), self.at_seq)
        };
        if self.dry_run {
            let plan = plan_fork(runs, &fork).map_err(unknown_record)?;
            return Ok(About::without_next(Forked {
                plan: Some(shorten(&plan)),
                ..Forked::default()
            }));
        }
        let run = self.new_id(ctx, &from)?;
        let order = ctx.order(run.clone(), self.idempotency_key.as_deref(), None)?;
        let written = runs.execute(&order, &fork).map_err(|error| match error {
            RunError::Store(StoreError::Conflict { .. }) => {
                let message =
                    format!("there is a run `{run}` already: choose another `new_run_id`");
                Problem::new("run_exists", message)
            }
            error => unknown_record(error),
        })?;
        let begun = written.forked();
        let forked = Forked {
            run_id: Some(run),
            from: Some(from),
            at_seq: begun.map(|it| it.at),
            decided: begun.map(|it| it.decided.clone()).unwrap_or_default(),
            plan: None,
        };
        answer_order(&written, forked)
    }
}

/// Converts the error of an unknown record into that of a wrong argument, as a rewind has it.
fn unknown_record(error: RunError) -> Problem {
    match &error {
        RunError::Store(StoreError::NotFound { what }) if what.starts_with("record ") => {
            Problem::new("invalid_request", error.to_string())
        }
        _ => error.into(),
    }
}

impl ForkRunCall {
    /// Returns the new run's id: with a key always the same, so that a repeated call finds its fork.
    fn new_id(&self, ctx: &Ctx<'_>, from: &RunId) -> Result<RunId, Problem> {
        ctx.check_may_start()?;
        Ok(match (&self.new_run_id, &self.idempotency_key) {
            (Some(id), _) => id
                .parse()
                .map_err(|error| Problem::argument("new_run_id", error))?,
            (None, Some(key)) => {
                let workflow = ctx.runs().store().head(from)?.summary.workflow;
                RunId::for_workflow_and_key(&workflow, &format!("{from}\n{key}"))
            }
            (None, None) => RunId::random(),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RewindRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The last record that still counts.
    to: u64,
    /// The part that is taken back.
    #[serde(default)]
    scope: RewindScope,
    /// Put the files back to this checkpoint; else to the one that they had then.
    checkpoint: Option<String>,
    /// Only say what would be undone, and give the token that the real call needs.
    #[serde(default)]
    dry_run: bool,
    /// The dry run's token: do it.
    confirm_token: Option<String>,
    /// Leave effects behind that nothing takes back. It stays recorded.
    #[serde(default)]
    force: bool,
    /// The reason.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RewindScope {
    /// The run's state.
    #[default]
    State,
    /// The files.
    Workspace,
    Both,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Rewound {
    /// For a dry run: what would be undone.
    plan: Option<Map<String, Value>>,
    /// The token that the real call needs.
    #[schemars(with = "Option<String>")]
    confirm_token: Option<Value>,
    /// The last record that still counts.
    to: Option<u64>,
    /// The record of the rewind.
    seq: Option<u64>,
}

impl ToolCall for RewindRunCall {
    const NAME: &'static str = "rewind_run";
    const TITLE: &'static str = "Rewind a run";
    const DESCRIPTION: &'static str = "Takes back what came after a record. First without a token, which says what would be undone and gives one. Nothing is deleted.";
    const SET: Set = Set::Time;
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const GATING: Gating = Gating::Uncounted;
    const ROUTES: &'static [Route] = &[Route::post(
        "/runs/{run_id}/rewind",
        "takes back what came after a record; first `dry_run`, which gives a token",
    )];
    type Response = About<Rewound>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Rewound>, Problem> {
        let runs = ctx.runs();
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let rewind = RewindRun {
            scope: match self.scope {
                RewindScope::State => Scope::State,
                RewindScope::Workspace => Scope::Workspace,
                RewindScope::Both => Scope::Both,
            },
            checkpoint: self.checkpoint.clone(),
            token: self.confirm_token.clone(),
            force: self.force,
            reason: self.reason.clone(),
            ..RewindRun::to(self.to)
        };
        if self.dry_run && self.confirm_token.is_some() {
            let what = "a dry run takes no `confirm_token`";
            return Err(Problem::argument("dry_run", what));
        }
        if self.confirm_token.is_none() {
            let loaded = ctx.load_run(Some(run.as_str()))?;
            let mut plan = shorten(&plan_rewind(runs, &run, &rewind)?);
            let rewound = Rewound {
                confirm_token: plan.remove("token"),
                plan: Some(plan),
                ..Rewound::default()
            };
            return answer_about(&loaded, rewound);
        }
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let written = runs.execute(&order, &rewind)?;
        let rewound = Rewound {
            to: Some(self.to),
            seq: written.records.last().map(|it| it.seq),
            ..Rewound::default()
        };
        let again =
            json!({"run_id": order.run, "to": self.to, "force": self.force, "dry_run": true});
        answer_order(&written, rewound).map_err(|problem| match problem.code.as_str() {
            "stale_token" | "no_token" => problem.mended_by(Self::NAME, again),
            _ => problem,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MigrateRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// The workflow to go on under; else the run's own, as its spec is now.
    workflow: Option<String>,
    /// States that have another name there: old to new.
    #[serde(default)]
    states: BTreeMap<String, String>,
    /// Timers that have another name there: old to new.
    #[serde(default)]
    timers: BTreeMap<String, String>,
    /// Only say what would become of the run, and what is in the way.
    #[serde(default)]
    dry_run: bool,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
    idempotency_key: Option<String>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Migrated {
    /// For a dry run: whether the run can be migrated.
    possible: Option<bool>,
    /// For a dry run: what is in the way.
    obstacles: Option<Vec<Value>>,
    /// The migration: from which table to which, and what was renamed.
    migrated: Option<Map<String, Value>>,
    /// For a dry run: the names that are gone, new or changed, by their kind.
    #[schemars(with = "Option<Map<String, Value>>")]
    differences: Option<BTreeMap<String, NameChanges>>,
}

impl ToolCall for MigrateRunCall {
    const NAME: &'static str = "migrate_run";
    const TITLE: &'static str = "Migrate a run";
    const DESCRIPTION: &'static str = "Lets a run go on under the machine that its spec has now. Refused where something that it stands on isn't there, and to agents where it demands anything else.";
    const SET: Set = Set::Time;
    const ANNOTATIONS: Annotations = Annotations::IDEMPOTENT;
    const GATING: Gating = Gating::Uncounted;
    type Response = About<Migrated>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Migrated>, Problem> {
        let runs = ctx.runs();
        let loaded = ctx.load_run(self.run_id.as_deref())?;
        let migrate = MigrateRun {
            workflow: self.workflow.clone(),
            states: self.states.clone(),
            timers: self.timers.clone(),
        };
        // The obstacles are those of the run as it was before a refusal is written.
        let plan = plan_migration(runs, &loaded.run, &migrate, ctx.actor().role)?;
        if self.dry_run {
            let planned = Migrated {
                possible: Some(plan.obstacles.is_empty()),
                obstacles: Some(obstacles(&plan)),
                migrated: Some(shorten(&plan.migrated)),
                differences: Some(differences(&plan)),
            };
            return answer_about(&loaded, planned);
        }
        let key = self.idempotency_key.as_deref();
        let order = ctx.order(loaded.run.clone(), key, self.expected_seq)?;
        let written = runs.execute(&order, &migrate)?;
        let is_refused = written.refusal().is_some();
        let migrated = written
            .records
            .iter()
            .find_map(|record| match record.read() {
                Ok(Body::Migrated(migrated)) => Some(shorten(&migrated)),
                _ => None,
            });
        let migrated = Migrated {
            migrated,
            ..Migrated::default()
        };
        answer_order(&written, migrated).map_err(|mut problem| {
            if let Value::Object(details) = &mut problem.details
                && is_refused
            {
                details.insert("obstacles".to_owned(), Value::Array(obstacles(&plan)));
            }
            problem
        })
    }
}

fn obstacles(plan: &MigrationPlan) -> Vec<Value> {
    let obstacles = plan.obstacles.iter().take(MAX_ITEMS);
    obstacles.map(|it| json!(it)).collect()
}

/// Most names of each list of a kind. Why: there are eight kinds, and a reply has 16 KiB.
const MAX_NAMES: usize = 8;

/// Most bytes of such a name.
const MAX_NAME: usize = 60;

/// Lists what of each kind is gone, new or changed, by names; of many the first.
fn differences(plan: &MigrationPlan) -> BTreeMap<String, NameChanges> {
    let rows = plan.comparison.rows.iter();
    let changes = rows.map(|(kind, rows)| {
        let mut changes = rows.name_changes(kind);
        for names in [&mut changes.gone, &mut changes.new, &mut changes.changed] {
            let more = names.len().saturating_sub(MAX_NAMES);
            names.truncate(MAX_NAMES);
            for name in names.iter_mut() {
                if let (cut, true) = bounds::truncate(name, MAX_NAME) {
                    *name = format!("{cut}…");
                }
            }
            if more > 0 {
                names.push(format!("and {more} more"));
            }
        }
        (kind.clone(), changes)
    });
    changes.collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyRunCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Verified {
    /// The run.
    #[schemars(with = "String")]
    run_id: RunId,
    /// True if the journal is as it was written, and its steps come out the same.
    whole: bool,
    /// The number of records that were checked.
    records: u64,
    /// The number of steps that were made again.
    steps: u64,
    /// The number of stored contents that were checked.
    blobs: usize,
    /// The differences, each with its record.
    differences: Page<Value>,
    /// The `cursor` of the next page, if there is one.
    cursor: Option<String>,
}

/// Damage to a journal.
#[derive(Serialize)]
struct Damage {
    seq: Option<u64>,
    what: String,
}

impl ToolCall for VerifyRunCall {
    const NAME: &'static str = "verify_run";
    const TITLE: &'static str = "Verify a run";
    const DESCRIPTION: &'static str = "Checks the chain of hashes and what is kept of a run, makes every step again and compares.";
    const SET: Set = Set::Time;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const GATING: Gating = Gating::Uncounted;
    type Response = About<Verified>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Verified>, Problem> {
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let runs = ctx.runs();
        let verified = verify(runs.store(), Some(&run), &mut ignore_progress)?;
        let damage = verified.differences.into_iter().map(|found| Damage {
            seq: found.seq,
            what: found.what,
        });
        let mut differences = to_values(damage.collect());
        let mut steps = 0;
        // The steps of a damaged journal can't be made again.
        if differences.is_empty() {
            let replay = replay_run(runs, &run, None)?;
            steps = replay.steps;
            differences.extend(replay.difference.map(|it| json!(it)));
        }
        let mut answer = About::without_next(Verified {
            run_id: run.clone(),
            whole: differences.is_empty(),
            records: verified.records,
            steps,
            blobs: verified.blobs,
            differences: Page::default(),
            cursor: None,
        });
        // A damaged run can't always be loaded.
        let loaded = runs.load(&run).map_err(Problem::from);
        answer.next = loaded.and_then(|loaded| describe_next(&loaded)).ok();
        if !differences.is_empty() {
            let room = remaining_room(&answer);
            let (page, rest) = Page::fill(differences, Position::default(), room);
            answer.fields.differences = page;
            answer.fields.cursor = part_cursor("differences", rest);
        }
        Ok(answer)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SaveFilesCall {
    /// The run; may be left out where only one is meant.
    run_id: Option<String>,
    /// Save the files, put them back, finish or give up putting them back, or list what was saved.
    #[serde(default)]
    action: Action,
    /// The checkpoint's name; a new one without gets the number of its record.
    name: Option<String>,
    /// A folder of the repository, under the one that the server works in.
    folder: Option<PathBuf>,
    /// The reason.
    reason: Option<String>,
    /// The record that the run must end with; else the call is refused.
    expected_seq: Option<u64>,
    /// A repeated call with this key gives the first answer again.
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

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct Checkpoints {
    /// The checkpoint that the files agree with, if they agree with one.
    #[schemars(with = "Option<Map<String, Value>>")]
    checkpoint: Option<CheckpointSummary>,
    /// For `list`: the checkpoints, in the order of saving.
    checkpoints: Page<CheckpointSummary>,
    /// For `list`: the checkpoint that is being restored.
    restoring: Option<String>,
    /// The `cursor` of the next page, if there is one.
    cursor: Option<String>,
}

/// A checkpoint.
#[derive(Serialize)]
struct CheckpointSummary {
    name: String,
    seq: u64,
    time: u64,
    commit: String,
    tree: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// In a list: whether the files agree with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    current: bool,
}

impl From<&Checkpoint> for CheckpointSummary {
    fn from(saved: &Checkpoint) -> Self {
        Self {
            name: saved.taken.name.clone(),
            seq: saved.seq,
            time: saved.time,
            commit: saved.taken.commit.clone(),
            tree: saved.taken.tree.clone(),
            reason: saved.taken.reason.clone(),
            current: false,
        }
    }
}

impl ToolCall for SaveFilesCall {
    const NAME: &'static str = "checkpoint";
    const TITLE: &'static str = "Save or restore files";
    const DESCRIPTION: &'static str = "Saves the files of the working copy with the run, or puts them back; git's branches, index and stash stay. What is overwritten is saved before.";
    const SET: Set = Set::Time;
    const ANNOTATIONS: Annotations = Annotations::DESTRUCTIVE;
    const GATING: Gating = Gating::Uncounted;
    type Response = About<Checkpoints>;

    fn run(&self, ctx: &Ctx<'_>) -> Result<About<Checkpoints>, Problem> {
        let runs = ctx.runs();
        let run = ctx.resolve_run(self.run_id.as_deref())?;
        let order = ctx.order(run, self.idempotency_key.as_deref(), self.expected_seq)?;
        let written = match self.action {
            Action::List => return list_checkpoints(&runs.catch_up(&order.run)?),
            Action::Take => {
                let checkpoint = TakeCheckpoint {
                    folder: resolve_folder(self.folder.as_deref())?,
                    name: self.name.clone(),
                    reason: self.reason.clone(),
                };
                runs.execute(&order, &checkpoint)?
            }
            Action::Restore => {
                let Some(name) = self.name.clone() else {
                    let what = "say which, for `action: restore`";
                    return Err(Problem::argument("name", what));
                };
                runs.execute(&order, &RestoreFiles { name })?
            }
            Action::Finish => runs.execute(&order, &FinishRestore)?,
            Action::GiveUp => {
                let reason = self.reason.clone();
                let reason = reason.unwrap_or_else(|| "given up by its caller".to_owned());
                runs.execute(&order, &GiveUpRestore { reason })?
            }
        };
        let checkpoints = Checkpoints {
            checkpoint: current_checkpoint(&written),
            ..Checkpoints::default()
        };
        answer_order(&written, checkpoints)
    }
}

/// Returns the checkpoint that the files agree with, if they agree with one.
fn current_checkpoint<T>(written: &Written<T>) -> Option<CheckpointSummary> {
    let state = &written.loaded.state;
    let name = state.workspace.as_ref()?;
    state.checkpoints.get(name).map(CheckpointSummary::from)
}

fn list_checkpoints(loaded: &Loaded) -> Result<About<Checkpoints>, Problem> {
    let state = &loaded.state;
    let saved = state
        .saved_checkpoints()
        .into_iter()
        .map(|saved| CheckpointSummary {
            current: state.workspace.as_ref() == Some(&saved.taken.name),
            ..CheckpointSummary::from(saved)
        });
    let checkpoints = Checkpoints {
        restoring: state.restoring.as_ref().map(|it| it.name.clone()),
        ..Checkpoints::default()
    };
    let mut answer = answer_about(loaded, checkpoints)?;
    let (page, rest) = Page::fill(saved, Position::default(), remaining_room(&answer));
    answer.fields.checkpoints = page;
    answer.fields.cursor = part_cursor("checkpoints", rest);
    Ok(answer)
}

/// Resolves a folder, which has to lie under the one that the server works in.
///
/// A caller doesn't choose among all that the server can read.
fn resolve_folder(named: Option<&Path>) -> Result<PathBuf, Problem> {
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
