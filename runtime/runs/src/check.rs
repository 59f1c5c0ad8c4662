//! Checks: programs that a project declares, such as its tests, and what came of one that was run.
//!
//! A check is a list of a program and its arguments, never a line for a shell. It is declared in a workflow (`checks` of
//! its definition) or in a project's configuration, and [`run`] runs it in a process group of its own, without input, as
//! long as it may take. What it prints is kept up to a limit, beginning and end.
//!
//! Deliberately not here: what a journal says of it, and what may be left only after it has passed (`runs/check.rs`,
//! `runs/required.rs`).

mod kept;
mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use run::run;

use crate::hash::Hash;
use crate::workflow::Workflow;

/// How long a check may take that doesn't say. Why: most test suites are done by then, and one that hangs is noticed.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The longest that a check may take. Why: whoever waits longer has forgotten it.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);

/// A check as it is declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that it runs in, seen from the project's root; else the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables that it gets besides those that there are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
}

/// How long a check may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Timeout {
    /// Unit: seconds.
    Seconds(f64),
    /// A length of time in words: `90s`, `10m`.
    Text(String),
}

/// A check that can't be used as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    what: String,
}

impl fmt::Display for CheckError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)
    }
}

impl std::error::Error for CheckError {}

impl Declared {
    /// The check that a definition declares.
    ///
    /// # Errors
    ///
    /// The declaration can't be understood.
    pub fn read(value: &Value) -> Result<Self, CheckError> {
        let declared = Self::deserialize(value);
        let declared = declared.map_err(|error| CheckError {
            what: error.to_string(),
        })?;
        declared.program()?;
        declared.time()?;
        Ok(declared)
    }

    /// What tells this declaration from others.
    #[must_use]
    pub fn hash(&self) -> Hash {
        // INVARIANT: a declaration is plain data.
        Hash::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// How long it may take.
    ///
    /// # Errors
    ///
    /// Its `timeout` is no length of time, or not one up to [`MAX_TIMEOUT`].
    pub fn time(&self) -> Result<Duration, CheckError> {
        let (text, time) = match &self.timeout {
            None => return Ok(DEFAULT_TIMEOUT),
            Some(Timeout::Seconds(seconds)) => (
                seconds.to_string(),
                Duration::try_from_secs_f64(*seconds).ok(),
            ),
            Some(Timeout::Text(text)) => (text.clone(), humantime::parse_duration(text).ok()),
        };
        let fits = |time: &Duration| !time.is_zero() && *time <= MAX_TIMEOUT;
        time.filter(fits).ok_or_else(|| CheckError {
            what: format!(
                "its `timeout` is `{text}`: give seconds, or a length such as `90s` or `10m`, up to a day"
            ),
        })
    }

    /// The program, and its arguments.
    ///
    /// # Errors
    ///
    /// Its `command` is empty.
    pub fn program(&self) -> Result<(&str, &[String]), CheckError> {
        match self.command.split_first() {
            Some((program, arguments)) if !program.is_empty() => Ok((program, arguments)),
            _ => Err(CheckError {
                what: "its `command` names no program".to_owned(),
            }),
        }
    }
}

impl Workflow {
    /// The check of a name that the definition declares, if it does.
    #[must_use]
    pub fn check(&self, name: &str) -> Option<Result<Declared, CheckError>> {
        let declared = self.meta().get("checks")?.get(name)?;
        Some(Declared::read(declared))
    }

    /// The names of the checks that the definition declares, sorted.
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

/// What came of a check that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// Whether it has ended by itself, with code 0.
    pub passed: bool,
    /// What it has ended with; none if it didn't end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether whoever had it run gave it up before it ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// Why it has no code: it couldn't be begun, took too long, or was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The folder that it ran in, as its machine calls it: so that nobody takes what passed elsewhere for this project's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// How long it took. Unit: milliseconds.
    pub milliseconds: u64,
    /// What it has printed, beginning and end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// What it has complained of, beginning and end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// How much of both was left out. Unit: bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Ran {
    /// What came of it, in words that stand behind its name: `passed`, `failed with exit code 1`.
    #[must_use]
    pub fn told(&self) -> String {
        match (&self.problem, self.exit_code) {
            _ if self.cancelled => "was cancelled".to_owned(),
            (Some(problem), _) => format!("didn't pass: {problem}"),
            (None, Some(code)) if !self.passed => format!("failed with exit code {code}"),
            (None, None) if !self.passed => "didn't pass".to_owned(),
            (None, _) => "passed".to_owned(),
        }
    }
}
