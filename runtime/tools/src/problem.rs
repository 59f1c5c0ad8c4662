//! Problems: errors that a caller receives, with a code, a message and the call that mends them.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};
use statemark_runs::body::Refused;
use statemark_runs::{RunError, StoreError};

use crate::Ctx;

/// The code of a call on a run that isn't the caller's.
pub(crate) const OTHER_RUN: &str = "other_run";

/// The code of a refusal to touch what belongs to another project.
pub(crate) const OTHER_PROJECT: &str = "other_project";

/// The outcome of a call.
pub type Outcome = Result<Value, Problem>;

/// The reason that a call wasn't answered as asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// The code for programs, such as `unknown_run`.
    pub code: String,
    /// The message, for people and models: what, where, and how to mend it.
    pub message: String,
    /// Further facts; null if there are none.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// The call that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<Fix>>,
}

/// A call that mends a problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fix {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

impl Problem {
    /// Creates a problem without details.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            details: Value::Null,
            fix: None,
        }
    }

    /// Creates the problem of an invalid argument: its path, and what is wrong with it.
    #[must_use]
    pub fn argument(path: &str, what: impl fmt::Display) -> Self {
        let subject = match path {
            "" => "the arguments".to_owned(),
            path => format!("`{path}`"),
        };
        Self::new("invalid_arguments", format!("{subject}: {what}")).with(json!({"path": path}))
    }

    /// Adds details.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// Adds the call that mends it.
    #[must_use]
    pub fn mended_by(mut self, tool: &'static str, arguments: Value) -> Self {
        self.fix = Some(Box::new(Fix { tool, arguments }));
        self
    }

    /// Leaves out the call that mends it if the caller can't make it.
    #[must_use]
    pub fn callable_by(mut self, ctx: &Ctx<'_>) -> Self {
        self.fix = self.fix.filter(|fix| ctx.can_call(fix.tool));
        self
    }

    /// Creates the problem of an order that a run has refused.
    #[must_use]
    pub fn refused(refused: &Refused) -> Self {
        Self::new(refused.code.clone(), refused.reason.clone())
            .with(json!({"legal": refused.legal}))
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        let problem = Self::new(error.code(), error.to_string());
        match error {
            RunError::Store(error) => error.into(),
            RunError::UnknownWorkflow { known, .. } => problem
                .with(json!({"known": known}))
                .mended_by("list_workflows", json!({})),
            RunError::AmbiguousWorkflow { specs, .. } => problem
                .with(json!({"specs": specs}))
                .mended_by("list_workflows", json!({})),
            _ => problem,
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let mut problem = Self::new(error.code(), error.to_string());
        match error {
            StoreError::NotFound { what } if what.starts_with("run ") => {
                problem.mended_by("list_runs", json!({}))
            }
            StoreError::Conflict { actual } => {
                problem.message = format!(
                    "the run has gone on: it ends with record {actual} now. Look at it again, then decide"
                );
                problem.with(json!({"seq": actual}))
            }
            StoreError::Asleep => {
                problem.message += "; `statemark store wake` makes it the store that acts";
                problem
            }
            _ => problem,
        }
    }
}
