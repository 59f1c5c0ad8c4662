//! Files and folders that agents' clients obey.
//!
//! A hook or a server in them is a command that a person's client runs, and what they say is an instruction to agents that
//! no state grants. So no tool of an agent changes them, and no result takes their place.

use std::ffi::OsStr;
use std::path::Path;

use super::fold_case;

/// Their names, on whatever level, in lower case.
const OBEYED: [&str; 32] = [
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
    "opencode.json",
    "opencode.jsonc",
];

/// Reports whether agents' clients obey what has a name, however it is spelled.
#[must_use]
pub fn is_obeyed(name: &OsStr) -> bool {
    let name = fold_case(&name.to_string_lossy());
    OBEYED.contains(&name.as_str())
}

/// Reports whether a path is of something that agents' clients obey, or leads into it.
#[must_use]
pub fn is_obeyed_path(path: &Path) -> bool {
    path.iter().any(is_obeyed)
}
