//! Checks: programs that a project declares, such as its tests, and the results of running them.
//!
//! A check is a program and its arguments, never a line for a shell. It is declared in a workflow (`checks` of its
//! definition) or in a project's configuration. [`run`] runs it in its own process group, without input, until its timeout.
//! Of its output the head and the tail are kept.
//!
//! Deliberately not here: records of checks, and transitions that require a check (`runs/check.rs`, `runs/required.rs`).

mod output;
mod run;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use run::run;

use crate::hash::Hash;
use crate::workflow::Workflow;

/// The timeout of a check that declares none.
///
/// Why: most test suites are done by then, and one that hangs is noticed.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The longest timeout. Why: nobody waits longer.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);

/// A declared check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that it runs in, relative to the project's root; the root if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Additional environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Its timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
}

/// The timeout of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Timeout {
    /// A number of seconds.
    Seconds(f64),
    /// A duration with its unit: `90s`, `10m`.
    Text(String),
}

/// The reasons why a declared check can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The declaration doesn't have the right shape.
    #[error("{cause}")]
    Malformed {
        /// The defect.
        cause: String,
    },
    /// The timeout is no duration, or a longer one than [`MAX_TIMEOUT`].
    #[error(
        "its `timeout` is `{timeout}`: give seconds, or a length such as `90s` or `10m`, up to a day"
    )]
    BadTimeout {
        /// The declared timeout.
        timeout: String,
    },
    /// The command is empty.
    #[error("its `command` names no program")]
    NoProgram,
}

impl Declaration {
    /// Reads the check that a definition declares.
    ///
    /// # Errors
    ///
    /// The declaration is malformed.
    pub fn parse(value: &Value) -> Result<Self, CheckError> {
        let declared = Self::deserialize(value);
        let declared = declared.map_err(|error| CheckError::Malformed {
            cause: error.to_string(),
        })?;
        declared.program()?;
        declared.time_limit()?;
        Ok(declared)
    }

    /// Returns the checksum that identifies the declaration.
    #[must_use]
    pub fn hash(&self) -> Hash {
        // INVARIANT: a declaration is plain data.
        Hash::digest(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// Returns its timeout, or the default.
    ///
    /// # Errors
    ///
    /// Its `timeout` is no duration, or a longer one than [`MAX_TIMEOUT`].
    pub fn time_limit(&self) -> Result<Duration, CheckError> {
        let (text, time) = match &self.timeout {
            None => return Ok(DEFAULT_TIMEOUT),
            Some(Timeout::Seconds(seconds)) => (
                seconds.to_string(),
                Duration::try_from_secs_f64(*seconds).ok(),
            ),
            Some(Timeout::Text(text)) => (text.clone(), humantime::parse_duration(text).ok()),
        };
        let fits = |time: &Duration| !time.is_zero() && *time <= MAX_TIMEOUT;
        time.filter(fits)
            .ok_or(CheckError::BadTimeout { timeout: text })
    }

    /// Returns the program and its arguments.
    ///
    /// # Errors
    ///
    /// Its `command` is empty.
    pub fn program(&self) -> Result<(&str, &[String]), CheckError> {
        match self.command.split_first() {
            Some((program, arguments)) if !program.is_empty() => Ok((program, arguments)),
            _ => Err(CheckError::NoProgram),
        }
    }
}

impl Workflow {
    /// Returns a check that the definition declares, by its name.
    #[must_use]
    pub fn check(&self, name: &str) -> Option<Result<Declaration, CheckError>> {
        let declared = self.meta().get("checks")?.get(name)?;
        Some(Declaration::parse(declared))
    }

    /// Returns the names of the checks that the definition declares, sorted.
    #[must_use]
    pub fn checks(&self) -> Vec<String> {
        let declared = self.meta().get("checks").and_then(Value::as_object);
        let mut names: Vec<String> = declared
            .into_iter()
            .flat_map(|it| it.keys().cloned())
            .collect();
        names.sort();
        names
    }
}

/// The result of running a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The program exited with code 0.
    pub passed: bool,
    /// Its exit code; none if it didn't exit on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The caller cancelled it before it exited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// The reason for which it has no exit code: it couldn't be started, timed out, or was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The absolute path of the folder that it ran in.
    ///
    /// So a pass elsewhere isn't mistaken for this project's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Its running time. Unit: milliseconds.
    pub milliseconds: u64,
    /// Head and tail of its standard output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// Head and tail of its standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The length of the omitted output of both. Unit: bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl CheckResult {
    /// Describes the result as a predicate of the check: `passed`, `failed with exit code 1`.
    #[must_use]
    pub fn outcome(&self) -> String {
        match (&self.problem, self.exit_code) {
            _ if self.cancelled => "was cancelled".to_owned(),
            (Some(problem), _) => format!("didn't pass: {problem}"),
            (None, Some(code)) if !self.passed => format!("failed with exit code {code}"),
            (None, None) if !self.passed => "didn't pass".to_owned(),
            (None, _) => "passed".to_owned(),
        }
    }
}
