//! Why a command couldn't do its work.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::files::shown;
use statemark_compiler::Format;
use statemark_runs::check::CheckError;
use statemark_runs::maintenance::ImportError;
use statemark_runs::{NameError, RunError, StoreError, TokenError, shell_word};
use statemark_runtime::{DecodeError, VerifyError};

/// A command that couldn't do its work; the exit code is 2.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Box<FailureKind>,
}

/// What went wrong.
#[derive(Debug)]
pub(crate) enum FailureKind {
    /// A path on the command line leads nowhere.
    Missing { path: PathBuf },
    /// A file or folder can't be read.
    Unreadable { path: PathBuf, cause: io::Error },
    /// A file can't be written.
    Unwritable { path: PathBuf, cause: io::Error },
    /// A file that would be written is already there.
    Exists { path: PathBuf },
    /// A file that would be replaced.
    Overwrites { path: PathBuf },
    /// A file that would be replaced is a store that somebody uses.
    InUse { path: PathBuf },
    /// A file is larger than it may be.
    TooLarge {
        path: PathBuf,
        size: u64,
        most: usize,
    },
    /// A folder stands where a file is wanted.
    Folder { path: PathBuf },
    /// A spec has no machine.
    NoMachine { path: String },
    /// A spec has several machines, and none was chosen.
    SeveralMachines { path: String, ids: Vec<String> },
    /// A spec has no machine of that id.
    UnknownMachine {
        path: String,
        id: String,
        ids: Vec<String>,
        near: Option<String>,
    },
    /// No code is called so.
    UnknownCode {
        words: String,
        /// The names that may be meant, the likeliest first.
        near: Vec<String>,
    },
    /// A variable of the environment has a value that means nothing.
    BadVariable {
        name: &'static str,
        value: String,
        values: &'static str,
    },
    /// A name that a file, a skill or a crate can't have.
    BadName { name: String, why: &'static str },
    /// Two outputs would be one file.
    OutputClash {
        file: String,
        first: String,
        second: String,
    },
    /// A file isn't a table.
    NotATable { path: String, cause: DecodeError },
    /// A table isn't a machine.
    BadTable { path: String, cause: VerifyError },
    /// A machine that passed all checks makes no table: a defect of ours.
    OwnTable { id: String, cause: OwnTableCause },
    /// A line of a script can't be read.
    BadEventLine { line: usize, why: String },
    /// A script can't be read from where the prompt reads.
    NeedsTerminal,
    /// The store couldn't be opened or read.
    Store(StoreError),
    /// No store is where it should be.
    NoStore { path: PathBuf },
    /// Something that is done to files, of a store that isn't in one.
    NotInAFile {
        /// What it would have been, such as `copied`.
        done: &'static str,
    },
    /// Not all runs could be read.
    Import(Box<ImportError>),
    /// A file with several workflows, none of which is the run's.
    SeveralWorkflows { path: String, ids: Vec<String> },
    /// Something couldn't be done to a run.
    Run(RunError),
    /// No run is called so.
    UnknownRun {
        run: String,
        /// Those whose ids begin so.
        meant: Vec<String>,
        /// The one whose id is nearly so, where none begins so.
        near: Option<String>,
    },
    /// A run that would begin is there already.
    RunExists { run: String },
    /// No spec defines such a workflow.
    UnknownWorkflow {
        id: String,
        known: Vec<String>,
        near: Option<String>,
        /// The specs with errors.
        broken: Vec<String>,
    },
    /// JSON on the command line that isn't.
    BadJson {
        name: &'static str,
        cause: serde_json::Error,
    },
    /// A report without something that its type needs.
    MissingPart {
        name: &'static str,
        kind: &'static str,
    },
    /// A text on the command line that can't be an id.
    BadId {
        name: &'static str,
        cause: NameError,
    },
    /// The caller's token isn't one of the project's.
    UnknownToken,
    /// The caller's token is for another run.
    TokenOfOther { name: String, run: String },
    /// No token can be made so.
    Token(TokenError),
    /// No token has that name.
    NoToken { name: String, known: Vec<String> },
    /// The list of tokens can't be read.
    BadTokens {
        path: PathBuf,
        cause: serde_json::Error,
    },
    /// Others can read the caller's own token.
    OpenToken { path: PathBuf },
    /// A client's configuration can't be changed.
    BadClientConfig { path: PathBuf, why: String },
    /// Nobody says where a client has what is for all projects.
    NoUserServers,
    /// A server can't be started so.
    Server(statemark_server::StartError),
    /// A server can't listen, or its connection fails.
    Serving(io::Error),
    /// It can't be heard that somebody asks the process to end.
    Signals(io::Error),
    /// Only a person may do it.
    NotAPerson,
    /// The caller keeps a good token already.
    KeptToken { path: PathBuf },
    /// Nobody says where the caller's configuration is.
    NoHome,
    /// No run of a workflow is paused.
    NonePaused { workflow: String },
    /// No request is meant by a text.
    UnknownRequest {
        request: String,
        /// Those that may be meant.
        open: Vec<String>,
    },
    /// An answer that can't be one to the request.
    BadAnswer {
        request: String,
        why: String,
        help: String,
    },
    /// The project's configuration can't be read.
    BadConfig {
        path: PathBuf,
        cause: Box<toml::de::Error>,
    },
    /// Neither the workflow nor the project declares such a check.
    UnknownCheck {
        name: String,
        known: Vec<String>,
        near: Option<String>,
    },
    /// Several workflows declare different checks of that name.
    SeveralChecks {
        name: String,
        workflows: Vec<String>,
    },
    /// A check can't be run as it is declared.
    BadCheck { name: String, cause: CheckError },
    /// A length of time that can't be read.
    BadTime { text: String },
    /// A word that isn't one of those that can stand there.
    BadWord {
        name: &'static str,
        word: String,
        words: String,
    },
}

/// What was wrong with a table of our own making.
#[derive(Debug)]
pub(crate) enum OwnTableCause {
    /// It couldn't be read back.
    Decode(DecodeError),
    /// It was refused.
    Verify(VerifyError),
}

impl From<FailureKind> for Failure {
    fn from(kind: FailureKind) -> Self {
        Self {
            kind: Box::new(kind),
        }
    }
}

impl Failure {
    /// What went wrong.
    pub(crate) fn kind(&self) -> &FailureKind {
        &self.kind
    }

