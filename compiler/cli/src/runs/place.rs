//! Where runs are kept: what the flag says, else the environment, else `statemark.toml`, else the folder `.statemark` that
//! is found upward, else one that is made at the root of the repository or here.

use std::path::{Path, PathBuf};

use statemark_runs::Hash;
use statemark_stores::file_of;

use crate::failure::{Failure, FailureKind};
use crate::{config, files};

const VARIABLE: &str = "STATEMARK_STORE";

/// The folder of a project's runs.
const FOLDER: &str = ".statemark";

/// How long the id of a project is that names none. Why: no two folders of a machine share so much of a hash.
const DIGITS: usize = 16;

/// The file in it.
const FILE: &str = "runs.db";

/// The address of the store; a folder is made for one that nobody names.
pub(super) fn find(flag: Option<&str>) -> Result<String, Failure> {
    let (address, folder) = look(flag)?;
    if let Some(folder) = folder {
        made(folder)?;
    }
    Ok(address)
}

/// The address of a store that is there, as far as that can be seen.
pub(super) fn existing(flag: Option<&str>) -> Result<String, Failure> {
    let (address, _) = look(flag)?;
    check_exists(&address)?;
    Ok(address)
}

/// Whether the store is the project's own, and nobody has made it yet.
pub(super) fn is_unmade(flag: Option<&str>) -> Result<bool, Failure> {
    let named = flag.is_some() || std::env::var(VARIABLE).is_ok_and(|it| !it.is_empty());
    let (address, _) = look(flag)?;
    Ok(!named && check_exists(&address).is_err())
}

/// Opening a file that isn't there would make an empty store.
pub(super) fn check_exists(address: &str) -> Result<(), Failure> {
    match file_of(address) {
        Some(path) if !path.exists() => {
            let path = path.to_owned();
            Err(FailureKind::NoStore { path }.into())
        }
        _ => Ok(()),
    }
}

/// The address of the store, and the folder that it is in if nobody names it.
fn look(flag: Option<&str>) -> Result<(String, Option<PathBuf>), Failure> {
    if let Some(address) = flag {
        return Ok((address.to_owned(), None));
    }
    if let Ok(address) = std::env::var(VARIABLE)
        && !address.is_empty()
    {
        return Ok((address, None));
    }
    let here = here()?;
    if let Some((path, config)) = config::find(&here)?
        && let Some(address) = config.store
    {
        return Ok((beside(&path, address), None));
    }
    let folder = around(&here);
    let address = format!("sqlite:{}", folder.join(FILE).display());
    Ok((address, Some(folder)))
}

/// The folder of what the project keeps for itself: beside its `statemark.toml` if there is one, else as for runs. It need
/// not be there.
pub(super) fn folder() -> Result<PathBuf, Failure> {
    let here = here()?;
    let config = config::find(&here)?;
    let beside = config.and_then(|(path, _)| Some(path.parent()?.join(FOLDER)));
    Ok(beside.unwrap_or_else(|| around(&here)))
}

/// The same, and it is there.
pub(super) fn make_folder() -> Result<PathBuf, Failure> {
    made(folder()?)
}

pub(super) fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|cause| {
        let path = PathBuf::from(".");
        FailureKind::Unreadable { path, cause }.into()
    })
}

/// The nearest folder of runs upward; what lies beyond the root of the repository is another project's.
fn around(here: &Path) -> PathBuf {
    let repository = repository(here);
    for folder in here.ancestors() {
        let own = folder.join(FOLDER);
        if own.is_dir() || Some(folder) == repository {
            return own;
        }
    }
    here.join(FOLDER)
}

/// The project's root: the nearest folder upward with a `statemark.toml`, at most up to the repository's root, which it is
/// else; outside of repositories the nearest folder upward that keeps runs, else the current one.
pub(super) fn root(here: &Path) -> &Path {
    let repository = repository(here);
    let is_root = |folder: &&Path| config::is_in(folder) || Some(*folder) == repository;
    let keeps_runs = |folder: &&Path| folder.join(FOLDER).is_dir();
    let root = here.ancestors().find(is_root);
    root.or_else(|| here.ancestors().find(keeps_runs))
        .unwrap_or(here)
}

/// The root of the repository around a folder, found as git finds it: it doesn't go up into the folders that
/// `GIT_CEILING_DIRECTORIES` lists.
fn repository(here: &Path) -> Option<&Path> {
    let listed = std::env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let ceilings: Vec<PathBuf> = std::env::split_paths(&listed).collect();
    let is_ceiling = |folder: &Path| ceilings.iter().any(|it| it == folder);
    let mut around = here.ancestors();
    let mut around = around
        .by_ref()
        .take_while(|it| *it == here || !is_ceiling(it));
    around.find(|it| it.join(".git").exists())
}

/// The id of the project in a folder: what its `statemark.toml` says, else a hash of where its repository lies, else of
/// where it lies itself.
pub(super) fn project(path: &str) -> Result<String, Failure> {
    let unreadable = |cause| FailureKind::Unreadable {
        path: path.into(),
        cause,
    };
    let folder = std::path::absolute(path).map_err(unreadable)?;
    if let Some((_, config)) = config::find(&folder)?
        && let Some(id) = config.project
    {
        return Ok(id);
    }
    let root = repository(&folder).unwrap_or(&folder);
    // What isn't there has no other name, either.
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let hash = Hash::digest(root.as_os_str().as_encoded_bytes()).to_string();
    Ok(hash.chars().take(DIGITS).collect())
}

fn made(folder: PathBuf) -> Result<PathBuf, Failure> {
    if !folder.is_dir() {
        files::make_folder(&folder)?;
        // What is in it is nobody else's.
        files::write(&folder.join(".gitignore"), b"*\n")?;
    }
    Ok(folder)
}

/// An address in a configuration: a file is meant as seen from there.
fn beside(config: &Path, address: String) -> String {
    let is_elsewhere = address.contains("://") || address == "memory:";
    match config.parent() {
        Some(folder) if !is_elsewhere => {
            let file = address.strip_prefix("sqlite:").unwrap_or(&address);
            format!("sqlite:{}", folder.join(file).display())
        }
        _ => address,
    }
}
