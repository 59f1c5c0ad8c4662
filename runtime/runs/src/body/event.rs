//! The beginning of a run, the events that it took, and what was refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Kind;
use super::step::StepRecord;
use crate::actor::Role;
use crate::check::Program;
use crate::hash::Hash;
use crate::id::RunId;
use crate::phrase::list;
use crate::signing::Signing;

/// A run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The workflow's id.
    pub workflow: String,
    /// The hash of the table that it runs under.
    pub table: Hash,
    /// The tables of the workflows that its states invoke, and of those that these invoke.
    ///
    /// So anybody can start a child of it, without a spec.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub invokes: BTreeMap<String, Hash>,
    /// By state: the workflow that it invokes. So whoever has the journal alone sees what a run waits for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub invoking: BTreeMap<String, String>,
    /// Its input.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// The context that it begins with: the spec's, with the input's fields merged in.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The first step.
    pub step: StepRecord,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The client's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The run that this one works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// True if nobody had accepted the workflow as it was, in a store where workflows are accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreviewed: bool,
    /// The absolute path of the root of its project.
    ///
    /// Checks that it requires count if they ran there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// By check that a state requires: the program that it ran then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Program>,
    /// The keys by which decisions about it are signed, if its workflow demands that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
}

/// A run began as a copy of another's first records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forked {
    /// The other run.
    pub from: RunId,
    /// Its last record that counts here, too.
    pub at: u64,
    /// Fields of the context that are different from here on.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    /// True if it starts without artifacts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_artifacts: bool,
    /// The requests that were open then, by the ids that they have in the other run: their ids here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, String>,
    /// The decisions of persons about the other run that count here, too, as people read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<String>,
    /// A name for people, if it isn't the other run's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// The parent of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The run.
    pub run: RunId,
    /// Its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The unit of work in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// An event was taken, or found nothing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its name.
    pub event: String,
    /// The data that came with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The claims of its sender: guards that nothing defines, in their author's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// The cause, if nobody sent it by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The step that it made.
    pub step: StepRecord,
}

/// The cause of an event that nobody sent by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Cause {
    /// A timer was due.
    Timer {
        /// Its name.
        timer: String,
    },
    /// A request was approved, denied, sent back or has expired.
    Request {
        /// Its id.
        request: String,
    },
    /// A step was reported on that wasn't active.
    Advance {
        /// The step.
        step: String,
        /// The events of the other transitions that lead there, which agree with the one taken.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// True if the steps that it completes have records of their own, just before it.
        ///
        /// Leaving one completes nothing then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        completions: bool,
    },
    /// A limit was reached.
    Limit {
        /// The name.
        limit: String,
        /// In which state.
        state: String,
    },
    /// A file was changed that an interrupt waits for.
    Interrupt {
        /// The interrupt.
        interrupt: String,
        /// The file.
        path: String,
        /// True if it returns from the last detour instead of making one.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        returns: bool,
    },
    /// A child run ended.
    Child {
        /// The child.
        run: RunId,
        /// The state that invoked it: the event is this state's alone.
        ///
        /// Older journals have none: the event was every state's then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
    },
    /// The event's name isn't the machine's: `safe_next` caught it.
    SafeNext {
        /// The name that was sent.
        sent: String,
    },
}

/// An event that came while something else had to be settled first; it is taken behind that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queued {
    /// Its name.
    pub event: String,
    /// Its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The cause. The event with the same cause is this one.
    pub cause: Cause,
}

/// Something was asked for and refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refused {
    /// The subject.
    #[serde(flatten)]
    pub subject: Subject,
    /// The code of the reason.
    pub code: String,
    /// The reason in words.
    pub reason: String,
    /// The events that are legal instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub legal: Vec<String>,
}

/// The subject of a refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Subject {
    /// An event.
    Event {
        /// Its name.
        name: String,
        /// Its data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Value>,
    },
    /// A report on a step.
    Step {
        /// The step.
        name: String,
        /// The status reported.
        status: String,
    },
    /// A call of a tool.
    Tool {
        /// Its name.
        name: String,
    },
    /// An answer to a request, or its withdrawal.
    Request {
        /// The request's id.
        name: String,
        /// The reply: `approve`, `deny`, `answer`, `send_back` or `withdraw`.
        reply: String,
    },
    /// Anything else that is done to a run.
    Operation {
        /// Its name.
        name: String,
        /// Its object: the record of a rewind, the key of an effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
}

impl Kind for Started {
    const BLOBS: &[&str] = &["table", "invokes"];

    fn summary(&self) -> String {
        format!("began `{}` in {}", self.workflow, list(&self.step.leaves))
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Forked {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let decided = match self.decided.as_slice() {
            [] => String::new(),
            decided => format!(", as decided in `{}`: {}", self.from, decided.join(", ")),
        };
        format!("forked from `{}` at record {}{decided}", self.from, self.at)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Event {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        let cause = self.cause.as_ref().map(Cause::summary).unwrap_or_default();
        if self.step.steps.is_empty() {
            return format!("`{}`{cause} came, and nothing took it", self.event);
        }
        let end = match self.step.ended {
            Some(true) => ", ended",
            Some(false) => ", ended in failure",
            None => "",
        };
        let claims = match self.claims.as_slice() {
            [] => String::new(),
            claims => format!(", claiming {},", list(claims)),
        };
        let leaves = list(&self.step.leaves);
        format!("`{}`{cause}{claims} → {leaves}{end}", self.event)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Queued {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let cause = self.cause.summary();
        format!("`{}`{cause} waits until nothing is in the way", self.event)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Refused {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!("{} refused: {}", self.subject.name(), self.reason)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Cause {
    /// Describes the cause, to stand after the event's name.
    fn summary(&self) -> String {
        match self {
            Self::Timer { .. } => " by its timer".to_owned(),
            Self::Request { request } => format!(" by request `{request}`"),
            Self::Advance { step, .. } => format!(" by a report on `{step}`"),
            Self::Limit { limit, state } => format!(" by `{limit}` of `{state}`"),
            Self::Interrupt {
                interrupt, path, ..
            } => format!(" by interrupt `{interrupt}` ({path})"),
            Self::Child { run, .. } => format!(" by child `{run}`"),
            Self::SafeNext { sent } => format!(" for `{sent}`, which the machine doesn't have"),
        }
    }
}

impl Subject {
    /// Returns its name in sentences.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Event { name, .. } => format!("event `{name}`"),
            Self::Step { name, status } => format!("`{name}` as {status}"),
            Self::Tool { name } => format!("tool `{name}`"),
            Self::Request { name, reply } => format!("`{reply}` of `{name}`"),
            Self::Operation { name, on: None } => format!("`{name}`"),
            Self::Operation { name, on: Some(on) } => format!("`{name}` ({on})"),
        }
    }
}
