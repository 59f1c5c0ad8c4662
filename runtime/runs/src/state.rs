//! The state of a run: a pure function of its journal.
//!
//! [`RunState::apply`] takes the records in order; the state names the last one that it has. Everybody who asks what is
//! active, what a run waits for or how far a step is asks this state, so that every front end gives one answer.
//!
//! A `run.rewound` takes back the records before it. [`LiveRecords`] knows which records count, and [`replay`] begins again
//! without the others. Some effects of a record outlast a rewind.

mod apply;
mod cache;
mod replay;
mod shared;
mod signed;
mod status;

use std::collections::{BTreeMap, BTreeSet};

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use cache::VERSION;
pub(crate) use cache::{Cached, decode as decode_cache, encode as encode_cache};
pub use replay::{LiveRecords, for_each_record, live_records, load, load_with, replay};
pub(crate) use replay::{catch_up, is_signed, record_hash, unreadable_record};
pub use shared::{Context, Shared, json_size};
pub use signed::SignedRun;
pub(crate) use signed::check_signature;
pub use status::{Status, WaitingFor};

use crate::actor::{Actor, Role};
use crate::authority::Right;
use crate::body::{
    Artifact, AttemptOutcome, CheckpointRestored, CheckpointTaken, EffectStatus, Kind, Opened,
    Parent, Queued, Refused, Resolved, Spent, Started, StepStatus, Subflow, Usage, WorktreeMade,
};
use crate::check::Program;
use crate::hash::Hash;
use crate::id::RunId;
use crate::record::Record;
use crate::store::{PendingTimer, RunSummary};

/// Most names of callers that a run's state has.
///
/// Why: a run has a few, and each append writes its summary.
const MAX_CALLERS: usize = 64;

/// Most sessions that a run's state has.
///
/// Why: a run has a few, and each append writes its summary.
const MAX_SESSIONS: usize = 64;

/// The name that stands for all callers, or all sessions, that a run's state has no room for.
pub(crate) const ANY_CALLER: &str = "*";

