//! Worktrees of a repository in which runs work apart from its own folder.
//!
//! A worktree is git's: a folder with a branch of its own, so this is the one place where something is written into a
//! person's repository. Whoever works in it has another repository there, which borrows that one's objects
//! ([`borrower`]). What to rely on:
//!
//! - Nothing that the repository's own configuration names is run: no hook, no monitor, no filter. Git works in a directory
//!   of ours and doesn't read it. Those of the person's own configuration are, as when that person checks something out.
//! - What is another's stays: a worktree of a person may have any name, and one of ours is known by what its part of the
//!   repository says of its folder.
//! - What an agent may have written in a worktree leads git nowhere: git is told which repository it is, and that one is the
//!   person's, in which nobody who works in a worktree writes.
//! - One that was made half is made anew: a mark beside it says so until it is whole, and no agent has worked in it then.
//! - A worktree with something that isn't committed, or isn't on its branch, is never removed.
//!
//! Deliberately not here: merging. Whoever wants what was committed takes the branch; a worktree follows another one only
//! where nothing would be merged.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::child::{self, Obstacles};
use super::directory::{OwnGit, Session};
use super::theirs::{BRANCHES, DOT, LISTED, Theirs, find_working_copy};
use super::{GitError, borrower, failed, keeper, line, path_from_git, plain_git};
use crate::files::{check_own_folder, create_new, make_private_folder, read_regular};
use crate::id::RunId;
use crate::phrase::shell_word;

/// The folder of worktrees in a project.
pub const WORKTREES: &str = ".statemark-worktrees";

/// The folder of what is ours in a working copy.
pub(super) const OWN: &str = ".statemark";

/// The ending of the mark beside a worktree that is being made.
const MARK: &str = ".making";

/// Longest name of a worktree. Unit: bytes.
///
/// Why: file systems limit the length of a name, and the mark's is longer.
const MAX_NAME: usize = 200;

/// Largest file of git's with one line, a path or a commit's id. Unit: bytes.
///
/// Why: systems limit paths to 4,096.
const MAX_LINE: u64 = 8 << 10;

/// Settings under which nothing of the repository's is run, and nobody is asked.
const SETTINGS: [&str; 5] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "gc.auto=0",
    "protocol.allow=never",
    "submodule.recurse=false",
];

const MAKING: &str = "making a worktree";

/// The lock under which worktrees are made and removed.
///
/// Why: git writes the lists of worktrees and of branches without one lock for both.
static ONE: Mutex<()> = Mutex::new(());

/// A worktree that is to be made, or is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewWorktree {
    /// Its folder.
    pub(crate) folder: PathBuf,
    /// The project's root in it.
    pub(crate) root: PathBuf,
    /// Its branch.
    pub(crate) branch: String,
    /// The commit that it begins with.
    pub(crate) base: String,
}

