//! Files that are no part of any checkpoint, in neither direction: stores, and what is ours or git's.
//!
//! A store that was put back would lose what was acknowledged since, and say that it is whole.

use std::path::{Path, PathBuf};

use super::{path_from_git, path_to_git};
use crate::files::open_regular;

/// Folders of which nothing is saved.
const FOLDERS: [&[u8]; 2] = [b".git", b".statemark"];

/// The protected files of a working copy.
#[derive(Debug)]
pub(super) struct Protected {
    folder: PathBuf,
    /// The store, as git names it, if it is in the working copy.
    store: Option<Vec<u8>>,
}

impl Protected {
    /// Protects the store in a file, and whatever else has to be.
    pub(super) fn new(folder: &Path, store: Option<&Path>) -> Self {
        let store = store.and_then(|store| {
            let within = store.parent()?;
            let within = if within.as_os_str().is_empty() {
                Path::new(".")
            } else {
                within
            };
            let store = within.canonicalize().ok()?.join(store.file_name()?);
            Some(path_to_git(store.strip_prefix(folder).ok()?))
        });
        Self {
            folder: folder.to_path_buf(),
            store,
        }
    }

    /// Reports whether a path of the working copy is protected, or leads out of it.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let mut parts = name.split(|byte| *byte == b'/');
        parts.any(|part| {
            matches!(part, b"" | b"." | b"..")
                || FOLDERS
                    .iter()
                    .any(|folder| part.eq_ignore_ascii_case(folder))
        }) || self
            .store
            .as_ref()
            .is_some_and(|store| belongs_to(name, store))
            || self.is_stores(name)
    }

    /// Reports whether a file is a store, whoever uses it, or stands beside one under its name.
    fn is_stores(&self, name: &[u8]) -> bool {
        let begin = name
            .iter()
            .rposition(|byte| *byte == b'/')
            .map_or(0, |at| at + 1);
        let ends = (begin..=name.len()).filter(|end| matches!(name.get(*end), None | Some(b'-')));
        let mut bases = ends.filter_map(|end| name.get(..end));
        bases.any(|base| base.len() > begin && is_store(&self.folder.join(path_from_git(base))))
    }
}

/// Reports whether a file is a store's, by its name: `runs.db`, `runs.db-wal`.
fn belongs_to(name: &[u8], store: &[u8]) -> bool {
    match name.split_at_checked(store.len()) {
        Some((base, rest)) => {
            base.eq_ignore_ascii_case(store)
                && (rest.is_empty() || rest.starts_with(b"-") && !rest.contains(&b'/'))
        }
        None => false,
    }
}

/// Reports whether a file is a store by what it begins with.
fn is_store(path: &Path) -> bool {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file());
    is_file && open_regular(path).is_ok_and(crate::store::is_store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_store_belongs_to_it() {
        let protected = Protected {
            folder: PathBuf::from("/nowhere"),
            store: Some(b"data/runs.db".to_vec()),
        };
        for name in [
            "data/runs.db",
            "data/runs.db-wal",
            "data/runs.db-any",
            "Data/Runs.db",
            ".statemark/x",
            "a/.Statemark/x",
            ".GIT/config",
            "../x",
            "a//b",
            "inner/.git/",
        ] {
            assert!(protected.has(name.as_bytes()), "{name}");
        }
        for name in [
            "runs.db",
            "data/runs.dbx",
            "data/runs.db-x/y",
            "data/run",
            "x.git/y",
        ] {
            assert!(!protected.has(name.as_bytes()), "{name}");
        }
    }
}
