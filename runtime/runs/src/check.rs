//! Checks: programs that a project declares, such as its tests, and the results of running them.
//!
//! A check is a program and its arguments, never a line for a shell. It is declared in a workflow (`checks` of its
//! definition) or in a project's configuration. [`run`] runs it without input, until its timeout, and it ends with
//! everything that it has begun (`launch.rs`). Of its output the head and the tail are kept.
//!
//! Deliberately not here: records of checks, and transitions that require a check (`runs/check.rs`, `runs/required.rs`).

#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod launch;
mod missing;
mod output;
mod program;
mod run;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fmt, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(target_os = "linux")]
pub use launch::{Launcher, launch};
pub use program::Program;
pub(crate) use run::absolute;
pub use run::{Running, RunningEnd, environment, run, run_without};

use self::missing::Missing;
#[cfg(target_os = "linux")]
use self::missing::make_private_folder;
use crate::git::{WORKTREES, find_working_copy, find_worktree};
use crate::hash::Hash;
use crate::workflow::Workflow;

/// The timeout of a check that declares none.
///
/// Why: most test suites are done by then, and one that hangs is noticed.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The longest timeout. Why: nobody waits longer.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3_600);

/// The beginning of the names of our own variables, such as a caller's token, which no check gets.
const OWN_VARIABLES: &str = "STATEMARK_";

/// The files and folders of ours in a project, which no check changes.
const OWN: [&str; 3] = [FOLDER, FILES[0], FILES[1]];

/// The folder of ours in a project, which has its store.
const FOLDER: &str = ".statemark";

/// The files of ours in a project: its configuration, and what was seen of other servers.
const FILES: [&str; 2] = ["statemark.toml", "statemark.lock"];

/// The place where a project's checks run, and what starts them there.
#[derive(Clone, Debug, Default)]
pub struct CheckPlace {
    /// The project's root.
    pub root: PathBuf,
    /// The program that starts them and ends what they leave; without one they are started as they are.
    #[cfg(target_os = "linux")]
    pub launcher: Option<Launcher>,
    /// Folders outside of the project that a person allows them to use.
    pub allowed: Vec<PathBuf>,
    /// Files of a person's that they don't read, such as a token: what decides in the person's name.
    ///
    /// That holds where the system has namespaces for it.
    pub hidden: Vec<PathBuf>,
    /// True for programs that reach what the person who runs them does, such as an agent's client.
    pub is_open: bool,
}

impl CheckPlace {
    /// Makes a place without a launcher.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            ..Self::default()
        }
    }

    /// Makes a place where this program launches checks.
    ///
    /// On Linux the program calls `launch` before anything else.
    #[must_use]
    pub fn launched(root: impl Into<PathBuf>, allowed: Vec<PathBuf>) -> Self {
        Self {
            #[cfg(target_os = "linux")]
            launcher: Some(Launcher::this_program()),
            allowed,
            ..Self::new(root)
        }
    }

    /// Returns the same place for programs that a person runs as themselves.
    ///
    /// They end with what they have begun, as checks do, and are kept from nothing.
    #[must_use]
    pub fn open(&self) -> Self {
        Self {
            is_open: true,
            ..self.clone()
        }
    }

    /// Returns the same place with another root.
    #[must_use]
    pub fn at(&self, root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            ..self.clone()
        }
    }

    /// Returns the whole project: the run's worktree, or the working copy, that the root is in.
    fn project(&self) -> PathBuf {
        let root = self
            .root
            .canonicalize()
            .unwrap_or_else(|_| self.root.clone());
        let found = find_worktree(&root).or_else(|| find_working_copy(&root));
        found.map_or_else(|| root.clone(), Path::to_path_buf)
    }

    /// Returns the folders that a check may write below, and those in them that it may not.
    #[cfg(target_os = "linux")]
    fn reach(&self) -> confine::Reach {
        if self.is_open {
            return confine::Reach {
                writable: vec![PathBuf::from("/")],
                closed: Vec::new(),
            };
        }
        let folders = std::iter::once(self.project()).chain(self.allowed.iter().cloned());
        confine::Reach {
            writable: folders.collect(),
            closed: self.closed(),
        }
    }

    /// Lists what is ours in the project and in the folders that a person allows, and what is hidden.
    ///
    /// That is as far as it is there.
    fn closed(&self) -> Vec<PathBuf> {
        let (root, project) = (self.root.canonicalize(), self.project());
        let root = root.as_deref().unwrap_or(&self.root);
        let parents = root.ancestors().take_while(|it| it.starts_with(&project));
        let folders = parents.chain(self.allowed.iter().map(PathBuf::as_path));
        let places = folders.flat_map(|folder| OWN.map(|name| folder.join(name)));
        // What runs have in worktrees is theirs alone; who works in one of them has no other in reach.
        let places = places.chain([project.join(WORKTREES)]);
        let places = places.chain(self.hidden.iter().cloned());
        let mut closed: Vec<PathBuf> = places.filter_map(|it| it.canonicalize().ok()).collect();
        closed.sort();
        closed.dedup();
        closed
    }

    /// Returns a command for a program that ends with this one, however this one ends.
    ///
    /// It uses this one's standard streams.
    ///
    /// Without a launcher it is the program itself, which may stay.
    ///
    /// # Errors
    ///
    /// There is no such program, seen from the folder that it runs in, in the folders of its search path.
    pub fn attended<W: AsRef<OsStr>>(
        &self,
        program: &str,
        arguments: impl IntoIterator<Item = W>,
        (folder, path): (&Path, Option<&OsStr>),
    ) -> io::Result<Command> {
        #[cfg(target_os = "linux")]
        if let Some(launcher) = &self.launcher {
            let file = program::find_file(program, folder, path);
            let file = file.ok_or_else(|| io::Error::from(rustix::io::Errno::NOENT))?;
            file.metadata()?;
            return Ok(launcher.attended(program, arguments));
        }
        let _ = (folder, path);
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }

    /// Returns what keeps files of ours from being made by a check.
    ///
    /// Neither grants nor mounts can name a file that isn't there.
    fn missing(&self) -> Missing {
        let (root, project) = (self.root.canonicalize(), self.project());
        let root = root.as_deref().unwrap_or(&self.root);
        // It is closed to the check once it is there.
        #[cfg(target_os = "linux")]
        if self.launcher.is_some() {
            make_private_folder(&root.join(FOLDER));
        }
        let folders = root.ancestors().take_while(|it| it.starts_with(&project));
        Missing::among(folders.flat_map(|folder| FILES.map(|name| folder.join(name))))
    }

    /// Returns the folder that a check runs in, which need not exist.
    ///
    /// # Errors
    ///
    /// It is outside of the project, by links or without, and nobody allows it.
    fn folder(&self, declared: &Declaration) -> Result<PathBuf, CheckError> {
        let Some(cwd) = &declared.cwd else {
            return Ok(self.root.clone());
        };
        let folder = self.root.join(cwd);
        let is_in =
            |real: &Path, other: &Path| other.canonicalize().is_ok_and(|it| real.starts_with(it));
        match folder.canonicalize() {
            Ok(real)
                if !is_in(&real, &self.project())
                    && !self.allowed.iter().any(|it| is_in(&real, it)) =>
            {
                Err(CheckError::Outside { cwd: cwd.clone() })
            }
            // One that isn't there is told by whoever runs it.
            _ => Ok(folder),
        }
    }
}

