//! Files that no agent's own tools change while a run holds its session.
//!
//! Whoever may write what a client runs or obeys, or what says who decides here, is held by nothing. A shell could; what it
//! may run is for the states to say.

use std::path::{Path, PathBuf};

use statemark_runs::policy::is_obeyed_path;
use statemark_tools::NativeCall;

use super::client::CLIENTS;
use crate::environment::{self, user_folder};
use crate::project::resolve;

/// The names of a project's files and folders that are this program's, on whatever level.
const OWN: [&str; 4] = [
    ".statemark",
    ".statemark-worktrees",
    "statemark.lock",
    "statemark.toml",
];

/// The folders of settings for all users of a machine, by their clients' documentation.
const SYSTEM: [&str; 4] = [
    "/etc/claude-code",
    "/etc/codex",
    "/etc/cursor",
    "/etc/gemini-cli",
];

/// Returns the reason for which a call may not change a file, whatever the states grant.
///
/// Its paths are relative to the root, as policy reads them.
pub(super) fn protects(native: &NativeCall, root: &Path) -> Option<String> {
    let folders = private_folders();
    native.files.iter().find_map(|file| {
        // Some systems take both cases for one name.
        let lower = file.to_lowercase();
        let path = Path::new(&lower);
        let whole = in_lower_case(&root.join(file));
        let has = |name: &str| path.iter().any(|part| part == name);
        let what = if has(".git") {
            "git runs"
        } else if OWN.iter().any(|name| has(name)) || folders.iter().any(|it| whole.starts_with(it))
        {
            "holds this session"
        } else if is_obeyed_path(path) {
            "agents and their clients obey"
        } else {
            return None;
        };
        Some(format!(
            "`{file}` says what {what}, and no agent changes it while a run holds its session: a person may"
        ))
    })
}

/// Returns the folders outside of projects in which clients and this program have settings.
///
/// They are in lower case.
/// Those that have a name of their own in a home are known by that name, wherever they are.
fn private_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    for (variable, file) in CLIENTS.iter().filter_map(|it| it.settings.user_folder) {
        let mut parts = Path::new(file).iter();
        let (first, more) = (parts.next(), parts.next());
        let own = first.filter(|_| more.is_some()).map(Path::new);
        let folder = variable.value().map(PathBuf::from);
        folders.extend(folder.map(|it| it.join(own.unwrap_or(Path::new("")))));
    }
    let own = user_folder(&environment::CONFIG_HOME, ".config");
    for name in ["statemark", "opencode"] {
        folders.extend(own.iter().map(|it| it.join(name)));
    }
    let absolute = folders.iter().filter_map(|it| std::path::absolute(it).ok());
    absolute.map(|it| in_lower_case(&resolve(&it))).collect()
}

fn in_lower_case(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_a_session_is_not_the_agents() {
        let home = user_folder(&environment::CONFIG_HOME, ".config").unwrap();
        let home = home.to_string_lossy();
        let reason = |path: &str| {
            let native = NativeCall {
                files: vec![path.to_owned()],
                ..NativeCall::default()
            };
            protects(&native, Path::new("/project"))
        };
        for path in [
            ".claude/settings.json",
            "sub/.Claude/Settings.local.json",
            ".claude/agents/a.md",
            "CLAUDE.md",
            "docs/AGENTS.md",
            ".envrc",
            ".vscode/tasks.json",
            "statemark.toml",
            "sub/statemark.lock",
            ".statemark/runs.db",
            ".statemark-worktrees/r/src/a",
            "/root/.codex/hooks.json",
            "/etc/claude-code/managed-settings.json",
            ".git/hooks/pre-commit",
            &format!("{home}/statemark/places"),
            &format!("{home}/opencode/plugins/statemark.js"),
        ] {
            assert!(reason(path).is_some(), "{path}");
        }
        for path in [
            "src/settings.json",
            "docs/statemark.toml.md",
            "claude/agents.mdx",
            "/etc/claude-codex/a",
        ] {
            assert_eq!(reason(path), None, "{path}");
        }
    }
}
