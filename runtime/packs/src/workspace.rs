//! A workspace: the folder that an agent's tools reach into, and the way to a file in it.
//!
//! What to rely on:
//!
//! - No path leaves the root, by `..`, by a link or by a race. The names of a path are resolved first; then each of them is
//!   opened without following links, so that what was checked is what is opened, whatever is put in its place meanwhile.
//! - The repository's folder, ours and stores aren't reached, under whatever name.
//! - Nothing waits: a pipe or a device isn't opened.
//! - A file is written whole or not at all: whoever reads it meanwhile, or after a crash, has the old text or the new one.
//!   Another name of the file (a hard link) keeps the old text.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use cap_fs_ext::{
    DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _,
    OpenOptionsMaybeDirExt as _, OpenOptionsSyncExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use statemark_runs::WORKTREES;
use statemark_runs::policy::is_obeyed_path;
use statemark_runs::store::is_store;
use statemark_tools::project::current_project;
use statemark_tools::{Ctx, Problem};

/// Names that no tool reaches, on whatever level, however they are spelled.
///
/// The configuration says which workflows count and which programs are checks, and the lock what other servers' tools are: a
/// person's to change.
const HIDDEN: [&str; 5] = [
    ".git",
    ".statemark",
    WORKTREES,
    "statemark.toml",
    "statemark.lock",
];

/// The root of an agent's files.
pub(crate) struct Workspace {
    root: PathBuf,
    folder: Dir,
}

/// A place for one entry of a folder, there or not. Its folder can't be replaced any more.
pub(crate) struct Place {
    folder: Dir,
    name: OsString,
    /// The path from the root, without links and dots.
    pub(crate) relative: PathBuf,
}

impl Workspace {
    /// Opens the workspace of the project that the server works on.
    ///
    /// # Errors
    ///
    /// There is no project, or its root can't be opened.
    pub(crate) fn open(ctx: &Ctx<'_>) -> Result<Self, Problem> {
        let project = current_project(ctx)?;
        let failed = |error: io::Error| {
            Problem::new(
                "no_project",
                format!("the project's root can't be opened: {error}"),
            )
        };
        let root = project.root.canonicalize().map_err(failed)?;
        let folder = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failed)?;
        Ok(Self { root, folder })
    }

    /// Returns the root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the whole path of what has a path from the root, as answers show it.
    pub(crate) fn display_path(&self, relative: &Path) -> String {
        let whole = if relative.as_os_str().is_empty() || relative == Path::new(".") {
            self.root.clone()
        } else {
            self.root.join(relative)
        };
        whole.to_string_lossy().into_owned()
    }

    /// Finds the place of something that is there. A link leads to what it is a link to.
    ///
    /// # Errors
    ///
    /// There is nothing, or it isn't in reach.
    pub(crate) fn find(&self, path: &str) -> Result<Place, Problem> {
        let relative = self.relative(path)?;
        let real = self
            .folder
            .canonicalize(&relative)
            .map_err(|error| read_problem(path, &error))?;
        self.open_place(path, &real)
    }

    /// Finds the place of something that may be there or not. Folders above it have to be there.
    ///
    /// # Errors
    ///
    /// Its folder isn't there, or it isn't in reach.
    pub(crate) fn find_or_new(&self, path: &str) -> Result<Place, Problem> {
        let relative = self.relative(path)?;
        match self.folder.canonicalize(&relative) {
            Ok(real) => return self.open_place(path, &real),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(read_problem(path, &error)),
        }
        let name = relative.file_name().ok_or_else(|| not_found(path))?;
        let above = relative.parent().unwrap_or(Path::new(""));
        let above = match self.folder.canonicalize(or_root(above)) {
            Ok(above) => above,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let message = format!(
                    "the folder of `{path}` isn't there; `create_directory` makes it, with those above it"
                );
                return Err(Problem::new("not_found", message));
            }
            Err(error) => return Err(read_problem(path, &error)),
        };
        let place = self.open_place(path, &above.join(name))?;
        if place.folder.symlink_metadata(&place.name).is_ok() {
            let message = format!("`{path}` is a link that leads nowhere, or out of the workspace");
            return Err(Problem::new("outside", message));
        }
        Ok(place)
    }

    /// Finds the place of an entry itself: a link is not followed.
    ///
    /// # Errors
    ///
    /// There is nothing, or it isn't in reach.
    pub(crate) fn find_entry(&self, path: &str) -> Result<Place, Problem> {
        let relative = self.relative(path)?;
        let Some(name) = relative.file_name() else {
            return Err(Problem::new(
                "outside",
                "the root of the workspace isn't to be moved or deleted",
            ));
        };
        let above = relative.parent().unwrap_or(Path::new(""));
        let above = self
            .folder
            .canonicalize(or_root(above))
            .map_err(|error| read_problem(path, &error))?;
        let place = self.open_place(path, &above.join(name))?;
        match place.folder.symlink_metadata(&place.name) {
            Ok(_) => Ok(place),
            Err(error) => Err(read_problem(path, &error)),
        }
    }

    /// Opens a folder.
    ///
    /// # Errors
    ///
    /// It isn't there, isn't in reach, or is none.
    pub(crate) fn open_folder(&self, path: &str) -> Result<(Dir, PathBuf), Problem> {
        let place = self.find(path)?;
        let folder = place.open_folder(path)?;
        Ok((folder, place.relative))
    }

    /// Makes a folder and those above it; returns the path from the root, and whether it is new.
    ///
    /// # Errors
    ///
    /// It isn't in reach, something else has its name, or it can't be made.
    pub(crate) fn create_folder(&self, path: &str) -> Result<(PathBuf, bool), Problem> {
        let relative = self.relative(path)?;
        check_not_obeyed(&relative, path)?;
        let mut folder = self.clone_root(path)?;
        let mut so_far = PathBuf::new();
        let mut is_new = false;
        for part in relative.components() {
            let Component::Normal(name) = part else {
                continue;
            };
            so_far.push(name);
            is_new = match folder.create_dir(name) {
                Ok(()) => true,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
                Err(error) => return Err(write_problem(path, &error)),
            };
            // A link to a folder of the workspace is one to go on in.
            let place = self.find(&so_far.to_string_lossy())?;
            folder = place.open_folder(path)?;
        }
        Ok((relative, is_new))
    }

    /// Returns a path from the root as its text says, without dots.
    ///
    /// # Errors
    ///
    /// It leads out of the root, or into what isn't to be reached.
    pub(crate) fn relative(&self, path: &str) -> Result<PathBuf, Problem> {
        if path.contains('\0') {
            return Err(outside(path, "is no path"));
        }
        let given = Path::new(path);
        let below = if given.is_absolute() {
            given
                .strip_prefix(&self.root)
                .map_err(|_| outside(path, "leads out of the workspace"))?
        } else {
            given
        };
        let mut relative = PathBuf::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => relative.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(outside(path, "has `..` in it"));
                }
            }
        }
        check_names(path, &relative)?;
        Ok(if relative.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            relative
        })
    }

    /// Opens the folder of a path without links, name by name, following no link.
    fn open_place(&self, path: &str, real: &Path) -> Result<Place, Problem> {
        check_names(path, real)?;
        let mut parts: Vec<&OsStr> = real
            .components()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        let name = parts.pop().unwrap_or(OsStr::new("."));
        let mut folder = self.clone_root(path)?;
        for part in parts {
            folder = folder
                .open_dir_nofollow(part)
                .map_err(|error| read_problem(path, &error))?;
        }
        let place = Place {
            folder,
            name: name.to_owned(),
            relative: real
                .components()
                .filter(|part| *part != Component::CurDir)
                .collect(),
        };
        place.check_is_no_store(path)?;
        Ok(place)
    }

    fn clone_root(&self, path: &str) -> Result<Dir, Problem> {
        self.folder
            .try_clone()
            .map_err(|error| read_problem(path, &error))
    }
}