    /// The store's error, if it is one.
    pub(crate) fn of_store(&self) -> Option<&StoreError> {
        match &*self.kind {
            FailureKind::Store(error) | FailureKind::Run(RunError::Store(error)) => Some(error),
            _ => None,
        }
    }

    /// What to do about it, if there is something to say.
    pub(crate) fn help(&self) -> Option<String> {
        match &*self.kind {
            FailureKind::Store(StoreError::Asleep)
            | FailureKind::Run(RunError::Store(StoreError::Asleep)) => {
                Some("`statemark store wake` makes it the store that acts".to_owned())
            }
            FailureKind::Missing { .. } => {
                Some("paths are relative to the folder that you are in".to_owned())
            }
            FailureKind::Exists { .. } => {
                Some("choose another name or another folder; nothing was written".to_owned())
            }
            FailureKind::Overwrites { .. } => {
                Some("`--overwrite` replaces it; nothing was written".to_owned())
            }
            FailureKind::InUse { .. } => {
                Some("choose another name; nothing was written".to_owned())
            }
            FailureKind::NoStore { .. } => Some(
                "`statemark start` makes one; `--store` looks elsewhere".to_owned(),
            ),
            FailureKind::NotInAFile { .. } => Some(
                "a server has backups of its own; `statemark store export` writes the runs of any store"
                    .to_owned(),
            ),
            FailureKind::SeveralWorkflows { path, ids } => Some(format!(
                "name one of {} and say where it is: `--specs {path}`",
                ids.join(", ")
            )),
            FailureKind::Folder { .. } => Some("name a file".to_owned()),
            FailureKind::NoMachine { .. } => Some("`statemark new NAME` begins a spec".to_owned()),
            FailureKind::SeveralMachines { ids, .. } => {
                Some(format!("choose one with `--machine`: {}", ids.join(", ")))
            }
            FailureKind::UnknownMachine { ids, near, .. } => Some(
                meant(near.as_ref()).unwrap_or_else(|| match ids.as_slice() {
                    [only] => format!("the only one is `{only}`"),
                    _ => format!("there are {}", ids.join(", ")),
                }),
            ),
            FailureKind::UnknownCode { near, .. } => Some(match near.as_slice() {
                [] => "a code looks like `SM304`; `statemark explain --all` prints every page"
                    .to_owned(),
                _ => {
                    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
                    match names.split_last() {
                        Some((last, others)) if !others.is_empty() => {
                            format!("did you mean {} or {last}?", others.join(", "))
                        }
                        _ => format!("did you mean {}?", names.join(", ")),
                    }
                }
            }),
            FailureKind::BadVariable { values, .. } => Some(format!("it may be {values}")),
            FailureKind::OutputClash { .. } => Some("give one of them another id".to_owned()),
            FailureKind::BadTable { .. } | FailureKind::NotATable { .. } => {
                Some("make it anew: `statemark build SPEC -o DIR`".to_owned())
            }
            FailureKind::OwnTable { .. } => {
                Some("this is a defect of statemark: please report it".to_owned())
            }
            FailureKind::UnknownRun {
                near: Some(near), ..
            } => Some(format!("did you mean `{near}`? `statemark runs` lists them")),
            FailureKind::UnknownRun { meant, .. } if meant.is_empty() => {
                Some("`statemark runs` lists them; `--store` looks elsewhere".to_owned())
            }
            FailureKind::UnknownRun { meant, .. } => {
                Some(format!("write more of it: {}", meant.join(", ")))
            }
            FailureKind::RunExists { run } => Some(format!(
                "`statemark state {}` shows it; without `--run-id` the new one gets a name",
                shell_word(run)
            )),
            FailureKind::UnknownWorkflow {
                known,
                near,
                broken,
                ..
            } => Some(unknown_workflow(known, near.as_ref(), broken)),
            FailureKind::BadJson { .. } => {
                Some("write it as JSON, in quotes for the shell: '{\"passed\": true}'".to_owned())
            }
            FailureKind::BadConfig { .. } => {
                Some("it may have `store`, the address where runs are kept, and `checks`, programs by name".to_owned())
            }
            FailureKind::MissingPart { .. } => {
                Some("`statemark emit --help` says what each type needs".to_owned())
            }
            FailureKind::UnknownToken => Some(
                "`statemark token list` shows whose are good; STATEMARK_TOKEN holds the text that `token create` printed"
                    .to_owned(),
            ),
            FailureKind::TokenOfOther { .. } => {
                Some("unset STATEMARK_TOKEN, or use one that is good for it".to_owned())
            }
            FailureKind::NoToken { known, .. } => Some(match known.as_slice() {
                [] => "there is none at all".to_owned(),
                _ => format!("good are {}", known.join(", ")),
            }),
            FailureKind::OpenToken { path } => Some(format!("`chmod 600 {}`", shown(path))),
            FailureKind::NotAPerson => Some(
                "use a person's token: STATEMARK_TOKEN, or the one that `token create --save` has kept; if all are lost, \
                 remove `.statemark/tokens.json`, which revokes every token"
                    .to_owned(),
            ),
            FailureKind::KeptToken { .. } => {
                Some("decide with that one; or revoke it first, and make another".to_owned())
            }
            FailureKind::BadClientConfig { .. } => {
                Some("`--print` shows what to paste".to_owned())
            }
            FailureKind::NoUserServers => Some(
                "leave out `--user`, or paste what `--print` shows where its command `MCP: Open User Configuration` leads"
                    .to_owned(),
            ),
            FailureKind::NoHome => {
                Some("set HOME, or keep the token in STATEMARK_TOKEN".to_owned())
            }
            FailureKind::NonePaused { .. } => {
                Some("`statemark runs --status paused` lists those that are".to_owned())
            }
            FailureKind::UnknownRequest { open, .. } => Some(match open.as_slice() {
                [] => "`statemark inbox` lists what is open".to_owned(),
                _ => format!("open: {}", open.join(", ")),
            }),
            FailureKind::BadAnswer { help, .. } => Some(help.clone()),
            FailureKind::UnknownCheck { known, near, .. } => {
                Some(meant(near.as_ref()).unwrap_or_else(|| match known.as_slice() {
                    [] => "`checks` of a workflow's definition declares them, or of statemark.toml"
                        .to_owned(),
                    _ => format!("there are {}", known.join(", ")),
                }))
            }
            FailureKind::SeveralChecks { workflows, .. } => Some(format!(
                "choose one with `--workflow`: {}",
                workflows.join(", ")
            )),
            FailureKind::BadTime { .. } => Some("write it like 30s, 10m or 1h 30m".to_owned()),
            FailureKind::BadWord { words, .. } => Some(format!("it may be {words}")),
            FailureKind::NeedsTerminal => Some("give a script with `--events FILE`".to_owned()),
            FailureKind::TooLarge { .. }
            | FailureKind::Server(_)
            | FailureKind::Serving(_)
            | FailureKind::Signals(_)
            | FailureKind::Unreadable { .. }
            | FailureKind::Unwritable { .. }
            | FailureKind::BadName { .. }
            | FailureKind::BadEventLine { .. }
            | FailureKind::Store(_)
            | FailureKind::Import(_)
            | FailureKind::Run(_)
            | FailureKind::Token(_)
            | FailureKind::BadCheck { .. }
            | FailureKind::BadTokens { .. }
            | FailureKind::BadId { .. } => None,
        }
    }
}

/// That a file has no machine, and what was looked for.
pub(crate) fn no_machine(name: &str) -> String {
    match Format::of_name(name) {
        Format::Diagram => format!("no machine in {name}: no Mermaid state diagram"),
        Format::Definition => format!("no machine in {name}: no JSON definition"),
        _ => format!(
            "no machine in {name}: no heading `## STATE-MACHINE` with a mermaid state diagram"
        ),
    }
}

/// Whether a file of that name is a document, which holds its machine in a section.
pub(crate) fn is_document(name: &str) -> bool {
    Format::of_name(name) == Format::Markdown
}

/// What to do about a workflow that nobody defines.
fn unknown_workflow(known: &[String], near: Option<&String>, broken: &[String]) -> String {
    if let Some(near) = meant(near) {
        return near;
    }
    if !broken.is_empty() {
        let broken = broken.join(", ");
        return format!("specs with errors define nothing: see `statemark lint {broken}`");
    }
    match known {
        [] => "specs are looked for below this folder; `--specs PATH` looks elsewhere".to_owned(),
        _ => format!("there are {}", known.join(", ")),
    }
}

fn meant(near: Option<&String>) -> Option<String> {
    near.map(|near| format!("did you mean `{near}`?"))
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.kind {
            FailureKind::Missing { path } => {
                write!(out, "there is no file or folder `{}`", shown(path))
            }
            FailureKind::Unreadable { path, cause } => {
                write!(out, "`{}` can't be read: {}", shown(path), plain(cause))
            }
            FailureKind::Unwritable { path, cause } => {
                write!(out, "`{}` can't be written: {}", shown(path), plain(cause))
            }
            FailureKind::Exists { path } => write!(out, "`{}` is already there", shown(path)),
            FailureKind::Overwrites { path } => {
                write!(out, "`{}` is already there", shown(path))
            }
            FailureKind::InUse { path } => {
                write!(out, "`{}` is a store that is in use", shown(path))
            }
            FailureKind::NoStore { path } => write!(out, "there is no store `{}`", shown(path)),
            FailureKind::NotInAFile { done } => {
                write!(out, "only a store in a file can be {done}")
            }
            FailureKind::Import(error) => error.fmt(out),
            FailureKind::SeveralWorkflows { path, ids } => {
                write!(
                    out,
                    "{path} has {} workflows, and none is the run's",
                    ids.len()
                )
            }
            FailureKind::TooLarge { path, size, most } => {
                let path = shown(path);
                write!(out, "`{path}` has {size} bytes; most are {most}")
            }
            FailureKind::Folder { path } => write!(out, "`{}` is a folder", shown(path)),
            FailureKind::NoMachine { path } => out.write_str(&no_machine(path)),
            FailureKind::SeveralMachines { path, ids } => {
                write!(out, "{path} has {} machines", ids.len())
            }
            FailureKind::UnknownMachine { path, id, .. } => {
                write!(out, "{path} has no machine `{id}`")
            }
            FailureKind::UnknownCode { words, .. } => write!(out, "no finding is called `{words}`"),
            FailureKind::BadVariable { name, value, .. } => {
                write!(
                    out,
                    "the environment says {name}={value}, which means nothing"
                )
            }
            FailureKind::BadName { name, why } => write!(out, "`{name}` is no good name: {why}"),
            FailureKind::OutputClash {
                file,
                first,
                second,
            } => {
                write!(
                    out,
                    "`{first}` and `{second}` would both be written to `{file}`"
                )
            }
            FailureKind::NotATable { path, cause } => write!(out, "{path} isn't a table: {cause}"),
            FailureKind::BadTable { path, cause } => {
                write!(out, "the table {path} isn't a machine: {cause}")
            }
            FailureKind::OwnTable { id, cause } => {
                write!(out, "the table of `{id}` is no good: ")?;
                match cause {
                    OwnTableCause::Decode(cause) => write!(out, "{cause}"),
                    OwnTableCause::Verify(cause) => write!(out, "{cause}"),
                }
            }
            FailureKind::BadEventLine { line, why } => {
                write!(out, "line {line} of the events can't be read: {why}")
            }
            FailureKind::Store(error) => error.fmt(out),
            FailureKind::Run(error) => error.fmt(out),
            FailureKind::UnknownRun { run, meant, .. } if meant.is_empty() => {
                write!(out, "there is no run `{run}`")
            }
            FailureKind::UnknownRun { run, .. } => {
                write!(out, "several runs begin with `{run}`")
            }
            FailureKind::RunExists { run } => write!(out, "there is a run `{run}` already"),
            FailureKind::UnknownWorkflow { id, .. } => {
                write!(out, "no spec here defines the workflow `{id}`")
            }
            FailureKind::BadJson { name, cause } => {
                write!(out, "{name} isn't JSON: {cause}")
            }
            FailureKind::BadId { name, cause } => write!(out, "{name} is no good: {cause}"),
            FailureKind::BadConfig { path, cause } => {
                let cause = cause.to_string();
                write!(out, "`{}` can't be read: {}", shown(path), cause.trim_end())
            }
            FailureKind::UnknownToken => {
                out.write_str("the caller's token isn't good for this project")
            }
            FailureKind::TokenOfOther { name, run } => {
                write!(out, "the token of `{name}` isn't good for the run `{run}`")
            }
            FailureKind::Token(error) => error.fmt(out),
            FailureKind::NoToken { name, .. } => write!(out, "there is no token of `{name}`"),
            FailureKind::BadTokens { path, cause } => {
                write!(
                    out,
                    "the tokens in `{}` can't be read: {cause}",
                    shown(path)
                )
            }
            FailureKind::OpenToken { path } => {
                write!(out, "others can read the token in `{}`", shown(path))
            }
            FailureKind::BadClientConfig { path, why } => write!(out, "`{}` {why}", shown(path)),
            FailureKind::NoUserServers => out
                .write_str("where VS Code has the servers for all projects depends on its profile"),
            FailureKind::Server(error) => error.fmt(out),
            FailureKind::Signals(cause) => {
                write!(out, "signals can't be waited for: {}", plain(cause))
            }
            FailureKind::Serving(cause) => write!(out, "it can't be served: {}", plain(cause)),
            FailureKind::NotAPerson => out
                .write_str("only a person makes tokens and revokes them, once there is a person's"),
            FailureKind::KeptToken { path } => write!(
                out,
                "you keep a token for this project already, in `{}`; no other was made",
                shown(path)
            ),
            FailureKind::NoHome => {
                out.write_str("HOME isn't set: there is no place for what is only yours")
            }
            FailureKind::NonePaused { workflow } => {
                write!(out, "no run of `{workflow}` is paused")
            }
            FailureKind::UnknownRequest { request, open }
                if open.len() > 1 && !request.contains(':') =>
            {
                write!(out, "`{request}` has several open requests")
            }
            FailureKind::UnknownRequest { request, .. } => {
                write!(out, "there is no open request `{request}`")
            }
            FailureKind::BadAnswer { request, why, .. } => {
                write!(out, "`{request}` isn't answered so: {why}")
            }
            FailureKind::MissingPart { name, kind } => write!(out, "{kind} needs {name}"),
            FailureKind::UnknownCheck { name, .. } => {
                write!(out, "there is no check `{name}`")
            }
            FailureKind::SeveralChecks { name, .. } => {
                write!(
                    out,
                    "several workflows declare a check `{name}`, and not the same"
                )
            }
            FailureKind::BadCheck { name, cause } => {
                write!(
                    out,
                    "the check `{name}` can't be run as it is declared: {cause}"
                )
            }
            FailureKind::BadTime { text } => write!(out, "`{text}` is no length of time"),
            FailureKind::BadWord { name, word, .. } => {
                write!(out, "{name} can't be `{word}`")
            }
            FailureKind::NeedsTerminal => {
                out.write_str("the spec and the events can't both be read from standard input")
            }
        }
    }
}

/// The system's words without its number.
fn plain(cause: &io::Error) -> String {
    let text = cause.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    words.to_lowercase()
}
