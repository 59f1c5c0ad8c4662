//! Failures of commands, and exit codes.

use std::process::ExitCode;
use std::{fmt, io};

use serde::Serialize;
use statemark_runs::{RunError, StoreError};
use statemark_text::suggest::nearest;

use crate::environment::Variable;

/// The code of a failure that no program needs to tell from others.
const FAILED: &str = "failed";

/// The code of an argument or a variable that can't have its value.
const INVALID_ARGUMENTS: &str = "invalid_arguments";

/// The code of a run that isn't there.
pub(crate) const UNKNOWN_RUN: &str = "unknown_run";

/// The code of a workflow that isn't there.
pub(crate) const UNKNOWN_WORKFLOW: &str = "unknown_workflow";

/// The code of a token that gives no right.
pub(crate) const UNAUTHORIZED: &str = "unauthorized";

/// The outcome of a command.
pub(crate) type CommandResult = Result<ExitStatus, Failure>;

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// The command did its work and found nothing.
    Clean,
    /// The command found something, or was refused.
    Findings,
    /// The command couldn't do its work: usage, configuration, files, or a defect of ours.
    Failed,
}

impl ExitStatus {
    /// Returns [`ExitStatus::Clean`] if everything is as it should be, else [`ExitStatus::Findings`].
    pub(crate) const fn clean_if(is_clean: bool) -> Self {
        if is_clean {
            Self::Clean
        } else {
            Self::Findings
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Clean => Self::SUCCESS,
            ExitStatus::Findings => Self::from(1),
            ExitStatus::Failed => Self::from(2),
        }
    }
}

/// A reason why a command couldn't do its work: a code and a message, perhaps help, and the exit code.
///
/// Its constructors are beside what fails.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    #[serde(skip)]
    exit: ExitStatus,
}

impl Failure {
    /// Makes a failure with a message in lowercase and without a full stop.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            code: FAILED,
            message: message.into(),
            help: None,
            exit: ExitStatus::Failed,
        }
    }

    /// Gives it the code by which programs know it, as servers answer with for the same.
    pub(crate) const fn with_code(mut self, code: &'static str) -> Self {
        self.code = code;
        self
    }

    /// Names the file that it is about.
    pub(crate) fn within(mut self, file: &str) -> Self {
        self.message = format!("`{file}`: {}", self.message);
        self
    }

    /// Adds what to do about it.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Makes a failure about an unknown name, with the nearest known name, or all of them, as help.
    pub(crate) fn unknown_name(message: String, name: &str, known: &[String]) -> Self {
        let failure = Self::new(message);
        match (nearest(name, known.iter().map(String::as_str)), known) {
            (Some(meant), _) => failure.with_help(format!("did you mean `{meant}`?")),
            (None, []) => failure,
            (None, [only]) => failure.with_help(format!("the only one is `{only}`")),
            (None, _) => failure.with_help(format!("there are {}", known.join(", "))),
        }
    }

    /// Makes a failure about an argument whose value isn't one of those allowed.
    pub(crate) fn bad_value(name: &str, value: &str, allowed: &str) -> Self {
        let failure = Self::new(format!("{name} can't be `{value}`"));
        failure
            .with_code(INVALID_ARGUMENTS)
            .with_help(format!("it may be {allowed}"))
    }

    /// Makes a failure about a variable of the environment.
    pub(crate) fn bad_variable(variable: &Variable, value: &str, allowed: &str) -> Self {
        Self::new(format!(
            "the environment variable {} can't be `{value}`",
            variable.name
        ))
        .with_code(INVALID_ARGUMENTS)
        .with_help(format!("it may be {allowed}"))
    }

    /// Returns the code by which programs know it.
    pub(crate) const fn code(&self) -> &'static str {
        self.code
    }

    /// Returns what to do about it, if that is known.
    pub(crate) fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Returns the exit code.
    pub(crate) const fn exit(&self) -> ExitStatus {
        self.exit
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(error.to_string()).with_code(error.code());
        match error {
            StoreError::Asleep => {
                failure.with_help("`statemark store wake` makes it the store that acts")
            }
            StoreError::Lost { .. } => failure.with_help(
                "put back what is missing: the file that ends with `-wal`, or a backup; \
                 `statemark store verify` says what is left, and `statemark store wake` takes it as it is",
            ),
            _ => failure,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let failure = Self::new(error.to_string()).with_code(error.code());
        match error {
            RunError::Store(error) => error.into(),
            RunError::NotAPerson { .. } => failure.with_help(
                "use a person's token: STATEMARK_TOKEN, or at a terminal the one that `token create --save` has kept",
            ),
            _ => failure,
        }
    }
}

/// Returns the system's message of an error, without its number.
pub(crate) fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    let message = text.split(" (os error").next().unwrap_or(&text);
    message.to_lowercase()
}
