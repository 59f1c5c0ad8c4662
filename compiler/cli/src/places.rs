//! Places outside of a project: those that this user allows it to use, and the user's own files.
//!
//! A repository may have been cloned: what its configuration names outside of itself counts once a line in the user's own
//! list allows it. The list has a folder, a database or a server in each line. The user's tokens and keys decide, and
//! nothing that is confined to the project reads them.
//!
//! Deliberately not here: which store a project has, and who may do what in it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use statemark_runs::check::CheckPlace;
use statemark_runs::files::read_own;
use statemark_runs::find_working_copy;
use statemark_stores::{Judgement, judge, place_of};

use crate::environment::{self, user_folder};
use crate::failure::Failure;
use crate::files;

/// The list of places outside of projects that a person allows projects to use.
///
/// They are folders, servers of stores, and servers that agents may visit.
/// It is in the person's own configuration, so that no repository brings it along. A line has the path of a folder, or a
/// server as `postgres://HOST` or `http://HOST:PORT`.
pub(crate) const ALLOWED_PLACES: &str = "statemark/places";

/// Largest such list. Unit: bytes. Why: it has a few lines.
const MAX_ALLOWED: u64 = 64 << 10;

/// The file in the user's own configuration whose first line names the file of the key that signs.
const SIGNING_KEY: &str = "statemark/signing-key";

/// Largest such file. Unit: bytes. Why: it has a path.
const MAX_FILE: usize = 64 << 10;

/// Fails if a configuration puts the store outside of its project, and no person allows that.
pub(crate) fn check_store_inside(config: &Path, file: &Path) -> Result<(), Failure> {
    let folder = config.parent().unwrap_or_else(|| Path::new("."));
    let project = find_working_copy(folder).unwrap_or(folder);
    let store = file.parent().unwrap_or(folder);
    if allowed_folders()?
        .iter()
        .any(|allowed| lies_in(store, allowed))
        || lies_in(store, project)
    {
        return Ok(());
    }
    let (config, file) = (files::display(config), files::display(file));
    Err(Failure::new(format!(
        "`{config}` puts the store outside of its project: `{file}`"
    ))
    .with_help(format!(
        "if you mean that, `--store` or STATEMARK_STORE names it, and a line with its folder in `~/.config/{ALLOWED_PLACES}` allows it for good"
    )))
}

/// Fails if a configuration puts the store on a server, and no person allows that.
///
/// A cloned repository could send what its runs say, and the user's password, to any server; and in a database of the
/// user's own it would make tables, or share another project's runs.
pub(crate) fn check_database_allowed(config: &Path, address: &str) -> Result<(), Failure> {
    let Some(place) = place_of(address) else {
        // `memory:`, or what can't be opened at all.
        return Ok(());
    };
    let (config, database) = (files::display(config), &place.database);
    let list = allowed_lines()?;
    let mut lacking = None;
    for line in list.lines() {
        match judge(line.trim(), address) {
            Judgement::Allowed => return Ok(()),
            Judgement::Lacks(what) => lacking = Some(what),
            Judgement::Other => {}
        }
    }
    if let Some(what) = lacking {
        return Err(Failure::new(format!(
            "`{config}` has `{database}` checked less than you want: its address {what}"
        ))
        .with_help(format!(
            "what you want is in `~/.config/{ALLOWED_PLACES}`, or in PGSSLMODE and PGSSLROOTCERT"
        )));
    }
    Err(Failure::new(format!(
        "`{config}` puts the store into a database that nobody has allowed: `{database}`"
    ))
    .with_help(format!(
        "if you trust it with your runs, `--store` or STATEMARK_STORE names the store, and the line `{}` in `~/.config/{ALLOWED_PLACES}` allows {} for good",
        place.line(),
        if place.server.is_some() { "the server" } else { "the database" },
    )))
}

/// Returns the servers inside of the own network that this user allows tools to reach.
pub(crate) fn allowed_servers() -> Result<Vec<String>, Failure> {
    let lines = allowed_lines()?;
    let lines = lines.lines().map(|line| line.trim().trim_end_matches('/'));
    let servers = lines.filter(|line| line.starts_with("http://") || line.starts_with("https://"));
    Ok(servers.map(str::to_owned).collect())
}

/// Returns the folders outside of projects that this user allows projects to use.
///
/// # Errors
///
/// The list can't be read, or isn't this user's own file.
pub(crate) fn allowed_folders() -> Result<Vec<PathBuf>, Failure> {
    let text = allowed_lines()?;
    let lines = text.lines().map(str::trim).map(PathBuf::from);
    // A relative one would mean another folder in each project.
    Ok(lines.filter(|folder| folder.is_absolute()).collect())
}

