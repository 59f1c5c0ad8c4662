//! Expected texts in files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
        .to_path_buf()
}

/// Compares a text with the file that holds it, or rewrites the file if `UPDATE` is set. Gives what differs.
pub(crate) fn compare(path: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(path, actual).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok(());
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    Err(format!(
        "{}:\n--- expected\n{expected}\n--- actual\n{actual}\n",
        path.display()
    ))
}

/// Every file under a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    found.into_iter().collect()
}

/// A path as the project writes it: relative to the workspace, with `/`.
pub(crate) fn shown(path: &Path) -> String {
    let root = root();
    path.strip_prefix(&root)
        .unwrap_or(path)
        .display()
        .to_string()
        .replace('\\', "/")
}

/// Where inputs that other people wrote lie, if they are here.
pub(crate) fn outside() -> Option<PathBuf> {
    let folder = root().parent()?.join("shared/corpus");
    folder.is_dir().then_some(folder)
}