/// The state of a run after its first records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunState {
    /// The last record that it goes up to.
    pub seq: u64,
    /// The time of the first record. Unit: milliseconds since 1970.
    pub created: u64,
    /// The time of the last record. Unit: milliseconds since 1970.
    pub updated: u64,
    /// The workflow's id.
    pub workflow: String,
    /// The table that it runs under.
    pub table: Option<Hash>,
    /// The tables of the workflows that states invoke.
    pub invokes: Shared<BTreeMap<String, Hash>>,
    /// By state: the workflow that it invokes.
    pub invoking: Shared<BTreeMap<String, String>>,
    /// Its input.
    pub input: Shared<Value>,
    /// The project.
    pub project: Option<String>,
    /// The client's session.
    pub session: Option<String>,
    /// A name for people.
    pub title: Option<String>,
    /// The run that it works for.
    pub parent: Option<Parent>,
    /// The keys by which decisions about it are signed, if its workflow demands that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signing: Option<Shared<SignedRun>>,
    /// The runs that it was forked from, with the record: the last is the nearest.
    pub forked: Vec<(RunId, u64)>,
    /// The actor who imported it last, if its first records are another store's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_by: Option<String>,
    /// The root of the project that it belongs to, if whoever started it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// By check: the program that it runs, as it was when the run began, or when a person ran it last.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Program>,

    /// The active leaves, in document order.
    pub leaves: Vec<String>,
    /// The states that histories have recorded.
    pub history: BTreeMap<String, Vec<String>>,
    /// If the machine has ended: whether that is a success.
    pub ended: Option<bool>,
    /// The machine's data.
    pub context: Context,
    /// The number of macrosteps that took a transition.
    pub transitions: u64,
    /// By state: how often it was entered, and what was done in the visit that goes on or was the last.
    pub visits: BTreeMap<String, Visit>,

    /// By state, then by unit (empty for the state itself): what was reported.
    pub steps: Shared<BTreeMap<String, BTreeMap<String, StepState>>>,
    /// Events that wait until nothing is in their way, in order.
    pub queue: Vec<Queued>,
    /// The leaves that were active when an interrupt moved the run; the last is the nearest.
    pub detours: Vec<Vec<String>>,
    /// By id: all that was asked.
    pub requests: Shared<BTreeMap<String, Request>>,
    /// By name: the revisions, each once, in order.
    pub artifacts: Shared<BTreeMap<String, Vec<Revision>>>,
    /// The timers that are still to come, in the order of their times.
    pub timers: Vec<PendingTimer>,
    /// By key: the effects, and what became of them.
    pub effects: Shared<BTreeMap<String, EffectState>>,
    /// By name: what came last of the checks that were run as they are declared.
    pub checks: Shared<BTreeMap<String, CheckState>>,
    /// By name: the saved working copies.
    pub checkpoints: Shared<BTreeMap<String, Checkpoint>>,
    /// The git worktree that it works in, if it has one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeMade>,
    /// By region that has a worktree of its own: what is done there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub regions: BTreeMap<String, RegionWork>,
    /// The checkpoint that has the files as they were last seen.
    pub workspace: Option<String>,
    /// The checkpoint that the files are being put back to, while that isn't done.
    pub restoring: Option<CheckpointRestored>,
    /// By id: the runs under this one.
    pub children: Shared<BTreeMap<String, Child>>,
    /// By id: the children whose start or end was taken back.
    ///
    /// They are given up, and their ids are gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub orphans: BTreeMap<String, Child>,
    /// Steps of somebody else's making, by the state that they stand under.
    pub subflows: Shared<BTreeMap<String, Vec<Subflow>>>,
    /// Its cost.
    pub usage: Usage,
    /// By number: the attempts in the last visit of each state, and those that agents have taken back.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attempts: BTreeMap<u64, AttemptState>,
    /// The number of attempts that were ever made.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempted: u64,
    /// The task that executors were last given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The limits that the machine was told of since the last attempt began, or a person continued the run.
    #[serde(skip_serializing_if = "is_zero")]
    pub limits_reached: u64,
    /// From where attempts and their cost are counted towards limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance: Option<Allowance>,

    /// The ids of the calls of tools that have a place and haven't told what they did.
    pub running: BTreeSet<String>,
    /// The reason of its pause, if it is paused.
    pub paused: Option<String>,
    /// The actor who paused it.
    pub paused_by: Option<Actor>,
    /// The reason of its cancellation, if it was cancelled.
    pub cancelled: Option<String>,
    /// The actor who cancelled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<Actor>,
    /// The success of a run that a report has closed.
    pub closed: Option<bool>,
    /// True if it began with a workflow that nobody had accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreviewed: bool,
    /// True if its states go on restricting its callers though an agent gave it up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
    /// The names of the agents that have acted on it, whatever was taken back; `*` stands for all others.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub callers: BTreeSet<String>,
    /// By name: the clients' sessions that it holds, or held until a person released them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions: BTreeMap<String, SessionState>,
    /// The last refusal, while nothing has come behind it, and its record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<(u64, Refused)>,
    /// The rewinds: their own place, and the last record that counted then. They stay visible for ever.
    pub rewinds: Vec<(u64, u64)>,
    /// The states that were set by hand: when, and which.
    pub forced: Vec<(u64, String)>,
    /// The number of records of kinds that this version doesn't know.
    pub unknown: u64,
}

/// A client's session that a run holds, or held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// True if a person has released it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// True if it is held without driving the run.
    ///
    /// It takes the run from no other session, and needn't bring it to an end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loose: bool,
    /// The time of its last record in the run. Unit: milliseconds since 1970.
    pub seen: u64,
    /// True if it has done something in the run, and wasn't only bound to it.
    ///
    /// One that was never heard of may not exist: it takes the run from no other session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub acted: bool,
}

/// An attempt of an executor, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttemptState {
    /// The state that is worked in.
    pub state: String,
    /// Its number among the attempts of the visit, from 1.
    pub number: u64,
    /// The executor.
    pub executor: String,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The record that began it.
    pub seq: u64,
    /// The time at which it began. Unit: milliseconds since 1970.
    pub time: u64,
    /// The outcome, the reason, and the time; none while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<(AttemptOutcome, Option<String>, u64)>,
    /// Its cost.
    pub usage: Usage,
    /// The calls of tools that it has made.
    pub calls: u64,
    /// The rest of it, if an agent has taken it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_back: Option<TakenBack>,
}

/// The rest of an attempt that an agent has taken back: it counts towards limits nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenBack {
    /// The visit of its state that it counts in, by the visit's number.
    pub visit: u64,
    /// True if it went on then: it counts as one that came to nothing, however it ends.
    pub unfinished: bool,
}

/// The allowance that a person has given a run anew, by continuing it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allowance {
    /// The record that continued it: attempts are counted from there on.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
    /// The cost of the run until then.
    pub usage: Usage,
    /// The cost of the runs below it until then.
    #[serde(skip_serializing_if = "Usage::is_nothing")]
    pub below: Usage,
}

