//! Working copies, saved and restored with git's plumbing.
//!
//! No branch, index or stash is touched: a working copy is read into a temporary index, and becomes a commit without a
//! parent under `refs/statemark/`. Saved are tracked files and files that are neither tracked nor ignored, symbolic links as
//! links, executable bits, and every byte as it is, without filters or conversion of line ends. Not saved are ignored files,
//! empty folders, and folders that are repositories of their own.
//!
//! Deliberately not here: the records of checkpoints (`runs/checkpoint.rs`, `runs/restore.rs`).

mod changes;
mod save;

use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use changes::{FileChange, FileChanges, FileFate};
pub(crate) use save::Saved;

use crate::hash::Hash;

/// An operation that git couldn't do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {cause}")]
pub struct GitError {
    doing: &'static str,
    cause: String,
}

fn failed(doing: &'static str, cause: impl fmt::Display) -> GitError {
    let cause = cause.to_string();
    GitError { doing, cause }
}

/// Environment variables that would lead git to another repository or index.
const REDIRECTING_VARIABLES: [&str; 10] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_WORK_TREE",
];

/// Settings under which git saves every byte, link and bit.
///
/// No hook runs, and a power failure loses nothing.
const SETTINGS: [&str; 15] = [
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
    "submodule.recurse=false",
];

/// A repository with a working copy.
#[derive(Debug)]
pub(crate) struct Repository {
    folder: PathBuf,
    git: PathBuf,
    /// The empty tree, from which git reads attributes, so that there are none.
    empty_tree: String,
}

/// A lock on a working copy; dropping it releases the lock.
pub(crate) struct WorkingCopyLock {
    _file: File,
}

/// Waits for the lock under which one process at a time restores files of a working copy.
///
/// The lock is on a file in the system's temporary folder, named after the working copy's path: in the repository the file
/// would be saved along. The kernel releases the lock of a process that dies.
///
/// # Errors
///
/// The file can't be opened or locked.
pub(crate) fn lock_working_copy(folder: &Path) -> Result<WorkingCopyLock, GitError> {
    let doing = "the working copy can't be locked";
    let absolute = fs::canonicalize(folder).map_err(|error| failed(doing, error))?;
    let name = Hash::digest(absolute.as_os_str().as_encoded_bytes()).to_string();
    let path = std::env::temp_dir().join(format!("statemark-{name}.lock"));
    let mut options = File::options();
    let options = options.create(true).truncate(false).write(true);
    let file = options.open(path).map_err(|error| failed(doing, error))?;
    file.lock().map_err(|error| failed(doing, error))?;
    Ok(WorkingCopyLock { _file: file })
}

impl Repository {
    /// Opens the repository that a folder is in.
    pub(crate) fn open(folder: &Path) -> Result<Self, GitError> {
        let doing = "looking for the repository";
        if !folder.is_dir() {
            return Err(failed(
                doing,
                format!("there is no folder {}", folder.display()),
            ));
        }
        let mut repository = Self {
            folder: folder.to_path_buf(),
            git: PathBuf::new(),
            empty_tree: String::new(),
        };
        let top = repository.run(doing, &["rev-parse", "--show-toplevel"], None, b"")?;
        let git = repository.run(doing, &["rev-parse", "--absolute-git-dir"], None, b"")?;
        let words = ["hash-object", "-t", "tree", "--stdin"];
        let empty_tree = repository.run(doing, &words, None, b"")?;
        repository.folder = path_from_git(trim_newline(&top));
        repository.git = path_from_git(trim_newline(&git));
        repository.empty_tree = line(&empty_tree);
        Ok(repository)
    }

    /// Returns the working copy's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the commit that is checked out, if there is one.
    pub(crate) fn head(&self) -> Option<String> {
        let words = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let head = self.run("reading what is checked out", &words, None, b"");
        head.ok().map(|head| line(&head))
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
        let commit = line(&output(doing, command, message.as_bytes())?);
        let words = ["update-ref", "--no-deref", reference, &commit];
        self.run(doing, &words, None, b"")?;
        Ok(commit)
    }

    /// Returns the tree of a commit.
    pub(crate) fn commit_tree(&self, commit: &str) -> Result<String, GitError> {
        let named = format!("{commit}^{{tree}}");
        let words = ["rev-parse", "--verify", "--quiet", &named];
        let doing = "looking for the checkpoint's commit";
        match self.run(doing, &words, None, b"") {
            Ok(tree) => Ok(line(&tree)),
            Err(_) => Err(failed(
                doing,
                format!("the repository has no commit {commit}"),
            )),
        }
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
        output(doing, command, input)
    }

    fn command(&self, index: Option<&Path>) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.folder);
        for variable in REDIRECTING_VARIABLES {
            command.env_remove(variable);
        }
        if !self.empty_tree.is_empty() {
            command.arg(format!("--attr-source={}", self.empty_tree));
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    }
}

/// Runs a command and returns its output. The error of a failed command is its standard error.
fn output(doing: &'static str, mut command: Command, input: &[u8]) -> Result<Vec<u8>, GitError> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| failed(doing, format!("`git` can't be run: {error}")))?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // Git may answer before it has read everything; two processes that only write would deadlock.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    });
    let output = output.map_err(|error| failed(doing, error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stderr = stderr.trim();
    if stderr.is_empty() {
        return Err(failed(doing, format!("git ended with {}", output.status)));
    }
    Err(failed(doing, stderr))
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
