//! Revisions of artifacts.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::actor::Role;
use crate::hash::Hash;

/// A revision of an artifact.
///
/// A later record with the same name and revision takes its place: that is how a stage changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name, unique in the run.
    pub name: String,
    /// The number of the revision, from 1.
    pub revision: u64,
    /// Its stage from this record on.
    pub stage: Stage,
    /// The hash of its content in the store; none for a file that was registered by its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Hash>,
    /// The size of its content. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// The path of a file that isn't in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The folder that the path is relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_root: Option<String>,
    /// Its kind, in the words of the caller who registered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// True for a diagram of a [`Subflow`](super::Subflow), as its reporter says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subflow: bool,
    /// The feature of a project that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The state that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The unit of work that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The verdict of its contract; none if it has no contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The reason that it was discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Artifact {
    /// Reports whether it meets its contract.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdict.as_ref().is_none_or(|verdict| verdict.holds)
    }
}

/// The stage of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Being worked on.
    Draft,
    /// Handed in.
    Final,
    /// Thrown away.
    Discarded,
}

impl Stage {
    /// Returns its name in journals and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Final => "final",
            Self::Discarded => "discarded",
        }
    }
}

/// The verdict of a contract on a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// True if the revision meets the contract.
    pub holds: bool,
    /// The findings, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The number of findings that are left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Something wrong in an artifact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// The column in it, from 1. Unit: characters.
    pub column: u64,
    /// The defect.
    pub what: String,
    /// The way to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Kind for Artifact {
    const BLOBS: &[&str] = &["content"];

    fn summary(&self) -> String {
        let (name, revision) = (&self.name, self.revision);
        format!(
            "artifact `{name}`, revision {revision}, {}",
            self.stage.name()
        )
    }

    fn is_decision(&self, _: Role) -> bool {
        false
    }
}
