//! The stores of this user: those that were made here, or that a person has taken over.
//!
//! A store says who is a person, what was accepted and whose signatures count. One that a folder brings along would say it for
//! whoever made the folder: a cloned repository could have its programs started, and its author decide. So the ids of a
//! user's own stores are noted in the user's own configuration, and a store that is merely found has to be one of them.
//! Whoever names a store, by `--store` or `STATEMARK_STORE`, means it as it is.

use std::path::{Path, PathBuf};

use statemark_runs::authority::{Authority, NameStore};
use statemark_runs::files::{create_new, make_private_folder, read_own};
use statemark_runs::{Actor, Role, Runs};
use statemark_stores::file_of;

use crate::failure::Failure;
use crate::{environment, files, printer, project};

/// The folder of the notes, in the user's configuration.
///
/// Each is named by a store's id, and says where the store was then.
const FOLDER: &str = "statemark/stores";

/// Largest note. Unit: bytes. Why: it has a path.
const MAX_NOTE: u64 = 8 << 10;

/// Checks that a store is this user's, unless somebody named it by `flag` or the environment.
///
/// A store that has no id yet says nothing about anybody: it gets one, which is noted.
///
/// # Errors
///
/// The store came with its folder.
pub(crate) fn check(runs: &Runs, address: &str, flag: Option<&str>) -> Result<(), Failure> {
    let Some(file) = file_of(address) else {
        // Servers are allowed by name, and what is in memory comes from nobody.
        return Ok(());
    };
    if environment::NOW.text().is_some() {
        // Only a store for testing goes by that clock, and whoever sets the variable means one.
        return Ok(());
    }
    let authority = runs.authority()?;
    match authority.store_id() {
        None => {
            let agent = Actor::new(Role::Agent);
            // Where nothing can be written, nobody gets rights either.
            if runs.execute(&agent, &NameStore).is_ok()
                && let Some(id) = runs.authority()?.store_id()
            {
                note(id, file);
            }
            Ok(())
        }
        Some(_) if project::is_store_named(flag) => Ok(()),
        Some(id) if is_noted(id)? => Ok(()),
        Some(_) => Err(foreign(file)),
    }
}

fn foreign(file: &Path) -> Failure {
    let file = files::display(file);
    Failure::new(format!(
        "the store `{file}` wasn't made by you: it says who decides and what was accepted, as whoever made it wants it"
    ))
    .with_help(
        "if it came with a repository, delete it; if it is yours, `statemark store adopt`, at a terminal, shows what it says and takes it over; `--store` or STATEMARK_STORE names a store as it is",
    )
}

/// Takes a store over, if somebody at the terminal wants it after having seen what it says.
///
/// # Errors
///
/// Nobody can be asked, or doesn't want it; the note can't be written.
pub(crate) fn adopt(runs: &Runs, address: &str) -> Result<String, Failure> {
    let authority = runs.authority()?;
    let (Some(file), Some(id)) = (file_of(address), authority.store_id()) else {
        return Ok(
            "the store says nothing about anybody: there is nothing to take over".to_owned(),
        );
    };
    if is_noted(id)? {
        return Ok("the store is yours already".to_owned());
    }
    let name = project::store_name(address);
    let question = format!(
        "The store `{name}` wasn't made by you. It says:\n{}Type the store's name to take it over: ",
        describe(&authority)
    );
    match printer::ask(&question) {
        None => Err(Failure::new(
            "a store is taken over at a terminal, after its content was shown",
        )
        .with_help("`--store` or STATEMARK_STORE names a store as it is")),
        Some(typed) if typed.trim() == name => {
            note(id, file);
            if is_noted(id)? {
                Ok(format!("took over `{name}`"))
            } else {
                Err(Failure::new(
                    "the note that the store is yours can't be written to your configuration",
                ))
            }
        }
        Some(_) => Err(Failure::new(
            "that isn't the store's name; nothing was done",
        )),
    }
}

/// Describes what a store says about rights, a line each.
fn describe(authority: &Authority) -> String {
    let tokens = authority
        .tokens()
        .map(|token| format!("  a token of `{}` ({})\n", token.name, token.role.name()));
    let signers = authority
        .signers()
        .map(|known| format!("  `{}` signs decisions\n", known.signer.name));
    let accepted = authority
        .acceptances()
        .map(|(workflow, _)| format!("  the workflow `{workflow}` is accepted\n"));
    let text: String = tokens.chain(signers).chain(accepted).collect();
    if text.is_empty() {
        "  nothing about persons, signers and workflows\n".to_owned()
    } else {
        text
    }
}

/// Notes that a store is this user's.
fn note(id: &str, file: &Path) {
    let Some(path) = path_of(id) else {
        return;
    };
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = path.parent().unwrap_or(&path);
    let written = make_private_folder(folder)
        .and_then(|()| create_new(&path))
        .and_then(|mut note| {
            use std::io::Write as _;
            writeln!(note, "{}", file.display())
        });
    if let Err(error) = written
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        let path = files::display(&path);
        tracing::warn!("that the store is yours can't be noted in {path}: {error}");
    }
}

fn is_noted(id: &str) -> Result<bool, Failure> {
    let Some(path) = path_of(id) else {
        return Ok(false);
    };
    let note = read_own(&path, MAX_NOTE).map_err(|error| files::unreadable(&path, &error))?;
    Ok(note.is_some())
}

/// Returns the path of the note for an id; none for what is no id, and where there is no configuration.
fn path_of(id: &str) -> Option<PathBuf> {
    // The id comes from the store.
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let folder = environment::user_folder(&environment::CONFIG_HOME, ".config")?;
    is_id.then(|| folder.join(FOLDER).join(id))
}
