//! The stores of this user: those that were made here, or that a person has taken over.
//!
//! A store says who is a person, what was accepted and whose signatures count. One that a folder brings along would say it for
//! whoever made the folder: a cloned repository could have its programs started, and its author decide. So a
//! user's own stores are noted in the user's own configuration, and a store that is merely found has to be one of them.
//! Whoever names a store, by `--store` or `STATEMARK_STORE`, means it as it is.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use statemark_runs::authority::{Authority, NameStore};
use statemark_runs::files::{create_new, make_private_folder, read_own};
use statemark_runs::{Actor, Hash, Role, Runs};
use statemark_stores::file_of;

use crate::failure::Failure;
use crate::{environment, files, printer, project};

/// The folder of the notes, in the user's configuration.
///
/// Each is named by what only the store's own content tells, and says where the store was then.
const FOLDER: &str = "statemark/stores";

/// Largest note. Unit: bytes. Why: it has a path.
const MAX_NOTE: u64 = 8 << 10;

/// Checks that a store is this user's, unless somebody named it by `flag` or the environment.
///
/// A store without any entry and without runs says nothing about anybody: it gets its first entry, and is noted. One with runs
/// says by them who decided, whatever was cut out of it.
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
    let is_named = project::is_store_named(flag);
    if runs.authority()?.is_empty() {
        // Read anew: somebody else may just have made it, and begun a run in it. A run comes after its store's name.
        if !is_named && has_runs(runs)? && can_note() && runs.authority()?.is_empty() {
            return Err(foreign(file));
        }
        if !make_own(runs, file) {
            // Nobody gets rights in a store that can't be written, and one that can't be noted has to stay usable.
            return Ok(());
        }
    }
    if is_named || is_noted(runs.authority()?.ownership())? {
        return Ok(());
    }
    Err(if folder().is_some() {
        foreign(file)
    } else {
        let file = files::display(file);
        Failure::new(format!(
            "nothing tells whether the store `{file}` is yours: neither XDG_CONFIG_HOME nor HOME says where your configuration is"
        ))
        .with_help("`--store` or STATEMARK_STORE names a store as it is")
    })
}

fn has_runs(runs: &Runs) -> Result<bool, Failure> {
    let counts = runs.store().status_counts()?;
    Ok(counts.values().any(|count| *count > 0))
}

/// Reports whether this user's stores can be noted.
fn can_note() -> bool {
    folder().is_some_and(|folder| make_private_folder(&folder).is_ok())
}

/// Gives a store an id that is noted before; false if that isn't possible.
///
/// Another process may do the same meanwhile: whichever id the store gets, it is a noted one.
fn make_own(runs: &Runs, file: &Path) -> bool {
    let naming = NameStore::new();
    note(&naming.ownership(), file).is_ok()
        && runs.execute(&Actor::new(Role::Agent), &naming).is_ok()
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
    let says_something = !authority.is_empty() || has_runs(runs)?;
    let Some(file) = file_of(address).filter(|_| says_something) else {
        return Ok(
            "the store says nothing about anybody: there is nothing to take over".to_owned(),
        );
    };
    if is_noted(authority.ownership())? {
        return Ok("the store is yours already".to_owned());
    }
    let name = project::store_name(address);
    let question = format!(
        "The store `{name}` wasn't made by you. It says:\n{}{}Type the store's name to take it over: ",
        describe(&authority),
        if has_runs(runs)? {
            "  what its runs say of who decided in them\n"
        } else {
            ""
        }
    );
    match printer::ask(&question) {
        None => Err(Failure::new(
            "a store is taken over at a terminal, after its content was shown",
        )
        .with_help("`--store` or STATEMARK_STORE names a store as it is")),
        Some(typed) if typed.trim() == name => {
            // One whose entries have lost their beginning gets an id now.
            runs.execute(&Actor::new(Role::Agent), &NameStore::new())?;
            if let Some(name) = runs.authority()?.ownership() {
                note(&name, file)?;
            }
            Ok(format!("took over `{name}`"))
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
    let servers = authority.accepted_upstreams().map(|server| {
        format!("  the server of tools `{server}` is accepted, and started as it is declared\n")
    });
    let text: String = tokens
        .chain(signers)
        .chain(accepted)
        .chain(servers)
        .collect();
    if text.is_empty() {
        "  nothing about persons, signers, workflows and servers of tools\n".to_owned()
    } else {
        text
    }
}

/// Notes that a store is this user's.
fn note(name: &Hash, file: &Path) -> Result<(), Failure> {
    let Some(folder) = folder() else {
        return Err(Failure::new(
            "that the store is yours can't be noted: neither XDG_CONFIG_HOME nor HOME says where your configuration is",
        ));
    };
    let path = folder.join(name.to_string());
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let written = make_private_folder(&folder)
        .and_then(|()| create_new(&path))
        .and_then(|mut note| writeln!(note, "{}", file.display()));
    match written {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(files::unwritable(&path, &error))
        }
        _ => Ok(()),
    }
}

fn is_noted(name: Option<Hash>) -> Result<bool, Failure> {
    let (Some(name), Some(folder)) = (name, folder()) else {
        return Ok(false);
    };
    let path = folder.join(name.to_string());
    let note = read_own(&path, MAX_NOTE).map_err(|error| files::unreadable(&path, &error))?;
    Ok(note.is_some())
}

fn folder() -> Option<PathBuf> {
    Some(environment::user_folder(&environment::CONFIG_HOME, ".config")?.join(FOLDER))
}
