//! Conversion of a working copy to a git tree, and back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::child;
use super::{GitError, Repository, failed, is_object_id, path_from_git, path_to_git};
use crate::body::{LeftOut, LeftOutCause};

/// Largest file that is saved. Unit: bytes.
///
/// Why: what is larger is data and no text that somebody works on, and a file of holes has any size.
const MAX_FILE: u64 = 1 << 30;

/// A saved working copy, in the repository's objects and in a temporary index.
#[derive(Debug)]
pub(crate) struct Saved {
    /// The tree.
    pub(crate) tree: String,
    /// Folders that are repositories of their own. The tree doesn't have them.
    pub(crate) nested: Vec<String>,
    /// Other files that the tree doesn't have.
    pub(crate) left_out: Vec<LeftOut>,
    /// Files that only their owner may read.
    pub(super) private: BTreeSet<Vec<u8>>,
    paths: BTreeSet<Vec<u8>>,
    index: TemporaryIndex,
}

/// An index file that is removed when this is dropped.
#[derive(Debug)]
struct TemporaryIndex(PathBuf);

impl TemporaryIndex {
    /// Names one in the session's folder.
    fn new(repository: &Repository) -> Self {
        let name = format!("{}.index", uuid::Uuid::now_v7());
        Self(repository.session.path().join(name))
    }
}

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        // A file that stays is litter, and no reason to fail.
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_file(self.0.with_extension("index.lock"));
    }
}

/// The paths of a working copy.
#[derive(Default)]
struct Listing {
    files: BTreeSet<Vec<u8>>,
    nested: BTreeSet<Vec<u8>>,
}

impl Repository {
    /// Saves the working copy.
    ///
    /// With a tree to restore, also saves ignored files that the tree would overwrite.
    ///
    /// # Errors
    ///
    /// As git's; the tree to restore has a file that no checkpoint may have, or would overwrite one that isn't saved.
    pub(crate) fn save(&self, to_restore: Option<&str>) -> Result<Saved, GitError> {
        let mut listing = self.list_files()?;
        let wanted = match to_restore {
            Some(tree) => self.tree_paths(tree)?,
            None => BTreeSet::new(),
        };
        for name in &wanted {
            // A folder of the tree may be a file now.
            let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let parents = ends.filter_map(|(end, _)| name.get(..end));
            listing.files.extend(parents.map(<[u8]>::to_vec));
            listing.files.insert(name.clone());
        }
        listing.files.retain(|name| !self.protected.has(name));
        listing.nested.retain(|name| !self.protected.has(name));
        let left_out = self.take_left_out(&mut listing.files);
        let mut large = left_out
            .iter()
            .filter(|(_, cause)| *cause == LeftOutCause::TooLarge);
        if let Some((name, _)) = large.find(|(name, _)| wanted.contains(name)) {
            let path = String::from_utf8_lossy(name);
            let cause = format!(
                "`{path}` has more than {MAX_FILE} bytes, so it can't be saved before it is overwritten: move it away"
            );
            return Err(failed("putting the files back", cause));
        }
        let nested = listing.nested.iter();
        let nested = nested.map(|name| String::from_utf8_lossy(name).into_owned());
        let (tree, index) = self.write_tree(&listing.files)?;
        Ok(Saved {
            tree,
            nested: nested.collect(),
            left_out: left_out.into_iter().map(left_out_record).collect(),
            private: self.private_files(&listing.files),
            paths: listing.files,
            index,
        })
    }

    /// Restores the files of a tree, the one of a commit, and compares afterwards.
    ///
    /// Writes only files that differ. Removes saved files that the tree doesn't have. What only its owner may read, now or
    /// when it was saved, stays so.
    pub(crate) fn restore(&self, commit: &str, tree: &str, saved: &Saved) -> Result<(), GitError> {
        let doing = "putting the files back";
        let wanted = self.tree_paths(tree)?;
        for nested in &saved.nested {
            if wanted
                .iter()
                .any(|path| path.starts_with(nested.as_bytes()))
            {
                let cause = format!("`{nested}` is a repository of its own now, and isn't touched");
                return Err(failed(doing, cause));
            }
        }
        for name in &wanted {
            self.check_replaceable(&path_from_git(name), saved)?;
        }
        let words = ["read-tree", "--reset", "-u", tree];
        self.run(doing, &words, Some(&saved.index.0), b"")?;
        let private = self.private_files_of(commit)?;
        for name in private
            .union(&saved.private)
            .filter(|name| wanted.contains(*name))
        {
            close(&self.folder.join(path_from_git(name))).map_err(|error| failed(doing, error))?;
        }
        self.compare(tree, saved)
    }

