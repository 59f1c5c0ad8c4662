//! A walk through folders of the workspace, in the order of names, following no link.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata};

use crate::workspace::is_hidden;

/// Most levels that a walk goes down. Why: no project has as many, and each holds a folder open.
const MAX_DEPTH: usize = 64;

/// Most entries of one folder that are looked at. Why: they are sorted in memory.
const MAX_ENTRIES: usize = 100_000;

/// An entry that a walk comes to.
pub(crate) struct Entry<'e> {
    /// The folder that has it.
    pub(crate) folder: &'e Dir,
    /// Its name there.
    pub(crate) name: &'e OsString,
    /// The path from where the walk began.
    pub(crate) path: &'e Path,
    /// The number of folders between it and where the walk began.
    pub(crate) depth: usize,
    /// The metadata.
    pub(crate) facts: &'e Metadata,
}

/// The continuation of a walk after an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Go on, into a folder too.
    Into,
    /// Go on, but not into this folder.
    Over,
    /// End the walk.
    End,
}

/// Returns the entries of a folder that tools reach, sorted by name.
pub(crate) fn entries(folder: &Dir) -> std::io::Result<Vec<(OsString, Metadata)>> {
    let mut found = all_entries(folder)?;
    found.retain(|(name, _)| !is_hidden(name));
    Ok(found)
}

fn all_entries(folder: &Dir) -> std::io::Result<Vec<(OsString, Metadata)>> {
    let mut found = Vec::new();
    for entry in folder.entries()?.take(MAX_ENTRIES) {
        let entry = entry?;
        let name = entry.file_name();
        // It may have gone meanwhile.
        if let Ok(facts) = folder.symlink_metadata(&name) {
            found.push((name, facts));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// Walks through a folder, and calls `each` for whatever is in it, folders before what is in them.
///
/// A folder that can't be read is passed over.
pub(crate) fn walk(folder: &Dir, each: &mut dyn FnMut(&Entry<'_>) -> Step) {
    walk_all(folder, &mut |entry| match is_hidden(entry.name) {
        true => Step::Over,
        false => each(entry),
    });
}

/// Walks through a folder, and through what tools don't reach as well.
pub(crate) fn walk_all(folder: &Dir, each: &mut dyn FnMut(&Entry<'_>) -> Step) {
    walk_below(folder, Path::new(""), 0, each);
}

fn walk_below(
    folder: &Dir,
    above: &Path,
    depth: usize,
    each: &mut dyn FnMut(&Entry<'_>) -> Step,
) -> bool {
    for (name, facts) in all_entries(folder).unwrap_or_default() {
        let path: PathBuf = above.join(&name);
        let entry = Entry {
            folder,
            name: &name,
            path: &path,
            depth,
            facts: &facts,
        };
        match each(&entry) {
            Step::End => return false,
            Step::Over => continue,
            Step::Into => {}
        }
        if facts.is_dir()
            && depth + 1 < MAX_DEPTH
            && let Ok(inner) = folder.open_dir_nofollow(&name)
            && !walk_below(&inner, &path, depth + 1, each)
        {
            return false;
        }
    }
    true
}
