//! Working copies, saved and restored with git's plumbing.
//!
//! No branch, index or stash is touched: a working copy is read into a temporary index, and becomes a commit without a
//! parent in a [git directory of our own](directory). Saved are tracked files and files that are neither tracked nor ignored,
//! symbolic links as links, executable bits, which files are for their owner alone, and every byte as it is, without
//! filters or conversion of line ends. Not saved are ignored files, empty folders, and folders that are repositories of
//! their own; pipes, sockets and devices, which have no content to save; and files that are too large. Of these, the
//! tracked ones and the large ones are listed in the record.
//!
//! What to rely on: git reads no configuration of the repository, runs none of its programs and asks no other machine, and
//! no call of it takes for ever ([`child`]).
//! Stores, what stands beside them, and folders `.statemark` are in no checkpoint, and restoring changes none of them.
//!
//! Deliberately not here: the records of checkpoints (`runs/checkpoint.rs`, `runs/restore.rs`).

pub(crate) mod borrower;
mod changes;
mod child;
mod directory;
mod protected;
mod save;
mod theirs;
mod view;
pub(crate) mod worktree;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use changes::{FileChange, FileChanges, FileFate};
use child::Obstacles;
pub(crate) use directory::WorkingCopyLock;
use directory::{OwnGit, Session};
use protected::Protected;
pub(crate) use save::Saved;
use theirs::Theirs;
pub use theirs::find_working_copy;
pub use view::RepositoryView;
pub use worktree::{WORKTREES, find_worktree, project_of_worktree};

use crate::hash::Hash;

/// An operation that git couldn't do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {cause}")]
pub struct GitError {
    doing: &'static str,
    cause: String,
}

impl GitError {
    /// Creates an error of what was done, and why it couldn't be.
    pub(crate) fn new(doing: &'static str, cause: impl fmt::Display) -> Self {
        failed(doing, cause)
    }
}

fn failed(doing: &'static str, cause: impl fmt::Display) -> GitError {
    let cause = cause.to_string();
    GitError { doing, cause }
}

/// The variables of the environment that git gets, besides those that lead it to our own directory.
///
/// Why these: git's programs, temporary files, and the person's own list of ignored files are found by them.
const VARIABLES: [&str; 6] = [
    "HOME",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "XDG_CONFIG_HOME",
];

