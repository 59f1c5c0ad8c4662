//! The sources that are checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::{Fault, check};

/// The folders of the crates whose English is held.
pub const CRATES: [&str; 16] = [
    "compiler/src",
    "compiler/lsp/src",
    "compiler/cli/src",
    "macros/src",
    "macros/statemark/src",
    "runtime/engine/src",
    "runtime/text/src",
    "runtime/runs/src",
    "runtime/stores/src",
    "runtime/tools/src",
    "runtime/packs/src",
    "runtime/profiles/src",
    "runtime/upstream/src",
    "runtime/executor/src",
    "runtime/server/src",
    "examples",
];

/// Finds the faults of all sources under a folder of the project, by path.
///
/// # Errors
///
/// A folder or file can't be read.
pub fn faults(root: &Path, folder: &str) -> io::Result<BTreeMap<PathBuf, Vec<Fault>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
        if name.extension().is_some_and(|extension| extension == "rs") && !is_test(&name) {
            found.insert(name, check(&fs::read_to_string(&path)?));
        }
    }
    Ok(found)
}

/// Counts faults by folder.
#[must_use]
pub fn folders(faults: &BTreeMap<PathBuf, Vec<Fault>>) -> BTreeMap<PathBuf, Vec<Fault>> {
    let mut folders: BTreeMap<PathBuf, Vec<Fault>> = BTreeMap::new();
    for (path, faults) in faults {
        let folder = path.parent().unwrap_or(path).to_path_buf();
        folders
            .entry(folder)
            .or_default()
            .extend(faults.iter().cloned());
    }
    folders
}

/// Reports whether a file holds tests alone.
fn is_test(path: &Path) -> bool {
    let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
    parts
        .into_iter()
        .any(|part| ["tests", "tests.rs", "target", "benches"].contains(&part.as_str()))
}
