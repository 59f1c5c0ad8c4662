//! Expected texts in files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the workspace's root.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = own.ancestors().nth(2);
    root.unwrap_or(own).to_path_buf()
}

/// Reports whether a text has a name that doesn't begin a longer one.
pub fn mentions(text: &str, name: &str) -> bool {
    let continues = |next: char| next.is_alphanumeric() || next == '_' || next == '-';
    text.match_indices(name).any(|(at, found)| {
        let rest = text.get(at + found.len()..);
        rest.is_some_and(|rest| !rest.starts_with(continues))
    })
}

/// Returns every file under a folder, sorted.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    found.into_iter().collect()
}

/// Returns a path as the project writes it: relative to the workspace, with `/`.
pub fn relative(path: &Path) -> String {
    let root = root();
    let path = path.strip_prefix(&root).unwrap_or(path);
    path.display().to_string().replace('\\', "/")
}

/// Reports whether `UPDATE` asks for expected texts to be rewritten.
pub fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Compares a text with the file that holds it, or rewrites the file if `UPDATE` is set.
///
/// # Errors
///
/// Where they differ, with the first lines that do.
pub fn compare(path: &Path, actual: &str) -> Result<(), String> {
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    if is_update() {
        return fs::write(path, actual).map_err(|error| format!("{}: {error}", path.display()));
    }
    let difference = first_difference(&expected, actual);
    Err(format!(
        "{}, line {difference}\nUPDATE=1 rewrites it",
        relative(path)
    ))
}

/// Lines shown before the first that differs. Unit: lines.
const BEFORE: usize = 3;

/// Lines shown of either text. Unit: lines. Why: enough to recognize a place, few enough for a screen.
const SHOWN: usize = 20;

/// Returns the first lines in which two texts differ: their number, the expected ones, the actual ones.
pub fn first_difference(expected: &str, actual: &str) -> String {
    let lines = expected.lines().zip(actual.lines());
    let at = lines.take_while(|(one, other)| one == other).count();
    let excerpt = |text: &str| {
        let lines = text.lines().skip(at.saturating_sub(BEFORE)).take(SHOWN);
        lines.fold(String::new(), |all, line| all + "  " + line + "\n")
    };
    let (expected, actual) = (excerpt(expected), excerpt(actual));
    format!("{}:\nexpected:\n{expected}actual:\n{actual}", at + 1)
}