/// A declared check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The secret variables of the environment that it gets, by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherit: Vec<String>,
    /// Its timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
}

/// The timeout of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Timeout {
    /// A number of seconds.
    Seconds(f64),
    /// A duration with its unit: `90s`, `10m`.
    Text(String),
}

impl Timeout {
    /// Returns the time; `None` if it is no duration, or a longer one than [`MAX_TIMEOUT`].
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        let time = match self {
            Self::Seconds(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            Self::Text(text) => humantime::parse_duration(text).ok(),
        };
        time.filter(|time| !time.is_zero() && *time <= MAX_TIMEOUT)
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds) => write!(out, "{seconds}"),
            Self::Text(text) => out.write_str(text),
        }
    }
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
    /// The folder to run in leads out of the project.
    #[error(
        "its `cwd` is `{cwd}`, which leads out of the project; a person allows that with a line for the folder in `~/.config/statemark/places`"
    )]
    Outside {
        /// The declared folder.
        cwd: String,
    },
    /// A variable to inherit is one that no check gets.
    #[error("its `inherit` has `{name}`, which no check gets")]
    Inherited {
        /// The variable.
        name: String,
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
        declared.check_inherited()?;
        Ok(declared)
    }

    /// Fails if it asks for a variable that no check gets.
    fn check_inherited(&self) -> Result<(), CheckError> {
        let mut names = self.inherit.iter();
        match names.find(|name| name.starts_with(OWN_VARIABLES)) {
            Some(name) => Err(CheckError::Inherited { name: name.clone() }),
            None => Ok(()),
        }
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
        let Some(timeout) = &self.timeout else {
            return Ok(DEFAULT_TIMEOUT);
        };
        timeout.duration().ok_or_else(|| CheckError::BadTimeout {
            timeout: timeout.to_string(),
        })
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

/// The way in which a project's store is kept from its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// A read-only mount, or there is no store.
    #[cfg(target_os = "linux")]
    Mounted,
    /// Grants for each entry of the project.
    #[cfg(target_os = "linux")]
    Granted,
    /// Nothing keeps it.
    Open,
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
    /// The absolute path of the root of the project that it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The program that it ran, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// A remark about the way in which it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
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
    /// Both outputs from their beginning on, if any of it was omitted; never a part of a record.
    #[serde(skip)]
    pub long: Option<LongOutput>,
}

/// The outputs of a program that wrote more than a result has.
///
/// Each is there from its beginning up to a bound of 4 MiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LongOutput {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
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
