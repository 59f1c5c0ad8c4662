//! A person's repository, as far as checkpoints read it: as data, never through its configuration.
//!
//! Read are the index (which files are tracked), the list of ignored files, what is checked out, and the objects of
//! checkpoints that former versions kept there. `core.worktree`, filters, hooks, remotes and whatever else a configuration
//! can say have no effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::worktree::{find_worktree, project_of_worktree};
use super::{GitError, failed, path_from_git};
use crate::files::read_regular;

/// Largest file of git's that is read whole. Unit: bytes. Why: a million references take less.
const MAX_FILE: u64 = 64 << 20;

/// Most references that are read. Why: no repository that people work in has as many.
const MAX_REFERENCES: usize = 100_000;

/// Largest list of other folders of objects. Unit: bytes.
///
/// Why: git reads it whole, and each of its lines is a path.
const MAX_ALTERNATES: u64 = 1 << 20;

/// Most references that lead from one to the next. Source: git's own limit (`SYMREF_MAXDEPTH`).
const MAX_DEPTH: usize = 5;

/// The folder or file in a working copy that says where its repository is.
pub(super) const DOT: &str = ".git";

/// The folder of the branches of runs.
pub(super) const BRANCHES: &str = "refs/heads/statemark";

/// The folder of the parts of a repository that are its worktrees'.
pub(super) const LISTED: &str = "worktrees";

/// The hash function of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// 40 digits.
    Sha1,
    /// 64 digits.
    Sha256,
}

impl Format {
    /// Returns a configuration that says this, and nothing else.
    pub(super) const fn config(self) -> &'static str {
        match self {
            Self::Sha1 => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
            Self::Sha256 => {
                "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
            }
        }
    }

    const fn digits(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }
}

/// The git directory of a working copy.
#[derive(Debug)]
pub(super) struct Theirs {
    /// The part that is the working copy's alone.
    git: PathBuf,
    /// The part that working copies share.
    common: PathBuf,
    /// The hash function.
    pub(super) format: Format,
}

/// Finds the working copy that a folder is in.
///
/// As git does, it looks only below the folders of `GIT_CEILING_DIRECTORIES`.
#[must_use]
pub fn find_working_copy(here: &Path) -> Option<&Path> {
    let list = std::env::var_os("GIT_CEILING_DIRECTORIES").unwrap_or_default();
    let ceilings: Vec<PathBuf> = std::env::split_paths(&list).collect();
    let is_ceiling = |folder: &Path| ceilings.iter().any(|ceiling| ceiling == folder);
    let mut folders = here
        .ancestors()
        .take_while(|folder| *folder == here || !is_ceiling(folder));
    folders.find(|folder| folder.join(DOT).exists())
}

impl Theirs {
    /// Finds the working copy that a folder is in, and its git directory. The folder is a real path.
    pub(super) fn find(folder: &Path) -> Option<(PathBuf, Self)> {
        let (top, theirs) = match find_worktree(folder) {
            Some(worktree) => {
                let own = Self::in_worktree(worktree);
                (worktree, own.or_else(|| Self::of_worktree(worktree))?)
            }
            None => {
                let top = find_working_copy(folder)?;
                (top, Self::open(top)?)
            }
        };
        Some((top.to_path_buf(), theirs))
    }

    /// Opens the git directory of a worktree of a run, where the project's repository has it.
    ///
    /// The worktree isn't asked: whoever works in it could name another one. Nor is the name enough: a person may have a
    /// worktree of the same one elsewhere.
    pub(super) fn of_worktree(worktree: &Path) -> Option<Self> {
        let main = Self::open(find_working_copy(project_of_worktree(worktree)?)?)?;
        let common = main.common.canonicalize().ok()?;
        let name = worktree.file_name()?.to_str()?;
        let own = worktree.canonicalize().ok()?.join(DOT);
        // The second is as git has made it, for an earlier version or by hand.
        let names = [format!("statemark-{name}"), name.to_owned()];
        let mut places = names.iter().map(|name| common.join(LISTED).join(name));
        let git = places.find(|git| {
            let says = read(&git.join("gitdir"));
            says.is_some_and(|text| line_path(&text) == own) && read(&git.join("HEAD")).is_some()
        })?;
        Some(Self {
            git,
            common,
            format: main.format,
        })
    }

    /// Opens the repository in a worktree of a run, if it has one of its own.
    ///
    /// Whoever works there may have written all of it: it is data.
    pub(super) fn in_worktree(worktree: &Path) -> Option<Self> {
        let git = worktree.join(DOT);
        let facts = std::fs::symlink_metadata(&git).ok()?;
        let format = Self::of_worktree(worktree)
            .filter(|_| facts.is_dir())?
            .format;
        read(&git.join("HEAD"))?;
        Some(Self {
            common: git.clone(),
            git,
            format,
        })
    }

    /// Opens the git directory of a working copy, if there is one.
    pub(super) fn open(working_copy: &Path) -> Option<Self> {
        let dot = working_copy.join(DOT);
        let git = if dot.is_file() {
            let text = read(&dot)?;
            working_copy.join(line_path(text.strip_prefix("gitdir:")?))
        } else {
            dot
        };
        read(&git.join("HEAD"))?;
        let common = match read(&git.join("commondir")) {
            Some(text) => git.join(line_path(&text)),
            None => git.clone(),
        };
        // A line of a repository with another hash function; anything else is git's everyday one.
        let config = read(&common.join("config")).unwrap_or_default();
        let config = config.to_ascii_lowercase();
        let mut lines = config
            .lines()
            .map(|line| line.replace([' ', '\t', '"'], ""));
        let format = if lines.any(|line| line == "objectformat=sha256") {
            Format::Sha256
        } else {
            Format::Sha1
        };
        Some(Self {
            git,
            common,
            format,
        })
    }

