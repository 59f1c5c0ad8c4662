//! What the shell is told.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// It did its work, and found nothing.
    Clean,
    /// It did its work, and found something; or it was refused.
    Findings,
    /// It couldn't do its work: usage, configuration, files, or a defect of ours.
    Failed,
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
