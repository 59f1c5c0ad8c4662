//! Operations on a run from outside.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Kind;
use super::attempt::Usage;
use super::step::StepRecord;
use crate::actor::Role;
use crate::hash::Hash;
use crate::phrase::{list, with_reason};

/// The start of a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The end of a pause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Continued {
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The cost of the runs below it until then, which their own journals have.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub below: Usage,
}

/// A run was given up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if its states go on restricting its callers: an agent gave it up where they restrict tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
}

/// A run was closed from outside, as what it had come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    /// True if the run counts as completed.
    pub success: bool,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True if its states go on restricting its callers, as in [`Cancelled::holds`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
}

/// A person set the state of a run by hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forced {
    /// The state asked for.
    pub to: String,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields of the context that are different from then on.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The step that it made.
    pub step: StepRecord,
}

/// The scope of a rewind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The state that the journal describes.
    State,
    /// The files.
    Workspace,
    /// Both.
    Both,
}

/// A rewind: records between it and its target don't count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewound {
    /// The last record that still counts.
    pub to: u64,
    /// The scope.
    pub scope: Scope,
    /// The keys of effects that had left and can't be taken back: crossed nevertheless.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossed: Vec<String>,
    /// The effects that take others back, and have to be carried out for that, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compensations: Vec<Compensation>,
    /// By state: what counts towards its limits nevertheless. None if a person has rewound.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spent: BTreeMap<String, Spent>,
    /// The checkpoint that the files were put back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The use of a state's limits up to a rewind.
///
/// An agent doesn't get it again by rewinding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The number of its visits.
    pub visits: u64,
    /// The calls of tools in the visit with the most of those taken back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// The most that tools returned in such a visit. Unit: bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An effect that takes another one back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compensation {
    /// `<run>:<seq>:<n>`, as of any effect.
    pub key: String,
    /// The action's name.
    pub name: String,
    /// The key of the effect that it takes back.
    pub of: String,
}

/// A run goes on under another table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migrated {
    /// The table before.
    pub from: Hash,
    /// The table from now on.
    pub to: Hash,
    /// The workflow's id from now on, if it was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The tables of the workflows that the new table's states invoke.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub invokes: BTreeMap<String, Hash>,
    /// By state of the new table: the workflow that it invokes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub invoking: BTreeMap<String, String>,
    /// States that have another name now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mapping: BTreeMap<String, String>,
    /// The active leaves, by their new names.
    pub leaves: Vec<String>,
    /// The states that histories have recorded, by the new names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub history: BTreeMap<String, Vec<String>>,
    /// All active states, by the new names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<String>,
    /// Timers that have another name now.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timers: BTreeMap<String, String>,
    /// By request: the new numbers of the transitions that wait for its approval.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approvals: BTreeMap<String, Vec<u16>>,
    /// Fields that the context gets because the new table begins with them and the run had none.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

/// The run came from another store, and somebody here has taken it in.
///
/// The records before it were written there, by callers whose tokens this store doesn't know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The other store's random id, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// The records whose events took a transition that needs an approval.
    ///
    /// Whoever makes a journal up needn't make up an approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<u64>,
}

/// The clock was set back, by more than clocks of different machines differ.
///
/// Whoever armed a timer meanwhile armed it for a time that was a mistake, so these timers move with the clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSetBack {
    /// The time by which it was set back, at least. Unit: milliseconds.
    pub by: u64,
    /// The last record that was written before the clock was ahead; 0 if there is none.
    ///
    /// The timers of later records move.
    pub after: u64,
}

/// A working copy was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointTaken {
    /// Its name, unique in the run.
    pub name: String,
    /// The repository's folder.
    pub repository: String,
    /// The commit that holds it.
    pub commit: String,
    /// The tree of the commit.
    pub tree: String,
    /// The commit that was checked out, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// Folders that are repositories of their own: not saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    /// Files that a person could look for in it: not saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True for a safety copy of what a restore was about to overwrite; no list and no default has it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub safety: bool,
}

