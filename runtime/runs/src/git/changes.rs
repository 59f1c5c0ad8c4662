//! What putting files back would change.

use serde::Serialize;

use super::save::parts;
use super::{GitError, Repository};

/// Most files that are named. Why: nobody reads more, and how many there are is said.
const MOST: usize = 100;

/// What would become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// It would be there again.
    Added,
    /// It would be as it was.
    Changed,
    /// It would be gone.
    Deleted,
}

impl FileFate {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// A file, and what would become of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Its path in the working copy.
    pub path: String,
    /// What.
    pub fate: FileFate,
}

/// What would become of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileChanges {
    /// How many would be there again.
    pub added: usize,
    /// How many would be as they were.
    pub changed: usize,
    /// How many would be gone.
    pub deleted: usize,
    /// The first of them, by their paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
}

impl FileChanges {
    /// How many aren't named.
    #[must_use]
    pub fn more(&self) -> usize {
        let all = self.added + self.changed + self.deleted;
        all.saturating_sub(self.files.len())
    }
}

impl Repository {
    /// What would change if the files were put back to a tree. Neither files nor anything that has a name are touched.
    pub(crate) fn changes(&self, to: &str) -> Result<FileChanges, GitError> {
        let saved = self.save(Some(to))?;
        let words = [
            "diff-tree",
            "-r",
            "-z",
            "--name-status",
            "--no-renames",
            &saved.tree,
            to,
        ];
        let told = self.run("comparing the files", &words, None, b"")?;
        let mut changes = FileChanges::default();
        let mut parts = parts(&told);
        while let (Some(status), Some(path)) = (parts.next(), parts.next()) {
            let (fate, count) = match status {
                b"A" => (FileFate::Added, &mut changes.added),
                b"D" => (FileFate::Deleted, &mut changes.deleted),
                _ => (FileFate::Changed, &mut changes.changed),
            };
            *count += 1;
            if changes.files.len() < MOST {
                let path = String::from_utf8_lossy(path).into_owned();
                changes.files.push(FileChange { path, fate });
            }
        }
        Ok(changes)
    }
}
