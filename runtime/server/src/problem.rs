//! Why a call wasn't answered as asked, and the one shape of all answers.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};
use statemark_runs::body::Refused;
use statemark_runs::{CannotStep, RunError, StoreError};

/// The code of a reach for a run that isn't the caller's.
pub(crate) const OTHER_RUN: &str = "other_run";

/// Why a call wasn't answered as asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// For programs: `unknown_run`, `not_taken`, …
    pub code: String,
    /// For people and models: what, where, and what to do.
    pub message: String,
    /// More of it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The call that would mend it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<Fix>>,
}

/// A call that would mend a problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fix {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

impl Problem {
    /// A problem without details.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            details: Value::Null,
            fix: None,
        }
    }

    /// A wrong argument: which, and what is wrong with it.
    #[must_use]
    pub fn argument(path: &str, what: impl fmt::Display) -> Self {
        let place = match path {
            "" => "the arguments".to_owned(),
            path => format!("`{path}`"),
        };
        Self::new("invalid_arguments", format!("{place}: {what}")).with(json!({"path": path}))
    }

    /// The same with details.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// The same with the call that mends it.
    #[must_use]
    pub fn mended_by(mut self, tool: &'static str, arguments: Value) -> Self {
        self.fix = Some(Box::new(Fix { tool, arguments }));
        self
    }

    /// What a run has refused.
    #[must_use]
    pub fn refused(refused: &Refused) -> Self {
        Self::new(refused.code.clone(), refused.reason.clone())
            .with(json!({"legal": refused.legal}))
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        let message = error.to_string();
        match error {
            RunError::Store(error) => error.into(),
            RunError::UnknownWorkflow { known, .. } => Self::new("unknown_workflow", message)
                .with(json!({"known": known}))
                .mended_by("list_workflows", json!({})),
            RunError::ReadOnly { .. } => Self::new("read_only", message),
            RunError::Invalid { .. } => Self::new("invalid_request", message),
            RunError::Crowded { .. } => Self::new("busy", message),
            RunError::Step(CannotStep::Data(_)) => Self::new("bad_data", message),
            RunError::Step(_) => Self::new("step_failed", message),
            RunError::Table(_) => Self::new("bad_table", message),
            RunError::Git(_) => Self::new("git_failed", message),
            _ => Self::new("failed", message),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::NotFound { what } if what.starts_with("run ") => {
                Self::new("unknown_run", message).mended_by("list_runs", json!({}))
            }
            StoreError::NotFound { .. } => Self::new("not_found", message),
            StoreError::Conflict { actual } => Self::new(
                "conflict",
                format!("the run has gone on: it ends with record {actual} now. Look at it again, then decide"),
            )
            .with(json!({"seq": actual})),
            StoreError::TooLarge { .. } => Self::new("too_large", message),
            StoreError::KeyReused { .. } => Self::new("key_reused", message),
            StoreError::Fenced { .. } => Self::new("fenced", message),
            StoreError::Busy { .. } => Self::new("busy", message),
            StoreError::Asleep => Self::new(
                "asleep",
                format!("{message}; `statemark store wake` makes it the store that acts"),
            ),
            StoreError::Corrupt { .. } => Self::new("corrupt", message),
            _ => Self::new("store_failed", message),
        }
    }
}

/// The one shape of all answers.
#[must_use]
pub(crate) fn envelope(answer: Result<Value, Problem>) -> (Value, bool) {
    match answer {
        Ok(data) => (json!({"ok": true, "data": data}), false),
        Err(problem) => (json!({"ok": false, "error": problem}), true),
    }
}
