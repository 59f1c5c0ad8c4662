//! Checks that were run.

use serde::{Deserialize, Serialize};

use crate::check::CheckResult;
use crate::hash::Hash;

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
    /// What came of it.
    #[serde(flatten)]
    pub ran: CheckResult,
}
