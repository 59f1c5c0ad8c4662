//! Files that no agent's own tools change while a run holds its session.
//!
//! Whoever may write what a client runs or obeys, or what says who decides here, is held by nothing. A shell could; what it
//! may run is for the states to say.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use statemark_runs::policy::{fold_case, is_obeyed_path};
use statemark_tools::NativeCall;

use super::client::CLIENTS;
use crate::environment::{self, user_folder};
use crate::places::resolve;

/// The names of a project's files and folders that are this program's, on whatever level.
const OWN: [&str; 4] = [
    ".statemark",
    ".statemark-worktrees",
    "statemark.lock",
    "statemark.toml",
];

/// The names of what git runs, on whatever level.
///
/// They are repositories, a person's settings, and hooks that a project may have.
const GIT: [&str; 6] = [
    ".git",
    ".gitconfig",
    ".husky",
    ".lefthook.yml",
    ".pre-commit-config.yaml",
    "lefthook.yml",
];

/// The folders of settings for all users of a machine, by their clients' documentation.
const SYSTEM: [&str; 4] = [
    "/etc/claude-code",
    "/etc/codex",
    "/etc/cursor",
    "/etc/gemini-cli",
];

/// The words with which the names of servers' tools begin that only look.
const LOOKING: [&str; 12] = [
    "cat",
    "directory_tree",
    "find",
    "get",
    "grep",
    "head",
    "list",
    "read",
    "search",
    "show",
    "stat",
    "view",
];

/// Words in the names of tools that change something, however the name begins.
const CHANGING: [&str; 8] = [
    "delete", "edit", "move", "remove", "rename", "replace", "update", "write",
];

/// Longest text that may be a path. Unit: bytes. Why: systems take no longer one.
const MAX_PATH: usize = 4096;

/// Returns the reason for which a call may not change a file, whatever the states grant.
///
/// Its paths are relative to the root, as policy reads them. `server_tool` is the tool's name there, if it is one of another
/// server, of which only the name says whether it changes anything.
pub(super) fn protects(
    native: &NativeCall,
    server_tool: Option<&str>,
    root: &Path,
) -> Option<String> {
    protects_in(native, server_tool, root, &private_folders())
}

fn protects_in(
    native: &NativeCall,
    server_tool: Option<&str>,
    root: &Path,
    folders: &[PathBuf],
) -> Option<String> {
    let mut files = native.files.clone();
    if server_tool.is_some_and(|name| !only_looks(&name.to_lowercase())) {
        collect_paths(&native.arguments, &mut files);
    }
    files.iter().find_map(|file| {
        let folded = fold(Path::new(file));
        let whole = fold(&root.join(file));
        let has = |name: &str| folded.iter().any(|part| is_spelled(part, name));
        let what = if GIT.iter().any(|name| has(name)) {
            "git runs"
        } else if OWN.iter().any(|name| has(name)) || folders.iter().any(|it| whole.starts_with(it))
        {
            "holds this session"
        } else if is_obeyed_path(&folded) {
            "agents and their clients obey"
        } else {
            return None;
        };
        Some(format!(
            "`{file}` says what {what}, and no agent changes it while a run holds its session: a person may"
        ))
    })
}

/// Reports whether a server's tool only looks, as far as its name in lower case tells.
fn only_looks(name: &str) -> bool {
    LOOKING.iter().any(|word| name.starts_with(word))
        && !CHANGING.iter().any(|word| name.contains(word))
}

