//! Working copies, saved and put back by git's plumbing.
//!
//! Neither branch, index nor stash is touched: a working copy is read into an index of its own, which is thrown away, and
//! becomes a commit without a parent under `refs/statemark/`. What is saved: files that are tracked, and files that are
//! neither tracked nor ignored; symbolic links as links, executable bits, every byte as it is (no filter, no line end is
//! converted). What isn't: ignored files, empty folders, and folders that are repositories of their own.
//!
//! Deliberately not here: what a journal says of it (`runs/checkpoint.rs`, `runs/restore.rs`).

mod changes;
mod save;
pub(crate) mod turn;

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use changes::{FileChange, FileChanges, FileFate};
pub(crate) use save::Saved;

use crate::hash::Hash;

/// What git couldn't do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitError {
    doing: &'static str,
    cause: String,
}

impl fmt::Display for GitError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.doing, self.cause)
    }
}

impl std::error::Error for GitError {}

fn failed(doing: &'static str, cause: impl fmt::Display) -> GitError {
    let cause = cause.to_string();
    GitError { doing, cause }
}

/// Variables that would lead git to another repository or index.
const ELSEWHERE: [&str; 10] = [
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

/// Settings under which every byte, link and bit is saved as it is, no hook runs, and nothing is lost with the power.
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
    /// The tree without entries: attributes are read from it, so that there are none.
    empty: String,
}

impl Repository {
    /// The repository that a folder is in.
    pub(crate) fn open(folder: &Path) -> Result<Self, GitError> {
        let doing = "looking for the repository";
        if !folder.is_dir() {
            return Err(failed(
                doing,
                format!("there is no folder {}", folder.display()),
            ));
        }
        let mut found = Self {
            folder: folder.to_path_buf(),
            git: PathBuf::new(),
            empty: String::new(),
        };
        let top = found.run(doing, &["rev-parse", "--show-toplevel"], None, b"")?;
        let git = found.run(doing, &["rev-parse", "--absolute-git-dir"], None, b"")?;
        let empty = found.run(doing, &["hash-object", "-t", "tree", "--stdin"], None, b"")?;
        found.folder = path(line(&top));
        found.git = path(line(&git));
        found.empty = text(&empty);
        Ok(found)
    }

    /// The working copy's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The commit that is checked out, if there is one.
    pub(crate) fn head(&self) -> Option<String> {
        let words = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let head = self.run("reading what is checked out", &words, None, b"");
        head.ok().map(|head| text(&head))
    }

    /// A commit of a tree, kept under a name that only this run uses.
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
        let commit = text(&ran(doing, command, message.as_bytes())?);
        let words = ["update-ref", "--no-deref", reference, &commit];
        self.run(doing, &words, None, b"")?;
        Ok(commit)
    }

    /// The tree of a commit.
    pub(crate) fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        let named = format!("{commit}^{{tree}}");
        let words = ["rev-parse", "--verify", "--quiet", &named];
        let doing = "looking for the checkpoint's commit";
        match self.run(doing, &words, None, b"") {
            Ok(tree) => Ok(text(&tree)),
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
        ran(doing, command, input)
    }

    fn command(&self, index: Option<&Path>) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.folder);
        for variable in ELSEWHERE {
            command.env_remove(variable);
        }
        if !self.empty.is_empty() {
            command.arg(format!("--attr-source={}", self.empty));
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

/// What a command answers; what it complains of, if it fails.
fn ran(doing: &'static str, mut command: Command, input: &[u8]) -> Result<Vec<u8>, GitError> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|error| failed(doing, format!("`git` can't be run: {error}")))?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // Git may answer before it has read everything: whoever only writes waits for whoever only writes.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        child.wait_with_output()
    });
    let output = output.map_err(|error| failed(doing, error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    if said.is_empty() {
        return Err(failed(doing, format!("git ended with {}", output.status)));
    }
    Err(failed(doing, said))
}

/// The name of a run's checkpoint among a repository's references. Ids of runs may have characters that git forbids.
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
        // File systems have limits.
        name = Hash::of(run.as_bytes()).to_string();
    }
    format!("refs/statemark/{name}/{seq}")
}

/// An answer of one line; a folder's name may have line ends.
fn line(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(line(bytes)).into_owned()
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// A path inside a repository as git writes it.
#[cfg(unix)]
fn bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}
