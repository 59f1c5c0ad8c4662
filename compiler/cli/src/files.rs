//! Finding, reading and writing files.

mod fresh;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use ignore::WalkBuilder;

use crate::failure::{Failure, FailureKind};

pub(crate) use fresh::Fresh;

/// A file to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    /// Its path, for the system.
    pub(crate) path: PathBuf,
    /// Whether it was named on the command line; else it was met in a folder.
    pub(crate) named: bool,
}

/// The files that some paths mean, by path, each once: files as they are, folders with every file in them that may be a
/// spec by its name.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut found: Vec<Found> = Vec::new();
    for path in paths {
        let facts = fs::metadata(path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => Failure::from(FailureKind::Missing { path: path.clone() }),
            _ => unreadable(path, cause),
        })?;
        if facts.is_dir() {
            walk(path, &mut found)?;
        } else {
            found.push(Found {
                path: path.clone(),
                named: true,
            });
        }
    }
    // A file that was met and named counts as named.
    found.sort_by_key(|file| (shown(&file.path), !file.named));
    found.dedup_by(|later, earlier| shown(&later.path) == shown(&earlier.path));
    Ok(found)
}

fn walk(folder: &Path, found: &mut Vec<Found>) -> Result<(), Failure> {
    let walker = WalkBuilder::new(folder)
        // Agents keep their skills in hidden folders; `.git` is nobody's.
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .require_git(false)
        .add_custom_ignore_filename(".statemarkignore")
        .build();
    for entry in walker {
        let entry = entry.map_err(|error| {
            let cause = error.to_string();
            let cause = error
                .into_io_error()
                .unwrap_or_else(|| io::Error::other(cause));
            unreadable(folder, cause)
        })?;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && may_be_spec(entry.path()) {
            found.push(Found {
                path: entry.into_path(),
                named: false,
            });
        }
    }
    Ok(())
}

/// Whether a file in a folder is looked at, by its name.
fn may_be_spec(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    [
        ".md",
        ".markdown",
        ".workflow.json",
        ".mmd",
        ".mermaid",
        ".scxml",
    ]
    .iter()
    .any(|ending| name.ends_with(ending))
}

/// A path as diagnostics show it: with `/`, without `./` in front.
pub(crate) fn shown(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| match part {
            Component::RootDir => String::new(),
            other => other.as_os_str().to_string_lossy().into_owned(),
        })
        .collect();
    match parts.as_slice() {
        [] => ".".to_owned(),
        [root] if root.is_empty() => "/".to_owned(),
        _ => parts.join("/"),
    }
}

/// The bytes of a file, or how many there are if they are more than `most`.
pub(crate) fn read(path: &Path, most: usize) -> Result<Result<Vec<u8>, u64>, Failure> {
    let mut file = open(path)?;
    let size = file.metadata().map(|facts| facts.len()).unwrap_or(0);
    if usize::try_from(size).map_or(true, |size| size > most) {
        return Ok(Err(size));
    }
    read_some(&mut file, most).map_err(|cause| unreadable(path, cause))
}

/// A file to be read.
pub(crate) fn open(path: &Path) -> Result<File, Failure> {
    if path.is_dir() {
        return Err(FailureKind::Folder {
            path: path.to_owned(),
        }
        .into());
    }
    File::open(path).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => Failure::from(FailureKind::Missing {
            path: path.to_owned(),
        }),
        _ => unreadable(path, cause),
    })
}

/// The bytes of standard input, or how many there are at least if they are more than `most`.
pub(crate) fn read_stdin(most: usize) -> Result<Result<Vec<u8>, u64>, Failure> {
    read_some(&mut io::stdin().lock(), most).map_err(|cause| unreadable(Path::new("-"), cause))
}

fn read_some(from: &mut impl Read, most: usize) -> io::Result<Result<Vec<u8>, u64>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    from.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Ok(Err(limit));
    }
    Ok(Ok(bytes))
}

/// Writes a file whole or not at all: to a temporary file beside it, which then takes its place.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let outcome = write_through(&temporary, path, bytes);
    if outcome.is_err() {
        // The temporary file may not even be there.
        drop(fs::remove_file(&temporary));
    }
    outcome.map_err(|cause| unwritable(path, cause))
}

fn write_through(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, path)
}

/// Writes a file that must not be there yet.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let outcome = File::create_new(path).and_then(|mut file| file.write_all(bytes));
    outcome.map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => FailureKind::Exists {
            path: path.to_owned(),
        }
        .into(),
        _ => unwritable(path, cause),
    })
}

/// Makes a folder and those around it.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|cause| unwritable(path, cause))
}

/// The nearest file or folder of that name, here or in a folder around this one.
pub(crate) fn upward(here: &Path, name: &str) -> Option<PathBuf> {
    let mut around = here.ancestors().map(|folder| folder.join(name));
    around.find(|path| path.exists())
}

fn unreadable(path: &Path, cause: io::Error) -> Failure {
    let path = path.to_owned();
    FailureKind::Unreadable { path, cause }.into()
}

fn unwritable(path: &Path, cause: io::Error) -> Failure {
    let path = path.to_owned();
    FailureKind::Unwritable { path, cause }.into()
}