/// Makes the worktree of that name in the project with this root.
///
/// It counts as made half until [`finish`] is called: once the run's journal has it.
///
/// `from` is the working copy whose commit it begins with: the repository's own, or another worktree of it.
///
/// # Errors
///
/// There is no repository, or no commit; the branch or the folder is there already; what is checked out has changes that
/// aren't committed, which the worktree wouldn't have; git fails.
pub(crate) fn make(root: &Path, name: &Name, from: &Path) -> Result<NewWorktree, GitError> {
    let _one = ONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let main = Copy::open(root)?;
    let from = Copy::open(from)?;
    if find_worktree(&from.top).is_some()
        && let Some(reason) = borrower::take_in(&from.top)?
    {
        let cause = format!("`{}` can't be begun with: {reason}", from.top.display());
        return Err(failed(MAKING, cause));
    }
    let root = &fs::canonicalize(root).map_err(|error| failed(MAKING, error))?;
    let Some(base) = from.theirs.head() else {
        let cause = format!(
            "`{}` has no commit yet, which a worktree could begin with: commit something first",
            from.top.display()
        );
        return Err(failed(MAKING, cause));
    };
    let branch = format!("statemark/{}", name.0);
    let folders = root.join(WORKTREES);
    let folder = folders.join(&name.0);
    let mark = name.mark_in(root);
    if folders.symlink_metadata().is_ok() {
        check_own_folder(&folders).map_err(|error| at(&folders, &error))?;
    }
    if mark.symlink_metadata().is_ok() {
        remove_half(&main, name, (&folder, &mark))?;
        fs::remove_file(&mark).map_err(|error| at(&mark, &error))?;
    }
    check_absent(&main, name, &folder, &branch)?;
    from.check_clean()?;
    // Neither the worktrees nor the marks are for the repository.
    make_ignored(&folders)?;
    let made = create_new(&mark).and_then(|mut file| file.write_all(base.as_bytes()));
    made.map_err(|error| at(&mark, &error))?;
    fs::create_dir(&folder).map_err(|error| at(&folder, &error))?;
    make_branch(main.theirs.common(), name, &base)?;
    register(main.theirs.common(), name, &folder)?;
    let new = Copy::open(&folder)?;
    let index = Index::empty(&new);
    let mut command = new.git();
    command
        .args(["read-tree", "--reset", "-u", "HEAD"])
        .env("GIT_INDEX_FILE", &index.0);
    call(command, &folder)?;
    // What is ours in it isn't for the repository either.
    make_ignored(&folder.join(OWN))?;
    borrower::lend(&new, &index.0)?;
    let inside = root.strip_prefix(&main.top).unwrap_or(Path::new(""));
    Ok(NewWorktree {
        root: folder.join(inside),
        folder,
        branch,
        base,
    })
}

/// Tells the repository of a worktree, as `git worktree add` does.
///
/// So git lists it, and lets nobody else take its branch. Git itself would choose another name if somebody has a worktree of that one.
///
/// Source: `gitrepository-layout(5)`, `worktrees/<id>`.
fn register(common: &Path, name: &Name, folder: &Path) -> Result<(), GitError> {
    let git = common.join(LISTED).join(name.folder_listed());
    let fill = || -> io::Result<()> {
        fs::create_dir_all(common.join(LISTED))?;
        fs::create_dir(&git)?;
        fs::write(git.join("commondir"), "../..\n")?;
        fs::write(git.join("HEAD"), format!("ref: {BRANCHES}/{}\n", name.0))?;
        fs::write(
            git.join("gitdir"),
            format!("{}\n", folder.join(DOT).display()),
        )
    };
    fill().map_err(|error| at(&git, &error))
}

/// Makes the file of a branch, which isn't there yet.
///
/// Git would write a line of its log as well, through a link that an agent of an earlier version may have left there.
fn make_branch(common: &Path, name: &Name, commit: &str) -> Result<(), GitError> {
    let folder = common.join(BRANCHES);
    fs::create_dir_all(&folder)
        .and_then(|()| check_own_folder(&folder))
        .map_err(|error| at(&folder, &error))?;
    let path = common.join(BRANCHES).join(&name.0);
    let file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path);
    file.and_then(|mut file| writeln!(file, "{commit}"))
        .map_err(|error| at(&path, &error))
}

/// Makes a folder of ours that git ignores, unless it is there.
///
/// A repository may have brought a link along, to have something written elsewhere.
fn make_ignored(folder: &Path) -> Result<(), GitError> {
    if folder.symlink_metadata().is_err() {
        make_private_folder(folder).map_err(|error| at(folder, &error))?;
    }
    check_own_folder(folder).map_err(|error| at(folder, &error))?;
    make_file(&folder.join(".gitignore"), "*\n")
}

/// Makes a file, unless something of its name is there.
fn make_file(path: &Path, text: &str) -> Result<(), GitError> {
    let made = create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(at(path, &error)),
        _ => Ok(()),
    }
}

fn at(path: &Path, error: &io::Error) -> GitError {
    failed(MAKING, format!("`{}`: {error}", path.display()))
}

/// Takes the mark away that says that a worktree isn't made to its end.
pub(crate) fn finish(root: &Path, name: &Name) {
    // One that is left behind does no harm: the journal has the worktree.
    drop(fs::remove_file(name.mark_in(root)));
}

