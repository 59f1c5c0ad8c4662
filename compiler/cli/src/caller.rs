//! The caller of a command, and the project's tokens.
//!
//! `STATEMARK_TOKEN` names the caller of every command. Without it, a command is an agent's; but one that counts for more
//! from a person looks for the token that `statemark token create --save` has kept in the person's own configuration, so
//! that an agent's everyday commands aren't in the journal under a person's name.
//!
//! Deliberately not here: a wall between two programs of one user. A program that may read all of a person's files can act
//! as that person; what keeps an agent from it is what its client lets it run.

use std::fs::{self, File, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use statemark_runs::{Actor, Role, RunError, RunId, Token, Tokens};
use statemark_server::Keys;
use statemark_tools::Caller;

use crate::failure::Failure;
use crate::files::{self, PendingFile};
use crate::project::{self, user_folder, variable};

/// The variable that has the caller's token.
const VARIABLE: &str = "STATEMARK_TOKEN";

/// The project's list of tokens, in its own folder.
const LIST: &str = "tokens.json";

/// Largest list. Unit: bytes. Why: a token is a line.
const MAX_LIST: usize = 1 << 20;

/// Returns the caller, and the token if there is one.
pub(crate) fn identify(wants_person: bool) -> Result<(Actor, Option<Token>), Failure> {
    let token = match variable(VARIABLE) {
        Some(text) => {
            let tokens = read_tokens()?;
            let token = tokens.find(&text).cloned();
            Some(token.ok_or_else(|| {
                Failure::new("the caller's token isn't valid for this project").with_help(
                    "`statemark token list` shows the valid ones; STATEMARK_TOKEN holds what `token create` printed",
                )
            })?)
        }
        None if wants_person => saved_token()?,
        None => None,
    };
    Ok(match token {
        Some(token) => (token.actor(), Some(token)),
        None => (Actor::new(Role::Agent), None),
    })
}

/// Fails if a token isn't valid for a run.
pub(crate) fn check_token(token: Option<&Token>, run: &RunId) -> Result<(), Failure> {
    match token {
        Some(token) if !token.is_for(run) => {
            let message = format!(
                "the token of `{}` isn't valid for the run `{run}`",
                token.name
            );
            Err(Failure::new(message)
                .with_help("unset STATEMARK_TOKEN, or set it to one that is valid for the run"))
        }
        _ => Ok(()),
    }
}

/// Fails if the caller is an observer, who may change nothing.
pub(crate) fn check_may_write() -> Result<(), Failure> {
    let (actor, _) = identify(false)?;
    if actor.role == Role::Observer {
        return Err(RunError::ReadOnly { actor }.into());
    }
    Ok(())
}

/// Returns the caller over standard input and output: by the token of the environment, else an agent.
pub(crate) fn stdio_caller() -> Result<Caller, Failure> {
    let (actor, token) = identify(false)?;
    Ok(Caller {
        actor,
        run: token.and_then(|token| token.run),
        project: Some(project::id(".")?),
    })
}

/// Returns the caller over HTTP without a token, where that is allowed: an agent of this project.
pub(crate) fn anonymous_caller() -> Result<Caller, Failure> {
    Ok(Caller {
        project: Some(project::id(".")?),
        ..Caller::agent()
    })
}

/// Reads the tokens of this project.
pub(crate) fn read_tokens() -> Result<Tokens, Failure> {
    read_list(&project::folder()?.join(LIST))
}

/// Reads the tokens in a file. One that doesn't exist has none.
fn read_list(path: &Path) -> Result<Tokens, Failure> {
    if !path.exists() {
        return Ok(Tokens::default());
    }
    let bytes = files::read_whole(path, MAX_LIST)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let path = files::display(path);
        Failure::new(format!("the tokens in `{path}` can't be read: {error}"))
    })
}

/// Returns the token of the environment, if it is valid for this project.
pub(crate) fn environment_token() -> Result<Option<String>, Failure> {
    let (_, token) = identify(false)?;
    Ok(variable(VARIABLE).filter(|_| token.is_some()))
}

/// Writes a file in the project's own folder that only its owner can read, and returns its path.
pub(crate) fn write_private(name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = project::make_folder(project::folder()?)?.join(name);
    write_for_owner(&path, text)?;
    Ok(path)
}

/// Reads a file in the project's own folder.
pub(crate) fn read_private(name: &str) -> Result<Option<String>, Failure> {
    Ok(fs::read_to_string(project::folder()?.join(name)).ok())
}

/// Changes the project's tokens, one process at a time.
pub(crate) fn change_tokens<T>(
    change: impl FnOnce(&mut Tokens) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let folder = project::make_folder(project::folder()?)?;
    let path = folder.join(LIST);
    let lock = open_lock(&folder.join("tokens.lock"))?;
    lock.lock()
        .map_err(|error| files::unwritable(&path, &error))?;
    let mut tokens = read_tokens()?;
    check_may_change(&tokens)?;
    let result = change(&mut tokens)?;
    let mut text = serde_json::to_string_pretty(&tokens).unwrap_or_default();
    text.push('\n');
    write_for_owner(&path, &text)?;
    Ok(result)
}

