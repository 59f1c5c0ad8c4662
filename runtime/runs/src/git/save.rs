//! A working copy as a tree, and back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{GitError, Repository, bytes, failed, path};

/// A working copy as it is, in the repository's objects and in an index of its own.
#[derive(Debug)]
pub(crate) struct Saved {
    /// The tree.
    pub(crate) tree: String,
    /// Folders that are repositories of their own: not in the tree.
    pub(crate) nested: Vec<String>,
    paths: BTreeSet<Vec<u8>>,
    index: TemporaryIndex,
}

/// An index that is removed when it isn't needed any more.
#[derive(Debug)]
struct TemporaryIndex(PathBuf);

impl TemporaryIndex {
    /// In the repository's own folder: names of files are nobody else's business.
    fn of(repository: &Repository) -> Self {
        let name = format!("statemark-{}.index", uuid::Uuid::now_v7());
        Self(repository.git.join(name))
    }
}

impl Drop for TemporaryIndex {
    fn drop(&mut self) {
        // What can't be removed is litter, and no reason to fail.
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_file(self.0.with_extension("index.lock"));
    }
}

/// The paths that a working copy consists of.
#[derive(Default)]
struct Listing {
    files: BTreeSet<Vec<u8>>,
    nested: BTreeSet<Vec<u8>>,
}

impl Repository {
    /// Saves the working copy. With a tree that is to be put back, what it would overwrite is saved even if it is ignored.
    pub(crate) fn save(&self, over: Option<&str>) -> Result<Saved, GitError> {
        let mut listing = self.listing()?;
        if let Some(tree) = over {
            for wanted in self.paths_of(tree)? {
                // A folder of the tree may be a file now.
                let ends = wanted.iter().enumerate().filter(|(_, byte)| **byte == b'/');
                let around = ends.filter_map(|(end, _)| wanted.get(..end));
                listing.files.extend(around.map(<[u8]>::to_vec));
                listing.files.insert(wanted);
            }
        }
        let nested = listing.nested.iter();
        let nested = nested.map(|name| String::from_utf8_lossy(name).into_owned());
        let (tree, index) = self.tree(&listing.files)?;
        Ok(Saved {
            tree,
            nested: nested.collect(),
            paths: listing.files,
            index,
        })
    }

    /// Puts files back as a tree has them. Only those that differ are written; those that were saved and that the tree
    /// doesn't have are removed. Compares afterwards.
    pub(crate) fn put_back(&self, tree: &str, saved: &Saved) -> Result<(), GitError> {
        let doing = "putting the files back";
        let wanted = self.paths_of(tree)?;
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
            self.is_replaceable(&path(name), saved)?;
        }
        let words = ["read-tree", "--reset", "-u", tree];
        self.run(doing, &words, Some(&saved.index.0), b"")?;
        self.compare(tree, saved)
    }

    /// Whether nothing is lost if a file is put at a path: where a folder is, git would remove it with all that it has.
    fn is_replaceable(&self, name: &Path, saved: &Saved) -> Result<(), GitError> {
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
                } else if !saved.paths.contains(&bytes(&inside)) {
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

    /// Whether the files are as a tree has them: of those that were saved and those of the tree.
    fn compare(&self, tree: &str, saved: &Saved) -> Result<(), GitError> {
        let doing = "comparing the files that were put back";
        let mut paths = self.paths_of(tree)?;
        paths.extend(saved.paths.iter().cloned());
        let (found, _) = self.tree(&paths)?;
        if found == tree {
            return Ok(());
        }
        let words = [
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            tree,
            &found,
        ];
        let different = self.run(doing, &words, None, b"")?;
        let different: Vec<String> = parts(&different)
            .take(5)
            .map(|path| format!("`{}`", String::from_utf8_lossy(path)))
            .collect();
        let cause = format!("they aren't as they were: {}", different.join(", "));
        Err(failed(doing, cause))
    }

    fn tree(&self, paths: &BTreeSet<Vec<u8>>) -> Result<(String, TemporaryIndex), GitError> {
        let doing = "saving the files";
        let index = TemporaryIndex::of(self);
        let mut input = Vec::new();
        let mut folders = BTreeMap::new();
        for name in paths.iter().filter(|name| self.is_file(name, &mut folders)) {
            input.extend_from_slice(name);
            input.push(0);
        }
        let words = ["read-tree", "--empty"];
        self.run(doing, &words, Some(&index.0), b"")?;
        // A file that goes away in the meantime is a file that isn't there.
        let words = ["update-index", "-z", "--add", "--remove", "--stdin"];
        self.run(doing, &words, Some(&index.0), &input)?;
        let tree = self.run(doing, &["write-tree"], Some(&index.0), b"")?;
        Ok((super::text(&tree), index))
    }

    /// Whether there is a file or a link, and not behind a link: that would be another folder's.
    fn is_file(&self, name: &[u8], folders: &mut BTreeMap<PathBuf, bool>) -> bool {
        let name = path(name);
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

    /// What is tracked, and what is neither tracked nor ignored.
    fn listing(&self) -> Result<Listing, GitError> {
        let doing = "listing the files";
        let mut listing = Listing::default();
        let tracked = self.run(doing, &["ls-files", "-s", "-z"], None, b"")?;
        for entry in parts(&tracked) {
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
        let words = ["ls-files", "-o", "-z", "--exclude-standard"];
        let others = self.run(doing, &words, None, b"")?;
        for name in parts(&others) {
            if name.ends_with(b"/") {
                listing.nested.insert(name.to_vec());
            } else {
                listing.files.insert(name.to_vec());
            }
        }
        Ok(listing)
    }

    fn paths_of(&self, tree: &str) -> Result<BTreeSet<Vec<u8>>, GitError> {
        let words = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree];
        let names = self.run("reading the checkpoint", &words, None, b"")?;
        Ok(parts(&names).map(<[u8]>::to_vec).collect())
    }
}

impl Saved {
    /// Whether the files are what a tree says already.
    pub(crate) fn is(&self, tree: &str) -> bool {
        self.tree == tree
    }
}

/// What lies between zeros.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
}
