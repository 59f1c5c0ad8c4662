//! The feature of a project's branch, and its phase.
//!
//! The convention is that of spec-kit and of rstn: a branch `060-some-name` has its documents in
//! `specs/060-some-name/`.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use statemark_runs::files::read_regular;

use super::Files;

/// The documents of a feature: their names and files.
pub(crate) const DOCUMENTS: [(&str, &str); 5] = [
    ("spec", "spec.md"),
    ("plan", "plan.md"),
    ("tasks", "tasks.md"),
    ("checklist", "checklist.md"),
    ("analysis", "analysis.md"),
];

/// The folder of features' folders.
const FOLDER: &str = "specs";

/// Largest file of git's that is read. Unit: bytes. Why: it has one name in it.
const MAX_SIZE: u64 = 4 << 10;

/// The feature at hand; unknown fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Feature {
    /// The number that the branch begins with.
    pub feature_number: Option<String>,
    /// The rest of the folder's name, or of the branch's if it has no folder.
    pub feature_name: Option<String>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The next phase: `specify`, `plan`, `tasks`, or `implement`.
    pub phase: Option<&'static str>,
    /// Its folder, relative to the root.
    pub spec_dir: Option<String>,
}

impl Feature {
    /// Reads the feature of the current branch.
    pub fn read_from(files: &Files) -> Self {
        let branch = read_branch(files.root());
        let Some((number, name)) = branch.as_deref().and_then(split_branch) else {
            return Self {
                branch,
                ..Self::default()
            };
        };
        let folder = find_folder(files, number, name);
        let has = |document: &str| {
            let file = DOCUMENTS.iter().find(|(word, _)| *word == document);
            let path = folder.as_ref().zip(file);
            path.is_some_and(|(folder, (_, file))| files.is_file(&format!("{folder}/{file}")))
        };
        let phase = match (has("spec"), has("plan"), has("tasks")) {
            (_, _, true) => "implement",
            (_, true, _) => "tasks",
            (true, ..) => "plan",
            _ => "specify",
        };
        // Several branches may work on one feature: it is the folder's.
        let own = folder.as_deref().and_then(split_branch);
        let name = own.map_or(name, |(_, name)| name);
        Self {
            feature_number: Some(number.to_owned()),
            feature_name: Some(name.to_owned()),
            phase: Some(phase),
            spec_dir: folder,
            branch,
        }
    }

    /// Returns the file of a document.
    pub fn document(&self, word: &str) -> Option<String> {
        let (_, file) = DOCUMENTS.iter().find(|(known, _)| *known == word)?;
        let folder = self.spec_dir.as_ref()?;
        Some(format!("{folder}/{file}"))
    }
}

/// Splits `060-some-name` into number and name.
fn split_branch(branch: &str) -> Option<(&str, &str)> {
    // `feature/060-some-name` counts, too.
    let last = branch.rsplit('/').next()?;
    let (number, name) = last.split_once('-')?;
    let is_number = number.len() >= 3 && number.bytes().all(|it| it.is_ascii_digit());
    (is_number && !name.is_empty()).then_some((number, name))
}

/// Finds the folder of a feature: the one of its name, else the only one of its number.
fn find_folder(files: &Files, number: &str, name: &str) -> Option<String> {
    let own = format!("{FOLDER}/{number}-{name}");
    if files.is_folder(&own) {
        return Some(own);
    }
    let begin = format!("{number}-");
    let mut others = files
        .names(FOLDER)
        .into_iter()
        .filter(|it| it.starts_with(&begin) && files.is_folder(&format!("{FOLDER}/{it}")));
    match (others.next(), others.next()) {
        (Some(only), None) => Some(format!("{FOLDER}/{only}")),
        _ => None,
    }
}

/// Reads the current branch from git's own file.
fn read_branch(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let git = if git.is_file() {
        // A worktree: the file says where its folder is.
        let text = read(&git)?;
        let place = text.strip_prefix("gitdir:")?.trim();
        root.join(PathBuf::from(place))
    } else {
        git
    };
    let head = read(&git.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    (!branch.is_empty()).then(|| branch.to_owned())
}

fn read(path: &Path) -> Option<String> {
    read_regular(path, MAX_SIZE).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_features_have_a_number() {
        assert_eq!(split_branch("060-mcp-server"), Some(("060", "mcp-server")));
        assert_eq!(split_branch("feature/1234-x"), Some(("1234", "x")));
        for other in ["main", "06-x", "060-", "060", "abc-x", ""] {
            assert_eq!(split_branch(other), None, "{other}");
        }
    }
}
