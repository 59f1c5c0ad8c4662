//! Revisions of artifacts.

use serde::{Deserialize, Serialize};

use crate::hash::Hash;

/// A revision of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name, unique in the run.
    pub name: String,
    /// 1, 2, 3 …
    pub revision: u64,
    /// What it is for now.
    pub stage: Stage,
    /// The hash of its content in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Hash>,
    /// How large it is. Unit: bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// Where it lies, if it isn't in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What the path is relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_root: Option<String>,
    /// What it is, in the words of who registered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether it is a diagram of a subflow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subflow: bool,
    /// What feature of a project it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// The state that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The unit of work that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What its contract says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// What a revision is for.
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

/// What a contract says of a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether it holds.
    pub holds: bool,
    /// What is wrong, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// Something wrong in an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The line, from 1; none if it is about the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong, and how to mend it.
    pub message: String,
}