    /// Checks that writing a file loses nothing.
    ///
    /// Git would remove a folder in its place with everything in it.
    fn check_replaceable(&self, name: &Path, saved: &Saved) -> Result<(), GitError> {
        let doing = "putting the files back";
        let kind = std::fs::symlink_metadata(self.folder.join(name));
        if !kind.is_ok_and(|kind| kind.is_dir()) {
            return Ok(());
        }
        let mut folders = vec![name.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(self.folder.join(&folder));
            for entry in entries.map_err(|error| failed(doing, error))? {
                let entry = entry.map_err(|error| failed(doing, error))?;
                let inside = folder.join(entry.file_name());
                let kind = entry.file_type().map_err(|error| failed(doing, error))?;
                if kind.is_dir() {
                    folders.push(inside);
                } else if !saved.paths.contains(&path_to_git(&inside)) {
                    let (name, inside) = (name.display(), inside.display());
                    let cause = format!(
                        "`{name}` is a folder now, with a file that isn't saved: `{inside}`"
                    );
                    return Err(failed(doing, cause));
                }
            }
        }
        Ok(())
    }

    /// Checks that the saved files and those of the tree are as the tree has them.
    fn compare(&self, tree: &str, saved: &Saved) -> Result<(), GitError> {
        let doing = "comparing the files that were put back";
        let mut paths = self.tree_paths(tree)?;
        paths.extend(saved.paths.iter().cloned());
        let (actual, _) = self.write_tree(&paths)?;
        if actual == tree {
            return Ok(());
        }
        let words = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            tree,
            &actual,
        ];
        let different = self.run(doing, &words, None, b"")?;
        let different: Vec<String> = split_nul(&different)
            .take(5)
            .map(|path| format!("`{}`", String::from_utf8_lossy(path)))
            .collect();
        let cause = format!("they aren't as they were: {}", different.join(", "));
        Err(failed(doing, cause))
    }

    /// Writes files to a tree, through a temporary index.
    fn write_tree(&self, paths: &BTreeSet<Vec<u8>>) -> Result<(String, TemporaryIndex), GitError> {
        let doing = "saving the files";
        let index = TemporaryIndex::new(self);
        let (mut input, mut files) = (Vec::new(), Vec::new());
        let mut folders = BTreeMap::new();
        for name in paths.iter().filter(|name| self.is_file(name, &mut folders)) {
            input.extend_from_slice(name);
            input.push(0);
            files.push(self.folder.join(path_from_git(name)));
        }
        let words = ["read-tree", "--empty"];
        self.run(doing, &words, Some(&index.0), b"")?;
        // A file that vanishes in the meantime counts as one that wasn't there.
        let words = ["update-index", "-z", "--add", "--remove", "--stdin"];
        let mut command = self.command(Some(&index.0));
        command.args(words);
        child::output(doing, command, &input, self.obstacles(&files))?;
        let tree = self.run(doing, &["write-tree"], Some(&index.0), b"")?;
        Ok((super::line(&tree), index))
    }

    /// Reports whether a path is a file or a link. A path through a link is another folder's, and isn't.
    fn is_file(&self, name: &[u8], folders: &mut BTreeMap<PathBuf, bool>) -> bool {
        let name = path_from_git(name);
        let parents = name.ancestors().skip(1);
        let mut parents = parents.filter(|parent| !parent.as_os_str().is_empty());
        let real = parents.all(|parent| {
            *folders.entry(parent.to_path_buf()).or_insert_with(|| {
                let kind = std::fs::symlink_metadata(self.folder.join(parent));
                kind.is_ok_and(|kind| kind.is_dir())
            })
        });
        let kind = std::fs::symlink_metadata(self.folder.join(&name));
        real && kind.is_ok_and(|kind| kind.is_file() || kind.is_symlink())
    }

    /// Takes those out of some files that aren't saved.
    fn take_left_out(&self, files: &mut BTreeSet<Vec<u8>>) -> Vec<(Vec<u8>, LeftOutCause)> {
        let mut left_out = Vec::new();
        files.retain(|name| {
            let facts = std::fs::symlink_metadata(self.folder.join(path_from_git(name)));
            let cause = match facts {
                Ok(facts) if facts.is_file() && facts.len() > MAX_FILE => LeftOutCause::TooLarge,
                Ok(facts) if !facts.is_file() && !facts.is_dir() && !facts.is_symlink() => {
                    LeftOutCause::NoFile
                }
                _ => return true,
            };
            left_out.push((name.clone(), cause));
            false
        });
        left_out
    }

    /// Lists the files that are tracked, and those that are neither tracked nor ignored.
    fn list_files(&self) -> Result<Listing, GitError> {
        let mut listing = Listing::default();
        let tracked = self.list_by_index(&["ls-files", "-s", "-z"])?;
        for entry in split_nul(&tracked) {
            let mut fields = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(fact), Some(name)) = (fields.next(), fields.next()) else {
                continue;
            };
            if fact.starts_with(b"160000 ") {
                let folder = [name, b"/"].concat();
                listing.nested.insert(folder);
            } else {
                listing.files.insert(name.to_vec());
            }
        }
        let others = self.list_by_index(&["ls-files", "-o", "-z", "--exclude-standard"])?;
        for name in split_nul(&others) {
            if name.ends_with(b"/") {
                listing.nested.insert(name.to_vec());
            } else {
                listing.files.insert(name.to_vec());
            }
        }
        Ok(listing)
    }

    /// Lists files by the repository's own index, which is only read.
    fn list_by_index(&self, words: &[&str]) -> Result<Vec<u8>, GitError> {
        // A sparse index names folders by trees, which are among the repository's own objects.
        let mut command = self.over_theirs();
        if let Some(list) = self.ignore_list() {
            command.args(["-c", &format!("core.excludesFile={list}")]);
        }
        if let Some(index) = self.theirs.index() {
            command.env("GIT_INDEX_FILE", index);
        }
        self.link_shared_indexes();
        command.args(words);
        self.output("listing the files", command, b"")
    }

    /// Links the shared parts of an index, which git looks for in the directory that it works in.
    pub(super) fn link_shared_indexes(&self) {
        #[cfg(unix)]
        for part in self.theirs.shared_indexes() {
            let name = part.file_name().unwrap_or_default();
            // It is there already from the call before.
            let _ = std::os::unix::fs::symlink(&part, self.session.path().join(name));
        }
    }

    /// Returns the paths of a tree.
    ///
    /// # Errors
    ///
    /// It has one that no checkpoint may have.
    fn tree_paths(&self, tree: &str) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let doing = "reading the checkpoint";
        if !is_object_id(tree) || !self.fetch(tree)? {
            return Err(failed(doing, format!("the repository has no tree {tree}")));
        }
        let words = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree];
        let names = self.run(doing, &words, None, b"")?;
        let names: BTreeSet<Vec<u8>> = split_nul(&names).map(<[u8]>::to_vec).collect();
        if let Some(name) = names.iter().find(|name| self.protected.has(name)) {
            let name = String::from_utf8_lossy(name);
            let cause = format!(
                "it has `{name}` in it, which belongs to a store or to a folder `.statemark`: nothing is put back over that"
            );
            return Err(failed(doing, cause));
        }
        Ok(names)
    }

    /// Returns those of some files that only their owner may read.
    fn private_files(&self, names: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
        let is_private = |name: &&Vec<u8>| {
            let facts = std::fs::symlink_metadata(self.folder.join(path_from_git(name)));
            facts.is_ok_and(|facts| facts.is_file() && is_for_owner(&facts))
        };
        names.iter().filter(is_private).cloned().collect()
    }

    /// Returns the files that only their owner could read when a commit was made.
    fn private_files_of(&self, commit: &str) -> Result<BTreeSet<Vec<u8>>, GitError> {
        if !is_object_id(commit) || !self.fetch(commit)? {
            return Ok(BTreeSet::new());
        }
        let words = ["cat-file", "commit", commit];
        let text = self.run("reading the checkpoint", &words, None, b"")?;
        let text = String::from_utf8_lossy(&text);
        let names = text.lines().filter_map(|line| line.strip_prefix(PRIVATE));
        Ok(names.filter_map(unescape).collect())
    }
}

