//! The findings in a served file: by a workflow that it defines, or by what it is called, which is all that a file with errors
//! has.
//!
//! A word means, in this order: a workflow that is served; one that was, before its file got an error; a file by its path, by
//! its name, or by that without endings; a document by the `name` in its front matter, or by the folder of a `SKILL.md`.
//! Files that aren't served can't be meant.

use std::path::{Path, PathBuf};

use serde_json::Value;
use statemark_compiler::source::MAX_SOURCE_BYTES;

use super::{Served, checked, findings};
use crate::files;
use crate::report::check;
use crate::runs::catalog::ids;

/// The findings in the file that a word means.
pub(super) fn lint(served: &Served, word: &str) -> Option<Value> {
    let own = served.with(|read| {
        let entry = read.entries.get(word)?;
        Some((entry.spec.source.clone(), entry.text.clone()))
    });
    if let Some((name, text)) = own {
        return Some(findings(&checked(&name, &text)));
    }
    let (lost, all) = served.with(|read| {
        let all = read.files.iter().map(|(path, _)| path.clone());
        (read.lost.get(word).cloned(), all.collect::<Vec<PathBuf>>())
    });
    let is = |meant: &dyn Fn(&Path) -> bool| all.iter().find(|path| meant(path));
    let found = lost.and_then(|name| is(&|path| files::shown(path) == name));
    let found = found.or_else(|| is(&|path| files::shown(path) == word));
    let found = found.or_else(|| is(&|path| is_called(path, word)));
    let found = found.or_else(|| is(&|path| calls_itself(path, word)))?;
    let read = files::read(found, MAX_SOURCE_BYTES).ok()?;
    Some(findings(&check(&files::shown(found), read)))
}

/// Whether a file has that name, with or without its endings.
fn is_called(path: &Path, word: &str) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name == word || name.split('.').next() == Some(word))
}

/// Whether a document is called so by what is in it, or by its folder.
fn calls_itself(path: &Path, word: &str) -> bool {
    let name = files::shown(path);
    if !name.ends_with(".md") {
        return false;
    }
    match files::read(path, MAX_SOURCE_BYTES) {
        Ok(Ok(bytes)) => ids(&name, &String::from_utf8_lossy(&bytes)).any(|it| it == word),
        _ => false,
    }
}
