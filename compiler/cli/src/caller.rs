//! The caller of a command: who it is by the tokens of the store that it names.
//!
//! `STATEMARK_TOKEN` names the caller of every command. Without it, a command is an agent's; but one that counts for more
//! from a person looks for the token that `statemark token create --save` has kept in the person's own configuration. That
//! one is used only at a terminal, after the deed was shown and confirmed, so that no script acts as a person by chance.
//!
//! Deliberately not here: a wall between two programs of one user. A program that may read all of a person's files can act
//! as that person; what keeps an agent from it is what its client lets it run, and a user of its own.

use std::fs::{self, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use statemark_runs::authority::{InvalidToken, MakeToken, RecordFirstUse};
use statemark_runs::files::{FolderLock, PendingFile, make_private_folder};
use statemark_runs::{Actor, Hash, Role, RunId, Runs, Token, shell_word};
use statemark_tools::{Caller, Credential};

use crate::clock::format_time;
use crate::environment;
use crate::failure::{Failure, UNAUTHORIZED};
use crate::files;
use crate::places;
use crate::printer;
use crate::project;

/// The list of tokens in a project's own folder, from before tokens were in stores.
const FORMER_LIST: &str = "tokens.json";

/// Largest list. Unit: bytes. Why: a token is a line.
const MAX_LIST: usize = 1 << 20;

/// The caller of a command.
#[derive(Debug)]
pub(crate) struct Identity {
    /// Its role and name.
    pub(crate) actor: Actor,
    /// The only run that its token is valid for.
    pub(crate) run: Option<RunId>,
    /// The way in which it is known.
    pub(crate) credential: Credential,
}

impl Identity {
    /// Returns the caller without a token: an agent without a name.
    pub(crate) const fn anonymous() -> Self {
        Self {
            actor: Actor::new(Role::Agent),
            run: None,
            credential: Credential::Nothing,
        }
    }

    fn of_token(token: &Token) -> Self {
        Self {
            actor: token.actor(),
            run: token.run.clone(),
            credential: Credential::of_token(token),
        }
    }

    /// Fails if the caller's token isn't valid for a run.
    pub(crate) fn check_run(&self, run: &RunId) -> Result<(), Failure> {
        match &self.run {
            Some(own) if own != run => {
                let name = self.actor.name.as_deref().unwrap_or_default();
                let message = format!("the token of `{name}` isn't valid for the run `{run}`");
                Err(Failure::new(message)
                    .with_code("other_run")
                    .with_help("unset STATEMARK_TOKEN, or set it to one that is valid for the run"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the caller: by the token of the environment, else an agent.
pub(crate) fn identify(runs: &Runs) -> Result<Identity, Failure> {
    Ok(match environment_token(runs)? {
        Some(token) => Identity::of_token(&token),
        None => Identity::anonymous(),
    })
}

/// Returns the caller of a deed that only a person may do, or that counts for more from a person.
///
/// A saved token is used if somebody at a terminal confirms the deed. Else the caller is an agent.
pub(crate) fn identify_person(runs: &Runs, deed: &str) -> Result<Identity, Failure> {
    if let Some(token) = environment_token(runs)? {
        return Ok(Identity::of_token(&token));
    }
    let Some(token) = saved_token(runs)? else {
        return Ok(Identity::anonymous());
    };
    let name = &token.name;
    match printer::ask(&format!("{deed}\nas `{name}` (person)? [y/N] ")) {
        None => Ok(Identity::anonymous()),
        Some(answer) if printer::is_yes(&answer) => {
            use_token(runs, &token);
            Ok(Identity::of_token(&token))
        }
        Some(_) => Err(not_confirmed()),
    }
}

/// Makes the failure of a deed that somebody at a terminal didn't confirm.
pub(crate) fn not_confirmed() -> Failure {
    Failure::new("nothing was done: it wasn't confirmed").with_code("unconfirmed")
}

/// Says how a caller whom a store took for an agent would be a person.
pub(crate) fn describe_way_to_person(runs: &Runs) -> Result<&'static str, Failure> {
    Ok(if environment::TOKEN.text().is_some() {
        "STATEMARK_TOKEN is an agent's token; a person has one of their own (`statemark token list`)"
    } else if saved_token(runs)?.is_some() {
        "the token that you have saved counts at a terminal alone, where you confirm what is done; without one, STATEMARK_TOKEN is a person's token"
    } else {
        "a person creates a token, once: `statemark token create NAME --role person --save`"
    })
}

/// Returns the token of the environment, if there is one.
fn environment_token(runs: &Runs) -> Result<Option<Token>, Failure> {
    let Some(text) = environment::TOKEN.text() else {
        return Ok(None);
    };
    let authority = runs.authority()?;
    match authority.find(&text, runs.now()) {
        Ok(token) => {
            use_token(runs, token);
            Ok(Some(token.clone()))
        }
        Err(InvalidToken::Expired { name, at }) => {
            let at = format_time(at);
            let message = format!("the token of `{name}` has expired, at {at}");
            Err(Failure::new(message)
                .with_code(UNAUTHORIZED)
                .with_help(format!(
                    "a person gets it a new one: `statemark token rotate {}`",
                    shell_word(&name)
                )))
        }
        Err(InvalidToken::Unknown) => Err(Failure::new(
            "the caller's token isn't valid for this store",
        )
        .with_code(UNAUTHORIZED)
        .with_help(match former_list()? {
            Some(path) => format!(
                "tokens are in the store now: `statemark token adopt`, at a terminal, takes over those in `{}`",
                files::display(&path)
            ),
            None => "`statemark token list` shows the valid ones; STATEMARK_TOKEN holds what `token create` printed".to_owned(),
        })),
    }
}

/// Records the first use of a token. A store that can't be written still gives rights to read.
fn use_token(runs: &Runs, token: &Token) {
    if token.used.is_none() {
        let used = RecordFirstUse { hash: token.hash };
        drop(runs.execute(&token.actor(), &used));
    }
}

/// Returns the caller over standard input and output: an agent, whatever the environment says.
///
/// A token of an agent or of an observer gives its name and its binding; a person's would let the agent that the client
/// starts decide as that person.
pub(crate) fn stdio_caller(runs: &Runs) -> Result<Caller, Failure> {
    let mut identity = identify(runs)?;
    if identity.actor.role >= Role::Person {
        identity = Identity::anonymous();
    }
    Ok(Caller {
        actor: identity.actor,
        run: identity.run,
        project: Some(project::id(".")?),
        credential: identity.credential,
        attempt: environment::attempt(),
    })
}

/// Returns the caller over HTTP without a token, where that is allowed: an agent of this project.
pub(crate) fn anonymous_caller() -> Result<Caller, Failure> {
    Ok(Caller {
        project: Some(project::id(".")?),
        ..Caller::agent()
    })
}

/// A token of a list from before tokens were in stores.
#[derive(Deserialize)]
struct FormerToken {
    name: String,
    role: Role,
    #[serde(default)]
    run: Option<RunId>,
    hash: Hash,
}

/// A list from before tokens were in stores.
#[derive(Deserialize)]
struct FormerList {
    tokens: Vec<FormerToken>,
}

/// Returns the project's list from before tokens were in stores, if there is one.
pub(crate) fn former_list() -> Result<Option<PathBuf>, Failure> {
    let path = project::folder()?.join(FORMER_LIST);
    Ok(path.exists().then_some(path))
}

/// Reads the tokens of such a list.
pub(crate) fn read_former_list(path: &Path) -> Result<Vec<(MakeToken, Hash)>, Failure> {
    let bytes = files::read_whole(path, MAX_LIST)?;
    let list: FormerList = serde_json::from_slice(&bytes).map_err(|error| {
        let path = files::display(path);
        Failure::new(format!("the tokens in `{path}` can't be read: {error}"))
    })?;
    let tokens = list.tokens.into_iter().map(|former| {
        let token = MakeToken {
            run: former.run,
            ..MakeToken::new(former.name, former.role)
        };
        (token, former.hash)
    });
    Ok(tokens.collect())
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

/// Fails if the caller's own configuration has a valid token of this store already.
pub(crate) fn check_unsaved(runs: &Runs) -> Result<(), Failure> {
    let path = places::tokens_file().ok_or_else(no_home)?;
    if saved_token(runs)?.is_some() {
        let path = files::display(&path);
        let message =
            format!("you keep a token for this store already, in `{path}`; no other was created");
        return Err(
            Failure::new(message).with_help("use that one, or revoke it first and create another")
        );
    }
    Ok(())
}

/// Saves a token in the caller's own configuration, next to others, and returns the path.
pub(crate) fn save_token(text: &str) -> Result<PathBuf, Failure> {
    let path = places::tokens_file().ok_or_else(no_home)?;
    if let Some(folder) = path.parent() {
        make_private_folder(folder).map_err(|error| files::unwritable(folder, &error))?;
    }
    let _alone = path.parent().map(FolderLock::take);
    let mut lines = saved_lines()?;
    lines.push(text.to_owned());
    write_for_owner(&path, &(lines.join("\n") + "\n"))?;
    Ok(path)
}

/// Returns the saved token that is valid for this store, if there is one.
fn saved_token(runs: &Runs) -> Result<Option<Token>, Failure> {
    let saved = saved_lines()?;
    if saved.is_empty() {
        return Ok(None);
    }
    let (authority, now) = (runs.authority()?, runs.now());
    Ok(saved
        .iter()
        .find_map(|text| authority.find(text, now).ok())
        .cloned())
}

/// Reads the saved tokens, one a line. Only the stores know which is for which.
fn saved_lines() -> Result<Vec<String>, Failure> {
    let Some(path) = places::tokens_file().filter(|path| path.exists()) else {
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
