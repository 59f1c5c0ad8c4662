//! Checks that were run.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::actor::Role;
use crate::check::CheckResult;
use crate::hash::Hash;
use crate::phrase::list;

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

impl Kind for Check {
    const CAUSES: bool = false;

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