impl Place {
    /// Returns what is known of the entry, if it is there. A link isn't followed.
    pub(crate) fn facts(&self) -> Option<Metadata> {
        self.folder.symlink_metadata(&self.name).ok()
    }

    /// Opens the entry as a folder.
    pub(crate) fn open_folder(&self, path: &str) -> Result<Dir, Problem> {
        self.folder
            .open_dir_nofollow(&self.name)
            .map_err(|error| match error.kind() {
                ErrorKind::NotADirectory => {
                    Problem::new("not_a_directory", format!("`{path}` is no folder"))
                }
                _ => read_problem(path, &error),
            })
    }

    /// Opens the entry as a file.
    ///
    /// # Errors
    ///
    /// It is no regular file, or can't be read.
    pub(crate) fn open_file(&self, path: &str) -> Result<(File, Metadata), Problem> {
        open_regular(&self.folder, &self.name).map_err(|error| match error.kind() {
            ErrorKind::IsADirectory => Problem::new("not_a_file", format!("`{path}` is a folder")),
            ErrorKind::InvalidInput => {
                let message = format!("`{path}` is a pipe, a device or a link, and no file");
                Problem::new("not_a_file", message)
            }
            _ => read_problem(path, &error),
        })
    }

    /// Reads a whole file, of at most so many bytes.
    ///
    /// # Errors
    ///
    /// It can't be read, or is larger.
    pub(crate) fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, Problem> {
        let (file, facts) = self.open_file(path)?;
        let too_large = |size: u64| {
            let message = format!("`{path}` has {size} bytes; at most {most} are taken");
            Problem::new("too_large", message)
        };
        if facts.len() > most {
            return Err(too_large(facts.len()));
        }
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| read_problem(path, &error))?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > most {
            return Err(too_large(size));
        }
        Ok(bytes)
    }

    /// Puts a file in the entry's place, whole or not at all. It gets the permissions of the one before it.
    ///
    /// # Errors
    ///
    /// It can't be written, or something else than a file is there.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Problem> {
        let before = self.facts();
        if before.as_ref().is_some_and(|facts| !facts.is_file()) {
            return Err(Problem::new("not_a_file", format!("`{path}` is no file")));
        }
        let failed = |error: io::Error| write_problem(path, &error);
        // No name of ours can be someone else's: it is made new.
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let temporary = format!(".statemark-{}-{count}.tmp", std::process::id());
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        let written = || -> io::Result<()> {
            let mut file = self.folder.open_with(&temporary, &options)?;
            file.write_all(bytes)?;
            if let Some(facts) = &before {
                file.set_permissions(facts.permissions())?;
            }
            file.sync_all()?;
            self.folder.rename(&temporary, &self.folder, &self.name)
        };
        if let Err(error) = written() {
            // It may not be there.
            drop(self.folder.remove_file(&temporary));
            return Err(failed(error));
        }
        // The file is written. Its name survives a loss of power, too, where folders can be synced.
        let mut options = OpenOptions::new();
        options.read(true).maybe_dir(true);
        drop(
            self.folder
                .open_with(".", &options)
                .and_then(|folder| folder.sync_all()),
        );
        Ok(())
    }

    /// Renames the entry, whatever it is.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn rename_to(&self, other: &Self) -> io::Result<()> {
        self.folder.rename(&self.name, &other.folder, &other.name)
    }

    /// Removes a file, a link, or a folder with all that is in it.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match self.folder.symlink_metadata(&self.name)?.is_dir() {
            true => self.folder.remove_dir_all(&self.name),
            false => self.folder.remove_file(&self.name),
        }
    }

    /// Makes the entry a folder.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn create_folder(&self) -> io::Result<()> {
        self.folder.create_dir(&self.name)
    }

    /// Refuses a store, whoever's it is, and what stands beside it under its name.
    fn check_is_no_store(&self, path: &str) -> Result<(), Problem> {
        if belongs_to_store(&self.folder, &self.name) {
            return Err(outside(path, "belongs to a store of runs"));
        }
        Ok(())
    }
}

