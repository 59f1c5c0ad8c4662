//! The repository in a worktree, which borrows the objects of the project's.
//!
//! Whoever works in a worktree commits there, and a commit is written as objects and a reference. In the project's own
//! repository that would be too much: git believes an object under a name that it doesn't have when it checks a file out,
//! so that who may write objects changes what is checked out elsewhere. So a worktree has in its `.git` a repository of its
//! own with git's list of alternates, and nothing of the project's is written by what works in it.
//!
//! ```text
//! lend ─→ commits in the worktree ─→ take_in ─→ the run's branch in the project's repository
//! ```
//!
//! What to rely on:
//!
//! - The run's branch moves by [`take_in`] alone. Objects come over as they do from another machine: each gets the name that
//!   its content has, none that is there is replaced, and what it leads to is there as well.
//! - Of the worktree's repository, files are read as data: where its branch stands, and its index. No git of ours reads its
//!   configuration. What is written in it leads through no link.
//!
//! Source of the layout: `gitrepository-layout(5)`; of the list, `objects/info/alternates` there.

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::child::{self, Obstacles};
use super::theirs::{BRANCHES, DOT, Format, Theirs};
use super::worktree::{Copy, OWN};
use super::{GitError, failed};
use crate::files::{check_own_folder, create_new, make_private_folder, read_regular};

/// Most references whose commits needn't come over, since they are there. Unit: references.
///
/// Why: a run's branch begins with one of a few; whatever is sent twice only takes time.
const MAX_KNOWN: usize = 1_000;

/// Largest file that is taken over from the project's repository or from an index. Unit: bytes.
///
/// Why: an index of a million files has less.
const MAX_FILE: u64 = 256 << 20;

/// Longest wait for another process that moves the same branch. Git locks one for moments.
const PATIENCE: Duration = Duration::from_secs(10);

const LENDING: &str = "making a worktree's repository";
const TAKING: &str = "taking in what was committed in a worktree";

/// Makes the repository in a worktree, with an index of what is checked out.
pub(super) fn lend(own: &Copy, index: &Path) -> Result<(), GitError> {
    let dot = own.top.join(DOT);
    let made = own.top.join(OWN).join("repository");
    remove_all(&made)
        .and_then(|()| fill(own, &made, index))
        // In a worktree that git has made, a file stands in its place.
        .and_then(|()| remove_all(&dot))
        .and_then(|()| fs::rename(&made, &dot))
        .map_err(|error| at(&dot, &error))?;
    write_references(own)
}

/// Reports whether a worktree has a repository of its own.
pub(super) fn is_lent(own: &Copy) -> bool {
    Theirs::in_worktree(&own.top).is_some()
}

/// Fills a new repository that borrows the objects of the project's.
fn fill(own: &Copy, git: &Path, index: &Path) -> std::io::Result<()> {
    let theirs = &own.theirs;
    for folder in ["objects/info", "objects/pack", "refs/heads", "info"] {
        make_private_folder(&git.join(folder))?;
    }
    let objects = format!("{}\n", theirs.objects().display());
    fs::write(git.join("objects/info/alternates"), objects)?;
    fs::write(git.join("config"), configuration(own))?;
    fs::write(git.join("HEAD"), format!("ref: {}\n", reference(own)))?;
    let exclude = read_regular(&theirs.exclude(), MAX_FILE)?;
    fs::write(git.join("info/exclude"), exclude.unwrap_or_default())?;
    if let Some(shallow) = theirs.shallow() {
        fs::write(git.join("shallow"), shallow)?;
    }
    // Commits run the hooks that commits in the project do, as whoever commits.
    #[cfg(unix)]
    std::os::unix::fs::symlink(theirs.common().join("hooks"), git.join("hooks"))?;
    fs::copy(index, git.join("index")).map(drop)
}

/// Returns a configuration by which a worktree's repository behaves as the project's.
fn configuration(own: &Copy) -> String {
    let common = own.theirs.common().join("config");
    let common = quoted(&common.display().to_string());
    let (version, format) = match own.theirs.format {
        Format::Sha1 => (0, ""),
        Format::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
    };
    // What comes last counts.
    format!(
        "[core]\n\trepositoryformatversion = {version}\n{format}[include]\n\tpath = \"{common}\"\n\
         [core]\n\tbare = false\n\tworktree = ..\n[gc]\n\tauto = 0\n"
    )
}

/// Quotes a text for a value between quotes in a configuration of git's.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the full name of a worktree's branch.
fn reference(own: &Copy) -> String {
    let name = own.top.file_name().unwrap_or_default();
    format!("{BRANCHES}/{}", name.to_string_lossy())
}

/// Tells a worktree's repository the branches and tags of the project's. Others that it has stay.
pub(super) fn write_references(own: &Copy) -> Result<(), GitError> {
    let git = own.top.join(DOT);
    let mut text = String::from("# pack-refs with: sorted \n");
    let lent = Theirs::in_worktree(&own.top);
    let mut references = lent.map(|it| it.references()).unwrap_or_default();
    references.extend(own.theirs.references());
    for (name, id) in references {
        let _ = writeln!(text, "{id} {name}");
    }
    let path = git.join("packed-refs");
    let before = read_regular(&path, MAX_FILE).ok().flatten();
    if before.as_deref() == Some(&*text) {
        return Ok(());
    }
    replace(&git, "packed-refs", text.as_bytes())
}

/// Replaces a file right in a worktree's repository.
fn replace(git: &Path, name: &str, bytes: &[u8]) -> Result<(), GitError> {
    let path = git.join(name);
    let new = git.join(format!("{name}.statemark"));
    check_own_folder(git)
        .and_then(|()| remove_all(&new))
        .and_then(|()| create_new(&new))
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&new, &path))
        .map_err(|error| at(&path, &error))
}

