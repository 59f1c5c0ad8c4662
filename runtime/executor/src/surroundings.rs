//! The surroundings of an executor: how a program that it starts reaches the run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use statemark_runs::RunId;
use statemark_runs::check::CheckPlace;
use statemark_tools::OfAttempt;

/// The variable by which programs of ours know which attempt they work for.
pub const ATTEMPT: &str = "STATEMARK_ATTEMPT";

/// The variables by which programs of ours find the run and the attempt.
///
/// One without a value isn't set.
pub const VARIABLES: [&str; 5] = [
    "STATEMARK_RUN",
    ATTEMPT,
    "STATEMARK",
    "STATEMARK_STORE",
    "STATEMARK_NOW",
];

/// A function that returns the value of a variable of the environment, if it has one.
pub type Variable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The surroundings of an executor.
#[derive(Clone)]
pub struct Surroundings {
    /// The project's root, and what starts programs there.
    pub place: CheckPlace,
    /// The path of this program.
    pub program: String,
    /// The settings with which Claude Code calls our hook.
    pub claude_settings: Value,
    /// The file of the plugin by which OpenCode calls our hook, if the configuration has OpenCode.
    pub opencode_plugin: Option<PathBuf>,
    /// The settings by which Gemini CLI has our hook and our server, if the configuration has it.
    pub gemini_settings: Option<PathBuf>,
    /// The address of the store; none if it would hand over a password, which no program gets.
    pub store: Option<String>,
    /// Returns the value of a variable of the environment that the configuration names.
    pub variable: Variable,
}

impl Surroundings {
    /// Returns the [`VARIABLES`] of an attempt with their values.
    pub(crate) fn variables(&self, attempt: &OfAttempt) -> Vec<(OsString, OsString)> {
        // A store that was made under another clock is used under it alone.
        let now = (self.variable)("STATEMARK_NOW");
        let now = now.map(|now| ("STATEMARK_NOW".into(), now.into()));
        let mut variables: Vec<(OsString, OsString)> = vec![
            ("STATEMARK_RUN".into(), attempt.run.as_str().into()),
            (ATTEMPT.into(), attempt_text(attempt).into()),
            // So that a program can send an event without knowing where we are.
            ("STATEMARK".into(), self.program.clone().into()),
        ];
        let store = self.store.clone();
        variables.extend(store.map(|store| ("STATEMARK_STORE".into(), store.into())));
        variables.extend(now);
        variables
    }
}

/// Writes an attempt as the value of [`ATTEMPT`].
fn attempt_text(attempt: &OfAttempt) -> String {
    format!("{}:{}:{}", attempt.number, attempt.fence.0, attempt.run)
}

/// Reads the value of [`ATTEMPT`].
#[must_use]
pub fn parse_attempt(text: &str) -> Option<OfAttempt> {
    let mut parts = text.splitn(3, ':');
    let (number, fence) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let run: RunId = parts.next()?.parse().ok()?;
    Some(OfAttempt {
        run,
        number,
        fence: statemark_runs::Fence(fence),
    })
}