/// A file that a checkpoint doesn't have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path in the working copy.
    pub path: String,
    /// The cause.
    pub cause: LeftOutCause,
}

/// The reason why a checkpoint doesn't have a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutCause {
    /// A pipe, a socket or a device.
    NoFile,
    /// A file that is too large.
    TooLarge,
    /// Another cause, of a newer version.
    #[serde(other)]
    Other,
}

impl fmt::Display for LeftOutCause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoFile => "is a pipe, a socket or a device",
            Self::TooLarge => "is too large",
            Self::Other => "a newer version has left out",
        })
    }
}

/// A working copy is being put back, or was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRestored {
    /// The checkpoint's name.
    pub name: String,
    /// The repository's folder.
    pub repository: String,
    /// The commit.
    pub commit: String,
    /// The tree that the working copy must have afterwards.
    pub tree: String,
    /// True if it is done and was compared; false for the intent.
    pub done: bool,
    /// The checkpoint of what was there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The reason that it was given up, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<String>,
    /// The rewind that takes effect as soon as the files are restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Rewound>,
}

impl Kind for Paused {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        with_reason("paused", self.reason.as_ref())
    }

    fn is_decision(&self, by: Role) -> bool {
        by >= Role::Person
    }
}

impl Kind for Continued {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        with_reason("goes on", self.reason.as_ref())
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Cancelled {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        with_reason("cancelled", self.reason.as_ref())
    }

    fn is_decision(&self, by: Role) -> bool {
        // The system cancels runs that nobody waits for any more.
        by == Role::Person
    }
}

impl Kind for Closed {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        let outcome = if self.success { "completed" } else { "failed" };
        with_reason(format!("closed as {outcome}"), self.reason.as_ref())
    }

    fn is_decision(&self, by: Role) -> bool {
        by >= Role::Person
    }
}

impl Kind for Forced {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        with_reason(format!("forced to `{}`", self.to), self.reason.as_ref())
    }

    fn is_decision(&self, by: Role) -> bool {
        by >= Role::Person
    }
}

impl Kind for Rewound {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let what = match self.scope {
            Scope::State => "",
            Scope::Workspace => " with the files only",
            Scope::Both => " with the files",
        };
        let crossed = if self.crossed.is_empty() {
            String::new()
        } else {
            format!(", leaving {} behind", list(&self.crossed))
        };
        let text = format!("back to record {}{what}{crossed}", self.to);
        with_reason(text, self.reason.as_ref())
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Migrated {
    const BLOBS: &[&str] = &["from", "to", "invokes"];

    fn summary(&self) -> String {
        let workflow = self.workflow.as_ref();
        let workflow = workflow.map_or_else(String::new, |id| format!(" as `{id}`"));
        let renamed = self.mapping.iter();
        let renamed = renamed.map(|(old, new)| format!(", `{old}` as `{new}`"));
        let renamed: String = renamed.collect();
        format!("goes on{workflow} under table {}{renamed}", self.to)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for Imported {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        match &self.store {
            Some(store) => format!("imported from the store {store}"),
            None => "imported from another store".to_owned(),
        }
    }

    fn is_decision(&self, by: Role) -> bool {
        by >= Role::Person
    }
}

impl Kind for ClockSetBack {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        let by = Duration::from_secs(self.by / 1000);
        let by = humantime::format_duration(by);
        format!(
            "the clock was set back by {by}; what it had armed since record {} is due that much earlier",
            self.after
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for CheckpointTaken {
    const BLOBS: &[&str] = &[];

    fn summary(&self) -> String {
        format!("checkpoint `{}` of {}", self.name, self.repository)
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}

impl Kind for CheckpointRestored {
    const BLOBS: &[&str] = &[];
    const CAUSES: bool = true;

    fn summary(&self) -> String {
        if self.done {
            format!("checkpoint `{}` restored", self.name)
        } else {
            format!("about to restore checkpoint `{}`", self.name)
        }
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}