/// Reports whether an entry is a store, or a file under its name: `runs.db`, `runs.db-wal`.
pub(crate) fn belongs_to_store(folder: &Dir, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let ends = name.match_indices('-').map(|(at, _)| at);
    let bases = ends.chain([name.len()]).filter_map(|end| name.get(..end));
    bases
        .filter(|base| !base.is_empty())
        .any(|base| open_regular(folder, OsStr::new(base)).is_ok_and(|(file, _)| is_store(file)))
}

/// Opens a regular file of a folder. Follows no link and waits for nothing.
pub(crate) fn open_regular(folder: &Dir, name: &OsStr) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let file = folder.open_with(name, &options)?;
    let facts = file.metadata()?;
    if facts.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !facts.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    Ok((file, facts))
}

/// Reports whether two descriptions are of one file.
pub(crate) fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.dev() == other.dev() && one.ino() == other.ino()
}

/// Returns whether no tool reaches what has a name.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    HIDDEN.contains(&name.as_str())
}

/// Refuses to change what agents' clients obey.
pub(crate) fn check_not_obeyed(relative: &Path, path: &str) -> Result<(), Problem> {
    // By the name that was given, too: a client's folder may be a link.
    if !is_obeyed_path(relative) && !is_obeyed_path(Path::new(path)) {
        return Ok(());
    }
    let message = format!(
        "`{path}` is what agents' clients obey, such as settings, hooks and instructions: a person changes it"
    );
    Err(Problem::new("outside", message))
}

/// The folder of what commands have printed, in `.statemark`: its files are an agent's to read.
pub(crate) const OUTPUT: &str = ".statemark/output";

fn check_names(path: &str, below: &Path) -> Result<(), Problem> {
    let is_output = || {
        let parent = below.parent().and_then(Path::to_str);
        parent == Some(OUTPUT) && !below.file_name().is_some_and(is_hidden)
    };
    if !is_output() && below.iter().any(is_hidden) {
        return Err(outside(path, "belongs to the repository or to the runs"));
    }
    Ok(())
}

/// Returns a path that can be opened: `.` for an empty one.
fn or_root(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

pub(crate) fn outside(path: &str, fault: &str) -> Problem {
    let message = format!(
        "`{path}` {fault}; give a path below the workspace, such as `src/lib.rs` (`list_allowed_roots` tells where it is)"
    );
    Problem::new("outside", message)
}

fn not_found(path: &str) -> Problem {
    Problem::new("not_found", format!("there is no `{path}`"))
}

pub(crate) fn read_problem(path: &str, error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => not_found(path),
        // cap-std's error for what leaves the root.
        ErrorKind::PermissionDenied => {
            let message = format!("`{path}` can't be read, or leads out of the workspace: {error}");
            Problem::new("outside", message)
        }
        _ => Problem::new("not_read", format!("`{path}` can't be read: {error}")),
    }
}

pub(crate) fn write_problem(path: &str, error: &io::Error) -> Problem {
    Problem::new("not_written", format!("`{path}` can't be written: {error}"))
}
