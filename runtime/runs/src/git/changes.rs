//! Previews of restoring files.

use serde::Serialize;

use super::save::split_nul;
use super::{GitError, Repository};

/// Most files that are listed. Why: nobody reads more, and the counts are complete.
const MAX_LISTED: usize = 100;

/// The change that restoring would make to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// The file would be created again.
    Added,
    /// The file would get its former content.
    Changed,
    /// The file would be deleted.
    Deleted,
}

impl FileFate {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// A file that restoring would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// Its path in the working copy.
    pub path: String,
    /// The change.
    pub fate: FileFate,
}

/// The files that restoring would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileChanges {
    /// The number of files that would be created again.
    pub added: usize,
    /// The number of files that would get their former content.
    pub changed: usize,
    /// The number of files that would be deleted.
    pub deleted: usize,
    /// The first of the files, in the order of their paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileChange>,
}

impl FileChanges {
    /// Returns the number of files that aren't listed.
    #[must_use]
    pub fn more(&self) -> usize {
        let total = self.added + self.changed + self.deleted;
        total.saturating_sub(self.files.len())
    }
}

impl Repository {
    /// Returns the changes that restoring a tree would make. Touches neither files nor references.
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
        let differences = self.run("comparing the files", &words, None, b"")?;
        let mut changes = FileChanges::default();
        let mut parts = split_nul(&differences);
        while let (Some(status), Some(path)) = (parts.next(), parts.next()) {
            let (fate, count) = match status {
                b"A" => (FileFate::Added, &mut changes.added),
                b"D" => (FileFate::Deleted, &mut changes.deleted),
                _ => (FileFate::Changed, &mut changes.changed),
            };
            *count += 1;
            if changes.files.len() < MAX_LISTED {
                let path = String::from_utf8_lossy(path).into_owned();
                changes.files.push(FileChange { path, fate });
            }
        }
        Ok(changes)
    }
}