/// Moves a worktree to the commit of another one, as far as nothing has to be merged for that.
///
/// One with commits that the other lacks, with changes in the way, or that isn't on its branch stays as it is.
///
/// # Errors
///
/// One of them is no working copy; git can't be run.
pub(crate) fn follow(folder: &Path, other: &Path) -> Result<(), GitError> {
    if borrower::take_in(folder)?.is_some() || borrower::take_in(other)?.is_some() {
        return Ok(());
    }
    let (own, other) = (Copy::open(folder)?, Copy::open(other)?);
    let (Some(old), Some(new)) = (own.theirs.head(), other.theirs.head()) else {
        return Ok(());
    };
    let Some(branch) = own.branch().filter(|_| old != new) else {
        return Ok(());
    };
    let index = Index::of_head(&own)?;
    let staged = borrower::index(&own);
    let staged = staged.as_deref().unwrap_or(&index.0);
    for (words, index) in [
        (vec!["merge-base", "--is-ancestor", &old, &new], &*index.0),
        (vec!["diff-index", "--cached", "--quiet", &old], staged),
        (vec!["update-index", "-q", "--refresh"], &*index.0),
        (vec!["read-tree", "-m", "-u", &old, &new], &*index.0),
    ] {
        let mut command = own.git();
        command.args(words).env("GIT_INDEX_FILE", index);
        // Git refuses what would be a merge, and what would lose something.
        if !child::succeeds(MAKING, command, obstacles(folder))? {
            return Ok(());
        }
    }
    let reference = format!("{BRANCHES}/{branch}");
    borrower::move_branch(own.theirs.common(), &reference, &new)?;
    borrower::follow(&own, &index.0)
}

/// Checks that a worktree that was made is still one, and gets it ready for work.
///
/// What was committed in it is on its branch then, as far as that is possible.
///
/// # Errors
///
/// Somebody has removed it, or put something else in its place.
pub(crate) fn enter(folder: &Path, branch: &str) -> Result<(), GitError> {
    if folder.is_dir() && Theirs::of_worktree(folder).is_some() {
        let own = Copy::open(folder)?;
        if !borrower::is_lent(&own) {
            borrower::lend(&own, &Index::of_head(&own)?.0)?;
        }
        // First what is only there: what the project's repository says of the branch would take its place.
        return match borrower::take_in(folder)? {
            None => borrower::write_references(&own),
            Some(_) => Ok(()),
        };
    }
    let path = folder.display().to_string();
    let (word, branch) = (shell_word(&path), shell_word(branch));
    let cause = format!(
        "it isn't at `{path}` any more, and what wasn't committed in it is gone; `git worktree prune`, and \
         `git worktree add {word} {branch}` after it, let the run go on with what was committed"
    );
    Err(failed("looking for the run's worktree", cause))
}

/// Removes a worktree in which everything is committed on its branch, which stays.
///
/// Returns the reason if the worktree stays.
///
/// # Errors
///
/// It is none; git fails; something can't be removed.
pub(crate) fn remove(folder: &Path) -> Result<Option<String>, GitError> {
    let _one = ONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(reason) = borrower::take_in(folder)? {
        return Ok(Some(reason));
    }
    let own = Copy::open(folder)?;
    if own.branch().is_none() {
        return Ok(Some("it isn't on its branch".to_owned()));
    }
    if let Some(module) = own.submodule()? {
        return Ok(Some(format!("`{module}` is a repository of its own")));
    }
    if let Some(first) = own.changes("all")?.first() {
        return Ok(Some(format!("`{first}` isn't committed")));
    }
    for place in [folder, own.theirs.private()] {
        fs::remove_dir_all(place).map_err(|error| at(place, &error))?;
    }
    Ok(None)
}

/// The name of a worktree: of its folder, and of its branch below `statemark/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    /// Returns the name of a run's worktree, or of that of a region of it. No other one has it.
    ///
    /// A branch can't be named like a folder of branches, so what leads below a run is no slash.
    pub(crate) fn new(run: &RunId, region: Option<&str>) -> Self {
        let mut name = String::new();
        spell_into(&mut name, run.as_str());
        if let Some(region) = region {
            name.push('@');
            spell_into(&mut name, region);
        }
        if name.len() > MAX_NAME {
            name = crate::hash::Hash::digest(name.as_bytes()).to_string();
        }
        Self(name)
    }

    /// Returns the name of the worktree's part of the repository.
    fn folder_listed(&self) -> String {
        format!("statemark-{}", self.0)
    }

    /// Returns the mark beside the worktree while it is being made.
    fn mark_in(&self, root: &Path) -> PathBuf {
        root.join(WORKTREES).join(format!("{}{MARK}", self.0))
    }
}

