//! Who uses the command line.
//!
//! `STATEMARK_TOKEN` says it for every command. Without it, a command is an agent's; but one that only a person may give
//! looks for the token of this project that `statemark token create --save` has kept in the person's own configuration, so that an agent's
//! everyday commands don't go into the journal under a person's name.
//!
//! Deliberately not here: a wall between two programs of one user. Whoever may read all of a person's files can act as that
//! person; what keeps an agent from it is what its client lets it run.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use statemark_runs::{Actor, Role, RunId, Token, Tokens};

use super::place;
use crate::failure::{Failure, FailureKind};
use crate::files;

/// Has the caller's token.
const VARIABLE: &str = "STATEMARK_TOKEN";

/// The project's list of tokens, beside its runs.
const LIST: &str = "tokens.json";

/// Largest list. Unit: bytes.
const MOST: usize = 1 << 20;

/// Who gives an order, and the token if there is one.
pub(super) fn caller(wants_person: bool) -> Result<(Actor, Option<Token>), Failure> {
    let given = std::env::var(VARIABLE).ok().filter(|it| !it.is_empty());
    let found = match given {
        Some(text) => {
            let tokens = read()?;
            let found = tokens.find(&text).cloned();
            Some(found.ok_or(FailureKind::UnknownToken)?)
        }
        None if wants_person => kept_here()?,
        None => None,
    };
    Ok(match found {
        Some(token) => (token.actor(), Some(token)),
        None => (Actor::new(Role::Agent), None),
    })
}

/// That a token isn't good for a run.
pub(super) fn check(token: Option<&Token>, run: &RunId) -> Result<(), Failure> {
    match token {
        Some(token) if !token.is_for(run) => {
            let run = run.to_string();
            let name = token.name.clone();
            Err(FailureKind::TokenOfOther { name, run }.into())
        }
        _ => Ok(()),
    }
}

/// The tokens of this project.
pub(crate) fn read() -> Result<Tokens, Failure> {
    read_from(&list()?)
}

/// Where the tokens of this project are.
pub(super) fn list() -> Result<PathBuf, Failure> {
    Ok(place::folder()?.join(LIST))
}

/// The tokens in a file; none if it isn't there.
pub(super) fn read_from(path: &Path) -> Result<Tokens, Failure> {
    if !path.exists() {
        return Ok(Tokens::default());
    }
    let bytes = files::read(path, MOST)?.unwrap_or_default();
    serde_json::from_slice(&bytes).map_err(|cause| {
        let path = path.to_owned();
        FailureKind::BadTokens { path, cause }.into()
    })
}

/// The token in the environment, if it is good for this project.
pub(crate) fn own_token() -> Result<Option<String>, Failure> {
    let (_, token) = caller(false)?;
    let given = std::env::var(VARIABLE).ok();
    Ok(given.filter(|_| token.is_some()))
}

/// Keeps a text in the project's own folder, where only its owner can read it. Where it is now.
pub(crate) fn keep_private(name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = place::make_folder()?.join(name);
    keep(&path, text)?;
    Ok(path)
}

/// What is kept so, if anything is.
pub(crate) fn kept_private(name: &str) -> Result<Option<String>, Failure> {
    let path = place::make_folder()?.join(name);
    Ok(fs::read_to_string(path).ok())
}

/// Changes the project's tokens, one process at a time.
pub(crate) fn change<T>(
    change: impl FnOnce(&mut Tokens) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let folder = place::make_folder()?;
    let path = folder.join(LIST);
    let lock = private(&folder.join("tokens.lock"))?;
    lock.lock().map_err(|cause| unwritable(&path, cause))?;
    let mut tokens = read()?;
    check_may_change(&tokens)?;
    let done = change(&mut tokens)?;
    let mut text = serde_json::to_string_pretty(&tokens).unwrap_or_default();
    text.push('\n');
    keep(&path, &text)?;
    Ok(done)
}

/// That the caller's own configuration has no token yet that is good for this project.
pub(crate) fn check_unsaved() -> Result<(), Failure> {
    let path = own().ok_or(FailureKind::NoHome)?;
    if kept_here()?.is_some() {
        return Err(FailureKind::KeptToken { path }.into());
    }
    Ok(())
}

/// That the caller may make tokens and revoke them: once there is a person's, a person.
fn check_may_change(tokens: &Tokens) -> Result<(), Failure> {
    let mut roles = tokens.iter().map(|token| token.role);
    if roles.all(|role| role != Role::Person) {
        return Ok(());
    }
    let (actor, _) = caller(true)?;
    if actor.role < Role::Person {
        return Err(FailureKind::NotAPerson.into());
    }
    Ok(())
}

/// Keeps a token in the caller's own configuration, beside those for other projects. Where it is now.
pub(crate) fn save(text: &str) -> Result<PathBuf, Failure> {
    let path = own().ok_or(FailureKind::NoHome)?;
    if let Some(folder) = path.parent() {
        files::make_folder(folder)?;
    }
    let mut lines = kept()?;
    lines.push(text.to_owned());
    keep(&path, &(lines.join("\n") + "\n"))?;
    Ok(path)
}

/// The token that was kept for this project, if there is one.
fn kept_here() -> Result<Option<Token>, Failure> {
    let tokens = read()?;
    let kept = kept()?;
    Ok(kept.iter().find_map(|text| tokens.find(text)).cloned())
}

/// The tokens that were kept, one a line: which projects they are for is known by those alone. Others must not be able to
/// read them.
fn kept() -> Result<Vec<String>, Failure> {
    let Some(path) = own().filter(|it| it.exists()) else {
        return Ok(Vec::new());
    };
    let facts = fs::metadata(&path).map_err(|cause| FailureKind::Unreadable {
        path: path.clone(),
        cause,
    })?;
    if is_open(&facts) {
        return Err(FailureKind::OpenToken { path }.into());
    }
    let bytes = files::read(&path, MOST)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Where a person's tokens are kept.
fn own() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|it| !it.is_empty());
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")))?;
    Some(folder.join("statemark/token"))
}

/// Writes a file that only its owner can read, whole or not at all.
fn keep(path: &Path, text: &str) -> Result<(), Failure> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = private(&temporary).and_then(|mut file| {
        let written = file
            .set_len(0)
            .and_then(|()| file.write_all(text.as_bytes()));
        let written = written.and_then(|()| file.sync_all());
        let moved = written.and_then(|()| fs::rename(&temporary, path));
        moved.map_err(|cause| unwritable(path, cause))
    });
    if written.is_err() {
        // It may not even be there.
        drop(fs::remove_file(&temporary));
    }
    written
}

/// A file for writing that only its owner can read.
fn private(path: &Path) -> Result<File, Failure> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|cause| unwritable(path, cause))
}

#[cfg(unix)]
fn is_open(facts: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(facts) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open(_: &Metadata) -> bool {
    false
}

fn unwritable(path: &Path, cause: io::Error) -> Failure {
    let path = path.to_owned();
    FailureKind::Unwritable { path, cause }.into()
}