/// Reports whether a counter has counted nothing: then it isn't written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The visits of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Visit {
    /// The number of its visits.
    pub count: u64,
    /// The record that entered it last.
    pub entered: u64,
    /// The time. Unit: milliseconds since 1970.
    pub since: u64,
    /// The record that left it last, if it isn't active.
    pub left: Option<u64>,
    /// The calls of tools that were allowed in this visit.
    pub iterations: u64,
    /// The ids of the calls that were counted in this visit.
    pub calls: BTreeSet<String>,
    /// The files that were changed in this visit.
    pub files: BTreeSet<String>,
    /// The size of the tools' output in this visit. Unit: bytes.
    pub bytes: u64,
    /// The use of limits in visits that an agent has taken back: the next one starts with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owes: Option<Spent>,
}

/// The last report on a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// Its status.
    pub status: StepStatus,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Further data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// The record that said so.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
    /// True if no machine has the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// The record that began it, if it is reported beside the active steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detached: Option<u64>,
}

impl StepState {
    /// Reports whether it is under way.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.status, StepStatus::Running | StepStatus::Waiting)
    }
}

/// Something that was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The question.
    pub opened: Opened,
    /// The record that asked.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
    /// The asker.
    pub asker: Actor,
    /// The hash of the record that asked, if the run's decisions are signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Hash>,
    /// The answer, who gave it, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<(Resolved, Actor, u64)>,
}

/// A revision of an artifact, and the records that made it what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The revision.
    pub artifact: Artifact,
    /// The record that made it.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
    /// The record that said last what it is for.
    pub changed: u64,
}

/// An effect, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectState {
    /// The action's name.
    pub name: String,
    /// The record of the step that it belongs to.
    pub seq: u64,
    /// Its fate; none while nobody has reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<EffectStatus>,
    /// The key of the effect that it takes back, if that is what it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compensates: Option<String>,
    /// True if its step was taken back after it had left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken_back: bool,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckState {
    /// True if it has passed.
    pub passed: bool,
    /// True if its caller cancelled it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// The result as a predicate of its name.
    #[serde(rename = "told")]
    pub outcome: String,
    /// The hash of the declaration that it was run by.
    pub declaration: Hash,
    /// The root of the project that it was run in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The program that it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The record.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
}

/// A region that is worked on in a worktree of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionWork {
    /// The worktree.
    pub worktree: WorktreeMade,
    /// By name: what came last of the checks that were run in it as they are declared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, CheckState>,
}

/// A saved working copy, and the record that says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The working copy.
    pub taken: CheckpointTaken,
    /// The record.
    pub seq: u64,
    /// The time. Unit: milliseconds since 1970.
    pub time: u64,
}

/// A run under this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its workflow.
    pub workflow: String,
    /// The table that it is to run under, if a state invokes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Hash>,
    /// The state that it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The unit of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// If it has ended: whether that is a success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
    /// The record that it began with here.
    pub seq: u64,
}

impl Request {
    /// Reports whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now: u64) -> bool {
        self.opened.expires.is_some_and(|due| due <= now)
    }

    /// Describes the persons who may settle it: the asker may not.
    #[must_use]
    pub fn who_may_answer(&self) -> String {
        let asker = self.asker.name.as_ref();
        let named = self.opened.approvers.iter();
        let others = named.filter(|it| Some(*it) != asker);
        let others: Vec<String> = others.map(|it| format!("`{it}`")).collect();
        if others.is_empty() {
            return "a person".to_owned();
        }
        others.join(" or ")
    }
}

impl RunState {
    /// Takes the next record. Those that [`LiveRecords`] skips aren't given to it.
    ///
    /// # Errors
    ///
    /// The record's body can't be read, or a decision in it isn't signed as it must be; the state is as it was.
    pub fn apply(&mut self, record: &Record) -> Result<(), serde_json::Error> {
        let body = record.read()?;
        signed::check(self, record, &body).map_err(serde_json::Error::custom)?;
        self.seq = record.seq;
        self.updated = record.time;
        if self.created == 0 {
            self.created = record.time;
        }
        self.refused = None;
        self.note_caller(&record.actor);
        self.note_session(&record.actor, record.time);
        apply::apply(self, record, body);
        Ok(())
    }