fn left_out_record((name, cause): (Vec<u8>, LeftOutCause)) -> LeftOut {
    let path = String::from_utf8_lossy(&name).into_owned();
    LeftOut { path, cause }
}

/// The beginning of a line that names, in a commit's message, a file for its owner alone.
///
/// Why there: git's trees know no such files.
const PRIVATE: &str = "private: ";

/// Writes the name of a file in a line.
///
/// `%` and two digits stand for bytes that are no plain characters.
fn escape(name: &[u8]) -> String {
    let mut text = String::new();
    for byte in name {
        match byte {
            b' '..=b'~' if *byte != b'%' => text.push(char::from(*byte)),
            _ => text += &format!("%{byte:02x}"),
        }
    }
    text
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut name = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        name.push(u8::from_str_radix(digits, 16).ok()?);
        name.extend_from_slice(rest.as_bytes());
    }
    Some(name)
}

#[cfg(unix)]
fn is_for_owner(facts: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(facts) & 0o077 == 0
}

#[cfg(not(unix))]
fn is_for_owner(_: &std::fs::Metadata) -> bool {
    false
}

/// Takes the rights of everybody but the owner from a file. A link has none of its own.
#[cfg(unix)]
fn close(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Ok(());
    }
    let file = crate::files::open(path)?;
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(std::fs::Permissions::from_mode(mode & 0o700))
}

#[cfg(not(unix))]
fn close(_: &Path) -> std::io::Result<()> {
    Ok(())
}

impl Saved {
    /// Returns the lines of a commit's message that name the files which only their owner may read.
    pub(crate) fn notes(&self) -> String {
        let lines = self
            .private
            .iter()
            .map(|name| format!("{PRIVATE}{}\n", escape(name)));
        lines.collect()
    }

    /// Reports whether the saved files are those of a tree.
    pub(crate) fn matches(&self, tree: &str) -> bool {
        self.tree == tree
    }
}

/// Splits git's output at its NUL bytes.
pub(super) fn split_nul(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
}
