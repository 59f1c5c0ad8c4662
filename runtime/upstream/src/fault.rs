//! Faults of other servers: why one can't be reached, or its list can't be used.

use crate::process::MAX_MESSAGE;

/// A fault of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No person has accepted it as it is declared.
    #[error("nobody has accepted it as it is declared: a person does with `{by}`")]
    NotAccepted {
        /// The command by which a person accepts it.
        by: String,
    },
    /// Its declaration can't be used.
    #[error("its declaration can't be used")]
    Undeclared,
    /// A variable that it needs isn't set.
    #[error("it needs the variable `{name}`, which isn't set")]
    Unset {
        /// The variable.
        name: String,
    },
    /// The folder to run in isn't there, or leads out of the project.
    #[error("its `cwd` is `{cwd}`, which is no folder of the project")]
    Outside {
        /// The declared folder.
        cwd: String,
    },
    /// The program can't be started.
    #[error("`{program}` can't be started: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// The system's reason.
        cause: String,
    },
    /// The end of the connection, or of its process.
    #[error("it has closed the connection{}", cite(said.as_deref()))]
    Closed {
        /// The last lines of its standard error.
        said: Option<String>,
    },
    /// A message of it was too long.
    #[error("it has sent a message of more than {MAX_MESSAGE} bytes, and was ended")]
    TooLong,
    /// No answer in time.
    #[error("it hasn't answered within {seconds} s{}", cite(said.as_deref()))]
    Silent {
        /// The time that it had. Unit: seconds.
        seconds: u64,
        /// The last lines of its standard error.
        said: Option<String>,
    },
    /// No version of the protocol in common, or another protocol.
    #[error("it doesn't speak the protocol: {cause}")]
    Protocol {
        /// The answer that came instead.
        cause: String,
    },
    /// Its list of tools can't be used.
    #[error("its list of tools can't be used: {cause}")]
    BadList {
        /// The defect.
        cause: String,
    },
    /// The pins of its tools can't be read or written.
    #[error("{cause}")]
    NoPins {
        /// The defect.
        cause: String,
    },
}

fn cite(said: Option<&str>) -> String {
    said.map_or_else(String::new, |said| format!("; it said: {said}"))
}