/// Spells a part of a name with what both a folder and a branch may have.
fn spell_into(name: &mut String, part: &str) {
    for byte in part.bytes() {
        match byte {
            b'/' => name.push('+'),
            b'-' if name.is_empty() => *name += "%2d",
            b'-' | b'_' => name.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            _ => *name += &format!("%{byte:02x}"),
        }
    }
}

/// An index of what is checked out in a worktree by its commit alone, until this is dropped.
///
/// It has none of the marks by which git is told to look away from a file.
struct Index(PathBuf);

impl Index {
    /// Returns one that isn't there yet.
    fn empty(own: &Copy) -> Self {
        Self(own.session.path().join("index"))
    }

    fn of_head(own: &Copy) -> Result<Self, GitError> {
        let index = Self::empty(own);
        let mut command = own.git();
        command
            .args(["read-tree", "HEAD"])
            .env("GIT_INDEX_FILE", &index.0);
        call(command, &own.top)?;
        Ok(index)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        // One that is left behind is written anew.
        drop(fs::remove_file(&self.0));
    }
}

/// A working copy, and its repository: the project's, also for a worktree.
pub(super) struct Copy {
    pub(super) top: PathBuf,
    pub(super) theirs: Theirs,
    /// The git directory of ours that git works in, where its commit is checked out.
    session: Session,
}

impl Copy {
    /// Opens the working copy that a folder is in.
    pub(super) fn open(folder: &Path) -> Result<Self, GitError> {
        let real = fs::canonicalize(folder);
        let real = real.map_err(|error| at(folder, &error))?;
        let found = match find_worktree(&real) {
            Some(top) => Theirs::of_worktree(top).map(|theirs| (top, theirs)),
            None => find_working_copy(&real).and_then(|top| Some((top, Theirs::open(top)?))),
        };
        let found = found.map(|(top, theirs)| (top.to_path_buf(), theirs));
        let (top, theirs) = found.ok_or_else(|| {
            let folder = folder.display();
            let cause = format!(
                "`{folder}` is in no git repository, and the workflow says that its runs work in worktrees: `git init` and a \
                 first commit make one"
            );
            failed(MAKING, cause)
        })?;
        let own = OwnGit::open(keeper(&top), theirs.format)?;
        let session = own.begin(theirs.format, Some(&theirs.exclude()))?;
        let files = [("HEAD", theirs.head()), ("shallow", theirs.shallow())];
        for (name, text) in files {
            let path = session.path().join(name);
            let text = text.map(|text| format!("{}\n", text.trim_end()));
            let written = text.map_or(Ok(()), |text| fs::write(&path, text));
            written.map_err(|error| at(&path, &error))?;
        }
        Ok(Self {
            top,
            theirs,
            session,
        })
    }

    /// Returns the name of the run's branch that is checked out, if it is that of this worktree.
    fn branch(&self) -> Option<String> {
        let name = self.top.file_name()?.to_str()?;
        let head = self.theirs.head_line()?;
        (head == format!("ref: {BRANCHES}/{name}")).then(|| name.to_owned())
    }

    /// Returns git in the working copy, by the repository's objects and by a configuration of ours.
    fn git(&self) -> Command {
        let mut command = quiet_git(&self.top);
        command
            .env("GIT_DIR", self.session.path())
            .env("GIT_OBJECT_DIRECTORY", self.theirs.objects())
            .env("GIT_WORK_TREE", &self.top);
        if find_worktree(&self.top).is_none() {
            command.envs(self.theirs.index().map(|index| ("GIT_INDEX_FILE", index)));
        }
        command
    }

    /// Returns git in the repository alone, which checks nothing out.
    pub(super) fn git_of_project(&self) -> Command {
        let mut command = quiet_git(self.theirs.common());
        command.env("GIT_DIR", self.theirs.common());
        command
    }