    /// Returns the index, if there is one.
    pub(super) fn index(&self) -> Option<PathBuf> {
        Some(self.git.join("index")).filter(|index| index.is_file())
    }

    /// Returns the parts that a split index shares with others.
    pub(super) fn shared_indexes(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.git).into_iter().flatten().flatten();
        let paths = entries
            .filter(|entry| {
                entry
                    .file_name()
                    .to_string_lossy()
                    .starts_with("sharedindex.")
            })
            .map(|entry| entry.path());
        paths.filter(|path| path.is_file()).collect()
    }

    /// Returns the folder of the objects.
    pub(super) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    /// Returns the part that is the working copy's alone.
    pub(super) fn private(&self) -> &Path {
        &self.git
    }

    /// Returns the part that working copies share.
    pub(super) fn common(&self) -> &Path {
        &self.common
    }

    /// Returns the folders of which git may read any file.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        vec![self.objects(), self.git.clone()]
    }

    /// Checks what git reads whole and at once, whatever it is: a device there has no end.
    pub(super) fn check(&self) -> Result<(), GitError> {
        let path = self.objects().join("info/alternates");
        let read = read_regular(&path, MAX_ALTERNATES);
        read.map(|_| ()).map_err(|error| {
            let path = path.display();
            failed("looking for the repository", format!("`{path}`: {error}"))
        })
    }

    /// Returns the list of files that are ignored in this repository alone, which need not exist.
    pub(super) fn exclude(&self) -> PathBuf {
        self.common.join("info/exclude")
    }

    /// Returns the commit that is checked out, if there is one, and if references are files.
    pub(super) fn head(&self) -> Option<String> {
        let mut text = read(&self.git.join("HEAD"))?;
        for _ in 0..MAX_DEPTH {
            let value = text.trim();
            let Some(name) = value.strip_prefix("ref:").map(str::trim) else {
                return self.is_id(value).then(|| value.to_owned());
            };
            if !is_reference(name) {
                return None;
            }
            let loose = read(&self.git.join(name)).or_else(|| read(&self.common.join(name)));
            text = loose.or_else(|| self.packed(name))?;
        }
        None
    }

    /// Returns what `HEAD` says, if it is a reference of this repository or a commit.
    pub(super) fn head_line(&self) -> Option<String> {
        let text = read(&self.git.join("HEAD"))?;
        let line = text.trim();
        let is_name = |name: &str| is_reference(name.trim());
        (line.strip_prefix("ref:").is_some_and(is_name) || self.is_id(line))
            .then(|| line.to_owned())
    }

    /// Returns the references by their names, as far as they are files.
    ///
    /// Those that lead to others are left out.
    pub(super) fn references(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![(self.common.join("refs"), "refs".to_owned())];
        while let Some((folder, above)) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let name = format!("{above}/{name}");
                let kind = entry.file_type();
                if found.len() >= MAX_REFERENCES || !is_reference(&name) {
                    continue;
                }
                if kind.is_ok_and(|kind| kind.is_dir()) {
                    folders.push((entry.path(), name));
                } else if let Some(id) = read(&entry.path())
                    && self.is_id(id.trim())
                {
                    found.insert(name, id.trim().to_owned());
                }
            }
        }
        // Read after them: whoever packs references writes the list before the files are removed.
        let packed = read(&self.common.join("packed-refs")).unwrap_or_default();
        for (id, name) in packed.lines().filter_map(|line| line.split_once(' ')) {
            if self.is_id(id) && is_reference(name) {
                found.entry(name.to_owned()).or_insert(id.to_owned());
            }
        }
        found
    }

    /// Returns the commits at which a history was cut off, if it was.
    pub(super) fn shallow(&self) -> Option<String> {
        read(&self.common.join("shallow"))
    }

    fn is_id(&self, text: &str) -> bool {
        text.len() == self.format.digits() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Returns a reference that is packed with others.
    fn packed(&self, name: &str) -> Option<String> {
        let text = read(&self.common.join("packed-refs"))?;
        let mut found = text.lines().filter_map(|line| line.split_once(' '));
        let (id, _) = found.find(|(_, other)| *other == name)?;
        Some(id.to_owned())
    }
}

/// Reports whether a name is one of a reference, and leads to nothing else.
fn is_reference(name: &str) -> bool {
    let mut parts = name.split('/');
    let is_plain = |letter: char| !letter.is_control() && !" ~^:?*[\\".contains(letter);
    name.starts_with("refs/")
        && name.chars().all(is_plain)
        && !parts.any(|part| matches!(part, "" | "." | "..") || part.ends_with(".lock"))
}

fn read(path: &Path) -> Option<String> {
    read_regular(path, MAX_FILE).ok().flatten()
}

/// Returns the path that a line of a file has. Only its own end is no part of it.
fn line_path(text: &str) -> PathBuf {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    path_from_git(text.strip_prefix(' ').unwrap_or(text).as_bytes())
}
