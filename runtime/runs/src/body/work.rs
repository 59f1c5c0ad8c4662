//! Reports on the work in a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Kind;
use crate::actor::Role;
use crate::check::CheckResult;
use crate::hash::Hash;
use crate::id::RunId;
use crate::phrase::{list, with_reason};

/// The status of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Nobody works on it.
    NotStarted,
    /// Somebody does.
    Running,
    /// Work that waits for something.
    Waiting,
    /// Work that is done.
    Completed,
    /// Work that has failed.
    Failed,
    /// Work that was left out.
    Skipped,
}

impl StepStatus {
    /// Every status.
    pub const ALL: [Self; 6] = [
        Self::NotStarted,
        Self::Running,
        Self::Waiting,
        Self::Completed,
        Self::Failed,
        Self::Skipped,
    ];

    /// Returns its name in journals and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// The status of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The state, or `agent:state`.
    pub step: String,
    /// The unit of work in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The way.
    pub status: StepStatus,
    /// In words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Further data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// True if no machine has the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// True if a report on a later step has completed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implied: bool,
    /// True if it isn't active and moves nothing: another branch, or a step that was left open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detached: bool,
}

/// The progress of long work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// In words.
    pub message: String,
    /// The fraction that is done, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// The state that is at work, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The unit of work in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The verdict on a call of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolVerdict {
    /// The call ran.
    Allowed,
    /// The call was denied.
    Denied,
    /// The call ran and failed.
    Failed,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The verdict.
    pub verdict: ToolVerdict,
    /// The reason for which it was denied, or would have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if it ran though policy would have denied it: whoever asked only observes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observed: bool,
    /// The id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// True if it is about to run; another record has its result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reserved: bool,
    /// The duration. Unit: milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
    /// The hash of its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Hash>,
    /// The size of the output. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The attempt of an executor that made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

/// The tie between a client's session and a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tie {
    /// The run holds the session, which drives it.
    Bound,
    /// The run holds the session, also when another one takes the run.
    Held,
    /// The session has ended, and the run waits for another one. If it comes back, it is held.
    Ended,
    /// A person has released the session from the run.
    Released,
}

/// A change of the tie between a client's session and the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The session: the client's name, `:` and the client's id of it.
    pub session: String,
    /// The tie from now on.
    pub tie: Tie,
}

/// The fate of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectStatus {
    /// Somebody is about to carry it out.
    Intended,
    /// Success.
    Succeeded,
    /// A failure without effect.
    Failed,
    /// Nobody knows.
    Unknown,
    /// Success that another effect has compensated.
    Compensated,
}

impl EffectStatus {
    /// Returns its name in journals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intended => "intended",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::Compensated => "compensated",
        }
    }
}

/// The fate of an effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// `<run>:<seq>:<n>`.
    pub key: String,
    /// The action's name.
    pub name: String,
    /// The text.
    pub status: EffectStatus,
    /// Further data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}

/// The run, or a region of it, works in a git worktree of its own from then on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeMade {
    /// The region; none for the run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Its folder.
    pub folder: String,
    /// The project's root in it.
    pub root: String,
    /// Its branch.
    pub branch: String,
    /// The commit that it began with.
    pub base: String,
}

/// A run under this one began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildStarted {
    /// Its id.
    pub run: RunId,
    /// Its workflow.
    pub workflow: String,
    /// The hash of the table that it is to run under, if a state invokes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Hash>,
    /// The state that it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The unit of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A run under this one ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEnded {
    /// Its id.
    pub run: RunId,
    /// True if it completed.
    pub success: bool,
    /// The reason that it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Steps of somebody else's making, to be shown under one of the run's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subflow {
    /// The state that they stand under.
    pub parent: String,
    /// A name for them.
    pub name: String,
    /// The steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The steps as a diagram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagram: Option<String>,
}

/// A remark on the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// In words.
    pub text: String,
    /// Further data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// A remark on a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Annotation {
    /// The document: an artifact's name or an id of the client's.
    pub document: String,
    /// In words.
    pub text: String,
    /// The remark that this one answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Further data.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

/// A check was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The program and its arguments, as they are declared.
    pub command: Vec<String>,
    /// The hash of the whole declaration: what a workflow requires is the check that it declares itself.
    pub declaration: Hash,
    /// Arguments that whoever ran it has added: then it isn't the check that a workflow requires.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Its result.
    #[serde(flatten)]
    pub ran: CheckResult,
}

impl Kind for Step {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let unit = self.unit.as_ref();
        let unit = unit.map_or_else(String::new, |unit| format!(" ({unit})"));
        let status = match self.status {
            StepStatus::NotStarted => "not started",
            other => other.name(),
        };
        with_reason(
            format!("`{}`{unit} is {status}", self.step),
            self.message.as_ref(),
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Progress {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let unit = self.unit.as_ref();
        let unit = unit.map_or_else(String::new, |unit| format!("{unit}: "));
        // Whole percents: nobody means more by it.
        let done = self.done.map(|done| format!(" ({:.0} %)", done * 100.0));
        format!("{unit}{}{}", self.message, done.unwrap_or_default())
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Tool {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let verdict = match self.verdict {
            ToolVerdict::Allowed if self.observed => "would have been denied, and may run",
            ToolVerdict::Allowed if self.reserved => "may run",
            ToolVerdict::Allowed => "has run",
            ToolVerdict::Denied => "denied",
            ToolVerdict::Failed => "failed",
        };
        with_reason(format!("`{}` {verdict}", self.name), self.reason.as_ref())
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Effect {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!(
            "effect `{}` {} ({})",
            self.name,
            self.status.name(),
            self.key
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for WorktreeMade {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let base = self.base.get(..12).unwrap_or(&self.base);
        let region = self.region.as_ref();
        let region = region.map_or_else(String::new, |region| format!(", in `{region}`"));
        format!(
            "works in the worktree {} on the branch `{}`, from commit {base}{region}",
            self.folder, self.branch
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for ChildStarted {
    const BLOBS: &[&str] = &["table"];

    fn summary(&self) -> String {
        format!("child `{}` began `{}`", self.run, self.workflow)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for ChildEnded {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let outcome = if self.success { "well" } else { "badly" };
        with_reason(
            format!("child `{}` ended {outcome}", self.run),
            self.reason.as_ref(),
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Subflow {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!("steps of `{}` under `{}`", self.name, self.parent)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Session {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let session = &self.session;
        match self.tie {
            Tie::Bound => format!("session `{session}` is held by the run"),
            Tie::Held => format!("session `{session}` stays held by the run, whoever drives it"),
            Tie::Ended => format!("session `{session}` has ended"),
            Tie::Released => format!("session `{session}` was released from the run"),
        }
    }

    fn is_decision(&self, by: Role) -> bool {
        self.tie == Tie::Released && by == Role::Person
    }
}

impl Kind for Note {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        self.text.clone()
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Annotation {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!("on `{}`: {}", self.document, self.text)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Check {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let arguments = if self.arguments.is_empty() {
            String::new()
        } else {
            format!(" with {}", list(&self.arguments))
        };
        format!("check `{}`{arguments} {}", self.name, self.ran.outcome())
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}