    /// Fails if there are changes that aren't committed. Files that git doesn't know are none.
    fn check_clean(&self) -> Result<(), GitError> {
        let changed = self.changes("no")?;
        let Some(first) = changed.first() else {
            return Ok(());
        };
        let others = match changed.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let cause = format!(
            "`{first}`{others} in `{}` isn't committed, and the worktree wouldn't have it: commit or stash it first",
            self.top.display()
        );
        Err(failed(MAKING, cause))
    }

    /// Returns a submodule that is there, with a repository whose work git doesn't look at.
    fn submodule(&self) -> Result<Option<String>, GitError> {
        let mut command = self.git();
        command.args(["ls-tree", "-r", "-z", "HEAD"]);
        let listed = call(command, &self.top)?;
        let entries = listed.split(|byte| *byte == 0);
        // The mode of a link to a commit, the word for it, its id, and behind a tab the path.
        let links = entries.filter(|entry| entry.starts_with(b"160000 "));
        let mut paths = links.filter_map(|link| link.splitn(2, |byte| *byte == b'\t').nth(1));
        let found = paths.find(|path| self.top.join(path_from_git(path)).join(DOT).exists());
        Ok(found.map(line))
    }

    /// Lists the changed files.
    ///
    /// `untracked` is git's word for which of those are listed that it doesn't know: `no` or `all`.
    fn changes(&self, untracked: &str) -> Result<Vec<String>, GitError> {
        if find_worktree(&self.top).is_none() {
            return self.changes_by(untracked, None);
        }
        let index = Index::of_head(self)?;
        let mut changes = self.changes_by(untracked, Some(&index.0))?;
        // What was added, and is in no file any more.
        if let Some(index) = borrower::index(self) {
            changes.extend(self.changes_by("no", Some(&index))?);
        }
        Ok(changes)
    }

    fn changes_by(&self, untracked: &str, index: Option<&Path>) -> Result<Vec<String>, GitError> {
        let mut command = self.git();
        command.args(["status", "--porcelain", "-z", "--no-renames"]);
        // Within a submodule, its own configuration would say what is run.
        command.arg("--ignore-submodules=dirty");
        command.arg(format!("--untracked-files={untracked}"));
        command.envs(index.map(|index| ("GIT_INDEX_FILE", index)));
        let status = call(command, &self.top)?;
        let entries = status.split(|byte| *byte == 0);
        // Two letters and a blank stand before each path.
        let paths = entries.filter_map(|entry| entry.get(3..)).map(line);
        Ok(paths.collect())
    }
}

/// Returns git in a folder, which runs nothing of a repository's and asks nobody.
fn quiet_git(folder: &Path) -> Command {
    let mut command = plain_git();
    command
        .current_dir(folder)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// Fails if a branch or a folder of a new worktree is there.
fn check_absent(main: &Copy, name: &Name, folder: &Path, branch: &str) -> Result<(), GitError> {
    let listed = main.theirs.common().join(LISTED).join(name.folder_listed());
    for (place, help) in [
        (folder, "move it away"),
        (
            &listed,
            "`git worktree prune` removes it if its folder is gone",
        ),
    ] {
        if place.symlink_metadata().is_ok() {
            let cause = format!("`{}` is there already: {help}", place.display());
            return Err(failed(MAKING, cause));
        }
    }
    let references = main.theirs.references();
    if !references.contains_key(&format!("refs/heads/{branch}")) {
        return Ok(());
    }
    let mut command = main.git_of_project();
    command.args(["worktree", "list", "--porcelain", "-z"]);
    let list = call(command, &main.top)?;
    let head = format!("branch refs/heads/{branch}");
    let entries = list.split(|byte| *byte == 0).map(line);
    let mut place = None;
    for entry in entries {
        match entry.strip_prefix("worktree ") {
            Some(path) => place = Some(path.to_owned()),
            None if entry == head => break,
            None if entry.is_empty() => place = None,
            None => {}
        }
    }
    let place = place.map_or_else(String::new, |path| format!(", checked out in `{path}`"));
    let cause = format!(
        "there is a branch `{branch}` already{place}: `git branch -m {branch} NAME` gives it another name"
    );
    Err(failed(MAKING, cause))
}

/// Removes what is there of a worktree that wasn't made to its end.
///
/// The mark has the commit that its branch begins with: a branch that is elsewhere is somebody else's, and stays. So does a
/// part of the repository that is a worktree's elsewhere. A file whose maker was killed may be there without its text.
fn remove_half(main: &Copy, name: &Name, (folder, mark): (&Path, &Path)) -> Result<(), GitError> {
    let common = main.theirs.common();
    let text = |path: &Path| read_regular(path, MAX_LINE).ok().flatten();
    let listed = common.join(LISTED).join(name.folder_listed());
    let own = folder.join(DOT).display().to_string();
    let is_own = text(&listed.join("gitdir")).is_none_or(|it| it.is_empty() || it.trim() == own);
    // As git has made it, for an earlier version.
    let by_git = Theirs::of_worktree(folder).map(|it| it.private().to_path_buf());
    let places = [Some(folder.to_path_buf()), by_git, is_own.then_some(listed)];
    for place in places.iter().flatten() {
        match fs::remove_dir_all(place) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(at(place, &error)),
            _ => {}
        }
    }
    let branch = common.join(BRANCHES).join(&name.0);
    if let Some(base) = text(mark).filter(|base| !base.is_empty())
        && text(&branch).is_some_and(|it| it.is_empty() || it.trim() == base)
    {
        fs::remove_file(&branch).map_err(|error| at(&branch, &error))?;
    }
    Ok(())
}

