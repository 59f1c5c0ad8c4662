//! Files and folders that agents' clients obey.
//!
//! A hook or a server in them is a command that a person's client runs, and what they say is an instruction to agents that
//! no state grants. So no tool of an agent changes them, and no result takes their place.

use std::path::Path;

use super::fold_case;

/// Their names, on whatever level, in lower case.
const OBEYED: [&str; 34] = [
    ".agents",
    ".aider.conf.yml",
    ".amazonq",
    ".claude",
    ".claude.json",
    ".clinerules",
    ".codex",
    ".continue",
    ".cursor",
    ".cursorrules",
    ".envrc",
    ".gemini",
    // Hooks of git, where `core.hooksPath` says so.
    ".githooks",
    ".goosehints",
    ".junie",
    ".kiro",
    ".mcp.json",
    ".opencode",
    ".roo",
    ".roorules",
    ".rules",
    ".vscode",
    ".windsurf",
    ".windsurfrules",
    ".zed",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "copilot-instructions.md",
    "gemini.md",
    // With this file a folder is a repository, whose configuration says what git runs.
    "head",
    "opencode.json",
    "opencode.jsonc",
];

/// Folders of GitHub's that its agents and VS Code obey, in lower case.
///
/// The others there are a project's own.
const OF_GITHUB: [&str; 5] = ["agents", "chatmodes", "hooks", "instructions", "prompts"];

/// Folders that hold a person's settings of editors, on each system, in lower case.
const SETTINGS: [&str; 3] = [".config", "application support", "roaming"];

/// VS Code, and what is made of it, by their folders' names in lower case.
const EDITORS: [&str; 6] = [
    "code",
    "code - insiders",
    "code - oss",
    "cursor",
    "vscodium",
    "windsurf",
];

/// Reports whether a path is of something that agents' clients obey, or leads into it.
#[must_use]
pub fn is_obeyed_path(path: &Path) -> bool {
    let names = path.iter().map(|name| fold_case(&name.to_string_lossy()));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let of_github = |pair: &[&str]| matches!(pair, [".github", name] if OF_GITHUB.contains(name));
    let of_editor = |three: &[&str]| match three {
        [folder, editor, "user"] => SETTINGS.contains(folder) && EDITORS.contains(editor),
        _ => false,
    };
    names.iter().any(|name| OBEYED.contains(name))
        || names.windows(2).any(of_github)
        || names.windows(3).any(of_editor)
}