/// Opens a file to lock, which only its owner can read.
fn open_lock(path: &Path) -> Result<File, Failure> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .map_err(|error| files::unwritable(path, &error))
}

/// Fails if the caller's own configuration has a token already that is valid for this project.
pub(crate) fn check_unsaved() -> Result<(), Failure> {
    let path = own_path().ok_or_else(no_home)?;
    if saved_token()?.is_some() {
        let path = files::display(&path);
        let message =
            format!("you keep a token for this project already, in `{path}`; no other was created");
        return Err(
            Failure::new(message).with_help("use that one, or revoke it first and create another")
        );
    }
    Ok(())
}

/// Fails if the caller may not create and revoke tokens: once a person has one, only a person may.
fn check_may_change(tokens: &Tokens) -> Result<(), Failure> {
    let mut roles = tokens.iter().map(|token| token.role);
    if roles.all(|role| role != Role::Person) {
        return Ok(());
    }
    let (actor, _) = identify(true)?;
    if actor.role < Role::Person {
        let message = "only a person creates and revokes tokens, once there is a token of a person";
        return Err(Failure::new(message).with_help(
            "use a person's token: STATEMARK_TOKEN, or the one that `token create --save` has kept; if all are lost, \
             remove `.statemark/tokens.json`, which revokes every token",
        ));
    }
    Ok(())
}

/// Saves a token in the caller's own configuration, next to others, and returns the path.
pub(crate) fn save_token(text: &str) -> Result<PathBuf, Failure> {
    let path = own_path().ok_or_else(no_home)?;
    if let Some(folder) = path.parent() {
        files::make_folder(folder)?;
    }
    let mut lines = saved_lines()?;
    lines.push(text.to_owned());
    write_for_owner(&path, &(lines.join("\n") + "\n"))?;
    Ok(path)
}

/// Returns the token that was saved for this project, if there is one.
fn saved_token() -> Result<Option<Token>, Failure> {
    let tokens = read_tokens()?;
    let saved = saved_lines()?;
    Ok(saved.iter().find_map(|text| tokens.find(text)).cloned())
}

/// Reads the saved tokens, one a line. Only the projects' own lists know which is for which.
fn saved_lines() -> Result<Vec<String>, Failure> {
    let Some(path) = own_path().filter(|path| path.exists()) else {
        return Ok(Vec::new());
    };
    let facts = fs::metadata(&path).map_err(|error| files::unreadable(&path, &error))?;
    if is_open_to_others(&facts) {
        let path = files::display(&path);
        return Err(
            Failure::new(format!("others can read the token in `{path}`"))
                .with_help(format!("`chmod 600 {path}`")),
        );
    }
    let bytes = files::read_whole(&path, MAX_LIST)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Returns the path of the caller's own tokens.
fn own_path() -> Option<PathBuf> {
    let folder = user_folder("XDG_CONFIG_HOME", ".config")?;
    Some(folder.join("statemark/token"))
}

/// Makes the failure of a caller without a home folder.
pub(crate) fn no_home() -> Failure {
    Failure::new("HOME isn't set, so there is no folder for your own configuration")
        .with_help("set HOME, or set STATEMARK_TOKEN to your token")
}

/// Writes a file that only its owner can read, whole or not at all.
fn write_for_owner(path: &Path, text: &str) -> Result<(), Failure> {
    let write = || {
        let pending = PendingFile::new(path, true)?;
        pending.create()?.write_all(text.as_bytes())?;
        pending.finish()
    };
    write().map_err(|error| files::unwritable(path, &error))
}

#[cfg(unix)]
fn is_open_to_others(facts: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(facts) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Metadata) -> bool {
    false
}

/// The size, time and inode of a list. It is always replaced as a whole, so a new list has others.
type Stamp = Option<(u64, Option<SystemTime>, u64)>;

/// The project's tokens for a server, read again when the list has changed.
pub(crate) struct ProjectKeys {
    path: PathBuf,
    known: Mutex<(Stamp, Arc<Tokens>)>,
}

impl ProjectKeys {
    /// Reads the project's tokens.
    pub(crate) fn read() -> Result<Self, Failure> {
        let path = project::folder()?.join(LIST);
        // The stamp is older than the tokens: a change in between is read again.
        let stamp = stamp(&path).unwrap_or_default();
        let tokens = Arc::new(read_list(&path)?);
        Ok(Self {
            path,
            known: Mutex::new((stamp, tokens)),
        })
    }
}

impl Keys for ProjectKeys {
    fn tokens(&self) -> Result<Arc<Tokens>, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.path).map_err(|error| error.to_string())?;
        if stamp != known.0 {
            let tokens = read_list(&self.path).map_err(|failure| failure.to_string())?;
            *known = (stamp, Arc::new(tokens));
        }
        Ok(Arc::clone(&known.1))
    }
}

fn stamp(path: &Path) -> std::io::Result<Stamp> {
    match fs::metadata(path) {
        Ok(facts) => Ok(Some((facts.len(), facts.modified().ok(), inode(&facts)))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn inode(facts: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(facts)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