    /// Returns the summary that lists show.
    #[must_use]
    pub fn summary(&self) -> RunSummary {
        let open = self.requests.iter();
        let open = open.filter(|(_, request)| request.resolved.is_none());
        RunSummary {
            workflow: self.workflow.clone(),
            status: self.status().name().to_owned(),
            project: self.project.clone(),
            session: self.session.clone(),
            title: self.title.clone(),
            parent: self.parent.as_ref().map(|parent| parent.run.clone()),
            leaves: self.leaves.clone(),
            requests: open.map(|(id, _)| id.clone()).collect(),
            callers: self.callers.iter().cloned().collect(),
            sessions: self.sessions.clone(),
            holds: self.holds,
            unreviewed: self.unreviewed,
            imported_by: self.imported_by.clone(),
        }
    }

    /// Adds the agent of a record to the callers.
    fn note_caller(&mut self, actor: &Actor) {
        let Some(name) = actor.name.as_ref().filter(|_| actor.role == Role::Agent) else {
            return;
        };
        if self.callers.contains(name) {
            return;
        }
        let is_full = self.callers.len() >= MAX_CALLERS;
        self.callers.insert(if is_full {
            ANY_CALLER.to_owned()
        } else {
            name.clone()
        });
    }

    /// Notes that a session that it holds has done something.
    fn note_session(&mut self, actor: &Actor, time: u64) {
        let session = actor.session.as_ref();
        if let Some(known) = session.and_then(|session| self.sessions.get_mut(session)) {
            known.seen = time;
            known.acted = true;
        }
    }

    /// Holds a session, which drives the run or doesn't.
    ///
    /// Where there are too many, all are held from then on.
    fn hold_session(&mut self, mut session: String, drives: bool, seen: u64) {
        let is_full = self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains_key(&session);
        if is_full {
            // Made room for, one that is held would go free.
            ANY_CALLER.clone_into(&mut session);
        }
        let known = self.sessions.get(&session);
        let held = SessionState {
            released: false,
            loose: is_full || !drives,
            seen,
            acted: known.is_some_and(|known| known.acted),
        };
        self.sessions.insert(session, held);
    }

    /// Returns the requests that nobody has answered, in the order of asking.
    #[must_use]
    pub fn open_requests(&self) -> Vec<&Request> {
        let mut open: Vec<&Request> = self
            .requests
            .values()
            .filter(|request| request.resolved.is_none())
            .collect();
        open.sort_by_key(|request| request.seq);
        open
    }

    /// Describes what persons have decided about the run, and what counts of it.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let mut decisions: Vec<(u64, String)> = self
            .requests
            .values()
            .filter_map(|request| {
                let (resolved, by, _) = request.resolved.as_ref()?;
                let id = &request.opened.request;
                let deed = format!("`{id}` {} by {by}", resolved.resolution.name());
                Kind::is_decision(resolved, by.role).then_some((request.seq, deed))
            })
            .collect();
        let forced = self.forced.iter();
        decisions.extend(forced.map(|(seq, state)| (*seq, format!("forced to `{state}`"))));
        decisions.sort();
        let mut decisions: Vec<String> = decisions.into_iter().map(|(_, deed)| deed).collect();
        decisions.extend(self.stopped_for_person());
        decisions
    }

    /// Describes the decisions that an import doesn't carry over.
    ///
    /// Nothing but the other store's word vouches for them.
    ///
    /// The one place that says which decisions of another store count here. None do, as long as none are signed.
    pub(crate) fn foreign_decisions(&self) -> Vec<String> {
        self.decisions()
    }

    /// Describes who has paused or cancelled the run, if only a person goes on with it.
    pub(crate) fn stopped_for_person(&self) -> Option<String> {
        let is_person = |by: &&Actor| by.role == Role::Person;
        let cancelled = self.cancelled_by.as_ref().filter(is_person);
        // A limit that is reached pauses a run for a person, too.
        let paused = self.paused_by.as_ref();
        let paused = paused.filter(|by| Right::Decide.is_granted(by.role));
        let cancelled = cancelled.map(|by| format!("cancelled by {by}"));
        cancelled.or_else(|| paused.map(|by| format!("paused by {by}")))
    }

    fn begin(&mut self, started: Started) {
        self.workflow = started.workflow;
        self.table = Some(started.table);
        self.invokes = started.invokes.into();
        self.invoking = started.invoking.into();
        self.input = started.input.into();
        self.context = started.context.into();
        self.project = started.project;
        self.session = started.session;
        self.title = started.title;
        self.parent = started.parent;
        self.unreviewed = started.unreviewed;
        self.root = started.root;
        self.programs = started.programs;
    }
}