fn call(command: Command, folder: &Path) -> Result<Vec<u8>, GitError> {
    child::output(MAKING, command, b"", obstacles(folder))
}

fn obstacles(folder: &Path) -> Obstacles<'_> {
    Obstacles {
        folder: Some(folder),
        ..Obstacles::default()
    }
}

/// Returns the folder of the project that a folder in a worktree of one of its runs belongs to.
///
/// Its store, its configuration and its id are those of the project, whatever the worktree has checked out.
#[must_use]
pub fn project_of_worktree(folder: &Path) -> Option<&Path> {
    let mut folders = folder.ancestors();
    let worktrees = folders.find(|it| it.file_name().is_some_and(|name| name == WORKTREES))?;
    // The folder of worktrees itself is in none.
    (worktrees != folder).then(|| worktrees.parent()).flatten()
}

/// Returns the worktree of a run that a folder is in.
#[must_use]
pub fn find_worktree(folder: &Path) -> Option<&Path> {
    let is_worktree = |folder: &&Path| {
        folder
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|name| name == WORKTREES)
    };
    folder.ancestors().find(is_worktree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_and_region_has_a_name_of_its_own() {
        for (run, region, name) in [
            ("r", None, "r"),
            ("r/a/1", None, "r+a+1"),
            ("r+a+1", None, "r%2ba%2b1"),
            ("-r", None, "%2dr"),
            ("a.lock", None, "a%2elock"),
            ("ä b", None, "%c3%a4%20b"),
            ("r/a", Some("code"), "r+a@code"),
            ("r@code", None, "r%40code"),
            ("r", Some("-ö"), "r@-%c3%b6"),
        ] {
            let name_of = Name::new(&run.parse().unwrap(), region);
            assert_eq!(name_of.0, name, "{run}");
        }
        let long: RunId = "ä".repeat(30).parse().unwrap();
        let region = "ä".repeat(30);
        for other in ["", "b"] {
            let name = Name::new(&long, Some(&(region.clone() + other)));
            assert!(name.0.len() <= MAX_NAME, "{name:?}");
            assert_ne!(name, Name::new(&long, Some(&region.repeat(2))));
        }
    }

    #[test]
    fn a_folder_in_a_worktree_belongs_to_the_project() {
        let of = |folder: &str| {
            let folder = Path::new(folder);
            let names = [project_of_worktree(folder), find_worktree(folder)];
            names.map(|it| it.map(|path| path.to_str().unwrap().to_owned()))
        };
        let inside = [
            Some("/p".to_owned()),
            Some("/p/.statemark-worktrees/r".to_owned()),
        ];
        assert_eq!(of("/p/.statemark-worktrees/r/src"), inside);
        assert_eq!(of("/p/.statemark-worktrees/r"), inside);
        assert_eq!(of("/p/.statemark-worktrees"), [None, None]);
        assert_eq!(of("/p/src"), [None, None]);
    }
}