/// Collects the texts in arguments that may be paths.
fn collect_paths(arguments: &Value, paths: &mut Vec<String>) {
    match arguments {
        Value::String(text) => {
            let is_path = text.len() <= MAX_PATH && !text.contains(char::is_whitespace);
            paths.extend(is_path.then(|| text.trim_start_matches("file://").to_owned()));
        }
        Value::Array(all) => all.iter().for_each(|it| collect_paths(it, paths)),
        Value::Object(fields) => fields.values().for_each(|it| collect_paths(it, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a path whose parts are spelled as the most lenient file systems compare them.
///
/// Some take both cases for one, and letters that are others in one of them; HFS+ overlooks what can't be seen; NTFS drops
/// dots and blanks at the end, and what follows a colon. Source: git's `is_hfs_dotgit` and `is_ntfs_dotgit`.
fn fold(path: &Path) -> PathBuf {
    let fold_part = |part: Component<'_>| {
        let Component::Normal(part) = part else {
            return part.as_os_str().to_owned();
        };
        let part = part.to_string_lossy();
        let name = part.split(':').next().unwrap_or_default();
        let seen: String = name.chars().filter(|it| !is_overlooked(*it)).collect();
        let folded = fold_case(&seen);
        OsString::from(folded.trim_end_matches(['.', ' ']))
    };
    path.components().map(fold_part).collect()
}

/// Reports whether HFS+ overlooks a character in a name.
fn is_overlooked(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Reports whether a part of a path is a name, or the short one that NTFS gives it: `git~1` for `.git`.
fn is_spelled(part: &OsStr, name: &str) -> bool {
    let part = part.to_string_lossy();
    let short = part.split_once('~').filter(|(stem, number)| {
        let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        is_number && !stem.is_empty() && name.trim_start_matches('.').starts_with(stem)
    });
    part == name || short.is_some()
}

/// Returns the folders outside of projects in which clients and this program have settings.
///
/// They are spelled as [`fold`] does.
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
    for name in ["statemark", "opencode", "git"] {
        folders.extend(own.iter().map(|it| it.join(name)));
    }
    let absolute = folders.iter().filter_map(|it| std::path::absolute(it).ok());
    absolute.map(|it| fold(&resolve(&it))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_holds_a_session_is_not_the_agents() {
        let folders = [
            PathBuf::from("/home/ann/.config/statemark"),
            PathBuf::from("/etc/codex"),
        ];
        let reason = |path: &str| {
            let native = NativeCall {
                files: vec![path.to_owned()],
                ..NativeCall::default()
            };
            protects_in(&native, None, Path::new("/project"), &folders)
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
            "/etc/codex/config.toml",
            ".git/hooks/pre-commit",
            ".g\u{200c}it/config",
            "GIT~1/config",
            ".git::$INDEX_ALLOCATION/config",
            ".git./config",
            ".husky/pre-commit",
            ".pre-commit-config.yaml",
            ".clinerules/a.md",
            ".githooks/pre-commit",
            ".github/hooks/x.json",
            ".GitHub/Instructions/x.instructions.md",
            "src/b/HEAD",
            "/home/ann/.config/Code/User/settings.json",
            "/Users/ann/Library/Application Support/Cursor/User/mcp.json",
            "/home/ann/.gitconfig",
            ".\u{17f}tatemark/runs.db",
            ".claude::$DATA/settings.json",
            "/home/ann/.config/statemark/places",
        ] {
            assert!(reason(path).is_some(), "{path}");
        }
        for path in [
            "src/settings.json",
            "docs/statemark.toml.md",
            "claude/agents.mdx",
            "/etc/codexes/a",
            "git~a/x",
            ".github/workflows/ci.yml",
            "code/user/settings.json",
            "src/header.rs",
            ".gitignore",
        ] {
            assert_eq!(reason(path), None, "{path}");
        }
        let of_server = |tool: &str, arguments: Value| {
            let native = NativeCall {
                arguments,
                ..NativeCall::default()
            };
            protects_in(&native, Some(tool), Path::new("/project"), &folders).is_some()
        };
        assert!(of_server(
            "write_file",
            json!({"path": ".claude/settings.json", "content": "x"})
        ));
        assert!(of_server(
            "move_file",
            json!({"more": [{"to": "file:///x/.git/config"}]})
        ));
        assert!(of_server("find_and_replace", json!({"path": "CLAUDE.md"})));
        assert!(!of_server("read_file", json!({"path": "CLAUDE.md"})));
        assert!(!of_server(
            "write_file",
            json!({"path": "src/a", "content": "see CLAUDE.md"})
        ));
    }
}