/// Takes in what was committed in a worktree: moves the run's branch to where it stands there.
///
/// Returns the reason if the branch stays.
///
/// # Errors
///
/// What is there isn't what it says it is, or can't be read; git fails.
pub(crate) fn take_in(folder: &Path) -> Result<Option<String>, GitError> {
    let own = Copy::open(folder)?;
    let Some(lent) = Theirs::in_worktree(&own.top) else {
        // A worktree of an earlier version, or one that git has made by hand, commits in the project's repository.
        let is_linked =
            Theirs::open(&own.top).is_some_and(|it| it.private() == own.theirs.private());
        let reason = "its `.git` isn't the one that was made";
        return Ok((!is_linked).then(|| reason.to_owned()));
    };
    let reference = reference(&own);
    if lent.head_line().as_deref() != Some(&format!("ref: {reference}")) {
        return Ok(Some("it isn't on its branch".to_owned()));
    }
    let Some(new) = lent.head() else {
        return Ok(Some("its branch has no commit".to_owned()));
    };
    if own.theirs.head().as_ref() == Some(&new) {
        return Ok(None);
    }
    let mut words = format!("{new}\n");
    let heads = own.theirs.references().into_iter();
    let heads = heads.filter(|(name, _)| name.starts_with("refs/heads/"));
    for (_, id) in heads.take(MAX_KNOWN) {
        let _ = writeln!(words, "^{id}");
    }
    let objects = [lent.objects()];
    let obstacles = Obstacles {
        folders: &objects,
        ..Obstacles::default()
    };
    let mut pack = own.git_of_project();
    pack.args(["pack-objects", "--revs", "--stdout", "--thin", "-q"])
        .arg("--delta-base-offset")
        .env("GIT_OBJECT_DIRECTORY", lent.objects())
        .env(
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            in_list(&own.theirs.objects()),
        );
    let pack = child::output(TAKING, pack, words.as_bytes(), obstacles)?;
    let mut unpack = own.git_of_project();
    unpack.args(["unpack-objects", "--strict", "-q"]);
    child::output(TAKING, unpack, &pack, Obstacles::default())?;
    // A commit that was there under this name, and isn't this one, hasn't come over.
    let mut look = own.git_of_project();
    look.args(["cat-file", "-e", &format!("{new}^{{commit}}")]);
    if !child::succeeds(TAKING, look, Obstacles::default())? {
        let cause = format!("commit {new} isn't what its name says");
        return Err(failed(TAKING, cause));
    }
    move_branch(own.theirs.common(), &reference, &new)?;
    Ok(None)
}

/// Writes a path for a list of folders in a variable of git's.
fn in_list(path: &Path) -> String {
    format!("\"{}\"", quoted(&path.display().to_string()))
}

/// Moves a branch of the project's repository, whose commit is there.
pub(super) fn move_branch(common: &Path, reference: &str, to: &str) -> Result<(), GitError> {
    let path = common.join(reference);
    let lock = common.join(format!("{reference}.lock"));
    let began = Instant::now();
    let mut file = loop {
        match create_new(&lock) {
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists && began.elapsed() < PATIENCE =>
            {
                thread::sleep(Duration::from_millis(20));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && is_left(&lock) => {
                take_away(&lock, common).map_err(|error| at(&lock, &error))?;
            }
            file => break file.map_err(|error| at(&lock, &error))?,
        }
    };
    let moved = writeln!(file, "{to}").and_then(|()| fs::rename(&lock, &path));
    moved.map_err(|error| {
        // Else nobody could move it any more.
        drop(fs::remove_file(&lock));
        at(&path, &error)
    })
}

/// Reports whether the lock of a branch is of somebody who was killed: nothing moves one for so long.
fn is_left(lock: &Path) -> bool {
    let since = fs::symlink_metadata(lock).and_then(|facts| facts.modified());
    since.is_ok_and(|since| since.elapsed().is_ok_and(|age| age >= PATIENCE))
}

/// Takes away the lock of somebody who was killed.
///
/// Of two who come at once one may find a new lock in its place by now, which it puts back.
fn take_away(lock: &Path, common: &Path) -> std::io::Result<()> {
    // Among the branches git would take it for one.
    let aside = common.join(format!("statemark-{}.lock", std::process::id()));
    match fs::rename(lock, &aside) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        renamed => renamed?,
    }
    if is_left(&aside) {
        return remove_all(&aside);
    }
    fs::rename(&aside, lock)
}

/// Moves a worktree's repository to where the run's branch is now, with the index of that.
pub(super) fn follow(own: &Copy, index: &Path) -> Result<(), GitError> {
    let git = own.top.join(DOT);
    let reference = reference(own);
    write_references(own)?;
    // What stands in a file of its own counts before what is packed.
    let mut folder = git.clone();
    let parts: Vec<&str> = reference.split('/').collect();
    let Some((name, above)) = parts.split_last() else {
        return Ok(());
    };
    for part in above {
        folder.push(part);
        match check_own_folder(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            checked => checked.map_err(|error| at(&folder, &error))?,
        }
    }
    remove_all(&folder.join(name)).map_err(|error| at(&folder, &error))?;
    let index = fs::read(index).map_err(|error| at(index, &error))?;
    replace(&git, "index", &index)
}

/// Returns the index of a worktree's repository, if there is one.
pub(super) fn index(own: &Copy) -> Option<PathBuf> {
    Theirs::in_worktree(&own.top)?.index()
}

/// Removes what is at a path, if anything is. No link is followed.
fn remove_all(path: &Path) -> std::io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn at(path: &Path, error: &std::io::Error) -> GitError {
    failed(LENDING, format!("`{}`: {error}", path.display()))
}