/// Returns the list of places that this user allows projects to use.
fn allowed_lines() -> Result<String, Failure> {
    let Some(folder) = user_folder(&environment::CONFIG_HOME, ".config") else {
        return Ok(String::new());
    };
    let path = folder.join(ALLOWED_PLACES);
    let text = read_own(&path, MAX_ALLOWED).map_err(|error| files::unreadable(&path, &error))?;
    Ok(text.unwrap_or_default())
}

/// Most links that are followed. Why: as many as the system follows.
const MOST_LINKS: usize = 40;

/// Returns a path with the links in it resolved, also those that lead to what isn't there yet.
///
/// What leads up from a folder that doesn't exist stays as it is: clients that resolve it by its text alone get elsewhere.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match resolve_to_link(&path) {
            Ok(resolved) => return resolved,
            Err(linked) => path = linked,
        }
    }
    path
}

/// Returns a path with the links in what exists of it resolved.
///
/// # Errors
///
/// Where its first link leads that leads to nothing.
fn resolve_to_link(path: &Path) -> Result<PathBuf, PathBuf> {
    let mut rest = Vec::new();
    let mut parts = path.components();
    loop {
        if let Ok(real) = parts.as_path().canonicalize() {
            let next: Option<&OsStr> = rest.last().copied();
            let target = next.and_then(|next| fs::read_link(real.join(next)).ok());
            let (from, skipped) = match &target {
                Some(target) => (real.join(target), 1),
                None => (real, 0),
            };
            let more = rest.iter().rev().skip(skipped);
            let whole = more.fold(from, |path, part| path.join(part));
            return if target.is_some() {
                Err(whole)
            } else {
                Ok(whole)
            };
        }
        match parts.next_back() {
            Some(part) => rest.push(part.as_os_str()),
            None => return Ok(path.to_owned()),
        }
    }
}

/// Reports whether a folder, which need not exist, is another or lies in it, by links or without.
fn lies_in(folder: &Path, other: &Path) -> bool {
    let Ok(other) = other.canonicalize() else {
        return false;
    };
    let whole = resolve(folder);
    // What doesn't exist leads nowhere, unless it leads up.
    let leads_up = whole.components().any(|part| part == Component::ParentDir);
    whole.starts_with(other) && !leads_up
}

/// Returns the place of checks with a root.
pub(crate) fn check_place(root: &Path) -> Result<CheckPlace, Failure> {
    let mut place = CheckPlace::launched(root, allowed_folders()?);
    place.hidden = deciding_files();
    Ok(place)
}

/// Returns the files of this user's with which somebody decides in the user's name.
///
/// They are tokens, the key that signs, and passwords and keys of stores, whether they are there or not.
fn deciding_files() -> Vec<PathBuf> {
    let key = signing_key().ok().flatten();
    // The file of a public key stands for the private one beside it.
    let private = key.as_ref().map(|key| match key.extension() {
        Some(extension) if extension == "pub" => key.with_extension(""),
        _ => key.clone(),
    });
    let passwords = environment::read("PGPASSFILE").map(PathBuf::from);
    let home = environment::home();
    let in_home = |name: &str| Some(home.as_ref()?.join(name));
    let files = [
        tokens_file(),
        private,
        passwords,
        in_home(".pgpass"),
        in_home(".postgresql/postgresql.key"),
    ];
    files.into_iter().flatten().collect()
}

/// Returns the file of this user's own tokens.
pub(crate) fn tokens_file() -> Option<PathBuf> {
    let folder = user_folder(&environment::CONFIG_HOME, ".config")?;
    Some(folder.join("statemark/token"))
}

/// Returns the file of the key that signs for this user.
///
/// The variable names it, else the user's own configuration.
///
/// # Errors
///
/// The configuration can't be read, or doesn't say a whole path.
pub(crate) fn signing_key() -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = environment::SIGNING_KEY.text() {
        return Ok(Some(PathBuf::from(path)));
    }
    let Some(folder) = user_folder(&environment::CONFIG_HOME, ".config") else {
        return Ok(None);
    };
    let own = folder.join(SIGNING_KEY);
    if !own.exists() {
        return Ok(None);
    }
    let bytes = files::read_whole(&own, MAX_FILE)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().next().unwrap_or_default().trim();
    let path = match line.strip_prefix("~/") {
        Some(rest) => user_folder(&environment::HOME, "").map(|home| home.join(rest)),
        None => Some(PathBuf::from(line)),
    };
    match path.filter(|it| it.is_absolute()) {
        Some(path) => Ok(Some(path)),
        None => {
            let own = files::display(&own);
            Err(Failure::new(format!(
                "the first line of `{own}` isn't the whole path of a key"
            ))
            .with_help("write the file of your key there, such as `~/.ssh/id_ed25519.pub`"))
        }
    }
}