/// Settings under which git saves every byte, link and bit.
///
/// No hook runs, and a power failure loses nothing.
const SETTINGS: [&str; 16] = [
    "core.attributesFile=/dev/null",
    "core.autocrlf=false",
    "core.fileMode=true",
    "core.fsmonitor=false",
    "core.fsync=all",
    "core.fsyncMethod=batch",
    "core.hooksPath=/dev/null",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    "core.symlinks=true",
    "core.untrackedCache=false",
    "gc.auto=0",
    "index.sparse=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// A repository with a working copy.
#[derive(Debug)]
pub(crate) struct Repository {
    folder: PathBuf,
    theirs: Theirs,
    own: OwnGit,
    session: Session,
    protected: Protected,
    /// The empty tree, from which git reads attributes, so that there are none.
    empty_tree: String,
    /// The folders of which git may read any file.
    read: Vec<PathBuf>,
}

/// Waits for the lock under which one process at a time restores files of a working copy.
///
/// # Errors
///
/// The file can't be opened or locked, or another process holds it for too long.
pub(crate) fn lock_working_copy(folder: &Path) -> Result<WorkingCopyLock, GitError> {
    let (folder, theirs) = find(folder)?;
    OwnGit::open(keeper(&folder), theirs.format)?.lock()
}

/// Returns the working copy whose folder of ours has the checkpoints of a working copy.
///
/// Those of a worktree of a run are the project's, and outlast the worktree.
fn keeper(folder: &Path) -> &Path {
    let project = project_of_worktree(folder);
    project.map_or(folder, |it| find_working_copy(it).unwrap_or(it))
}

/// Finds the working copy that a folder is in, and its repository.
fn find(folder: &Path) -> Result<(PathBuf, Theirs), GitError> {
    let doing = "looking for the repository";
    if !folder.is_dir() {
        let cause = format!("there is no folder {}", folder.display());
        return Err(failed(doing, cause));
    }
    let real = fs::canonicalize(folder).map_err(|error| failed(doing, error))?;
    Theirs::find(&real).ok_or_else(|| {
        let folder = folder.display();
        failed(
            doing,
            format!("`{folder}` is in no git repository: `git init` makes one"),
        )
    })
}

impl Repository {
    /// Opens the repository that a folder is in, for the runs of the store in a file.
    pub(crate) fn open(folder: &Path, store: Option<&Path>) -> Result<Self, GitError> {
        let (folder, theirs) = find(folder)?;
        let own = OwnGit::open(keeper(&folder), theirs.format)?;
        theirs.check()?;
        let session = own.begin(theirs.format, Some(&theirs.exclude()))?;
        let mut repository = Self {
            protected: Protected::new(&folder, store),
            read: theirs.folders(),
            folder,
            theirs,
            own,
            session,
            empty_tree: String::new(),
        };
        let words = ["hash-object", "-t", "tree", "--stdin"];
        let empty_tree = repository.run("looking for the repository", &words, None, b"")?;
        repository.empty_tree = line(&empty_tree);
        Ok(repository)
    }

    /// Returns the working copy's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the commit that is checked out, if there is one.
    pub(crate) fn head(&self) -> Option<String> {
        self.theirs.head()
    }

    /// Commits a tree, under a reference that only this run uses.
    pub(crate) fn commit(
        &self,
        tree: &str,
        message: &str,
        time: u64,
        reference: &str,
    ) -> Result<String, GitError> {
        let doing = "keeping the checkpoint";
        let date = format!("{} +0000", time / 1000);
        let mut command = self.command(None);
        command
            .args(["commit-tree", "-F", "-", tree])
            .env("GIT_AUTHOR_NAME", "statemark")
            .env("GIT_AUTHOR_EMAIL", "statemark")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_NAME", "statemark")
            .env("GIT_COMMITTER_EMAIL", "statemark")
            .env("GIT_COMMITTER_DATE", &date);
        let commit = line(&self.output(doing, command, message.as_bytes())?);
        self.own.keep(reference, &commit)?;
        Ok(commit)
    }

    /// Returns the tree of a commit.
    pub(crate) fn commit_tree(&self, commit: &str) -> Result<String, GitError> {
        let doing = "looking for the checkpoint's commit";
        if !is_object_id(commit) || !self.fetch(commit)? {
            let cause = format!("the repository has no commit {commit}");
            return Err(failed(doing, cause));
        }
        let named = format!("{commit}^{{tree}}");
        let words = ["rev-parse", "--verify", "--quiet", &named];
        Ok(line(&self.run(doing, &words, None, b"")?))
    }

    /// Copies an object with all that it leads to, unless it is there, and reports whether it is there.
    ///
    /// Former versions kept checkpoints among the objects of the repository itself.
    fn fetch(&self, object: &str) -> Result<bool, GitError> {
        let doing = "taking a checkpoint over from the repository";
        let words = ["cat-file", "-e", object];
        let is_there = |mut command: Command| {
            command.args(words);
            child::succeeds(doing, command, self.obstacles(&[]))
        };
        if is_there(self.command(None))? {
            return Ok(true);
        }
        if !is_there(self.over_theirs())? {
            return Ok(false);
        }
        let mut command = self.over_theirs();
        command.args(["pack-objects", "--revs", "--quiet"]);
        command.arg(self.own.objects().join("pack/pack"));
        self.output(doing, command, format!("{object}\n").as_bytes())?;
        Ok(true)
    }

    /// Returns a command that reads the repository's own objects, too.
    fn over_theirs(&self) -> Command {
        let mut command = self.command(None);
        command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.theirs.objects());
        command
    }

    fn run(
        &self,
        doing: &'static str,
        words: &[&str],
        index: Option<&Path>,
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let mut command = self.command(index);
        command.args(words);
        self.output(doing, command, input)
    }

    fn output(
        &self,
        doing: &'static str,
        command: Command,
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        child::output(doing, command, input, self.obstacles(&[]))
    }

    /// Returns what a call that is told to read some files may come to wait for.
    fn obstacles<'a>(&'a self, files: &'a [PathBuf]) -> Obstacles<'a> {
        Obstacles {
            folder: Some(&self.folder),
            folders: &self.read,
            files,
        }
    }

    /// Returns a command that works in a directory of our own.
    ///
    /// It sees nothing of the environment that leads elsewhere.
    fn command(&self, index: Option<&Path>) -> Command {
        let mut command = plain_git();
        command.current_dir(&self.folder);
        if !self.empty_tree.is_empty() {
            command.arg(format!("--attr-source={}", self.empty_tree));
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .env("GIT_ALLOW_PROTOCOL", "")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_DIR", self.session.path())
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OBJECT_DIRECTORY", self.own.objects())
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_WORK_TREE", &self.folder);
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    }

    /// Returns the list of ignored files that the person's or the system's configuration names, if any.
    fn ignore_list(&self) -> Option<String> {
        let mut command = plain_git();
        command
            .current_dir(&self.folder)
            .env("GIT_DIR", self.session.path())
            .args(["config", "--type=path", "--get", "core.excludesFile"]);
        for name in [
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_CONFIG_SYSTEM",
        ] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        let path = self.output("reading what is ignored", command, b"").ok()?;
        Some(line(&path)).filter(|path| !path.is_empty())
    }
}

/// Returns git without what the environment says, as far as it isn't needed.
fn plain_git() -> Command {
    let mut command = Command::new("git");
    command.env_clear().env("LC_ALL", "C");
    for name in VARIABLES {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    // A relative folder of programs would be one of the working copy.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
    command
}

/// Reports whether a text is the id of an object, and no option or expression.
fn is_object_id(text: &str) -> bool {
    [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the git reference of a run's checkpoint. Escapes characters that git forbids.
pub(crate) fn reference(run: &str, seq: u64) -> String {
    let mut name = String::new();
    for byte in run.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'-' && !name.is_empty()) {
            name.push(char::from(byte));
        } else {
            name += &format!("%{byte:02x}");
        }
    }
    if name.len() > 200 {
        // File systems limit the length of a name.
        name = Hash::digest(run.as_bytes()).to_string();
    }
    format!("refs/statemark/{name}/{seq}")
}

/// Removes the newline at the end of an answer. Only that one: a folder's name may contain newlines.
fn trim_newline(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

/// Returns an answer of one line as a string.
fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(trim_newline(bytes)).into_owned()
}

#[cfg(unix)]
fn path_from_git(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_from_git(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Returns a path inside a repository as git writes it.
#[cfg(unix)]
fn path_to_git(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn path_to_git(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}
