//! The words for tools: capabilities, packs, and what clients of agents call the tools that they have.
//!
//! The compiler knows by them which names a definition may have meant, the policy of runs what each of them grants; both
//! take these lists.

/// The built-in capabilities, each with its tools.
pub const CAPABILITIES: &[(&str, &[&str])] = &[
    (
        "workspace.read",
        &[
            "read_file",
            "read_multiple_files",
            "list_allowed_roots",
            "list_directory",
            "list_directory_recursive",
            "directory_tree",
            "search_files",
            "grep_files",
        ],
    ),
    ("workspace.metadata_read", &["stat_path"]),
    ("workspace.write_ephemeral", &["write_file"]),
    ("workspace.write_tracked", &["write_file"]),
    (
        "workspace.edit",
        &[
            "edit_file",
            "append_file",
            "create_directory",
            "move_file",
            "copy_file",
        ],
    ),
    ("workspace.delete", &["delete_path"]),
    ("process.exec_bounded", &["exec"]),
    (
        "artifact.submit",
        &[
            "submit_artifact",
            "ralph_submit_artifact",
            "ralph_submit_plan_section",
            "ralph_finalize_plan",
            "ralph_get_plan_draft",
            "ralph_discard_plan_draft",
            "declare_complete",
            "coordinate",
        ],
    ),
    ("run.report_progress", &["report_progress"]),
    ("git.status_read", &["git_status", "git_log", "git_show"]),
    ("git.diff_read", &["git_diff"]),
    ("env.read", &["read_env"]),
    ("web.search", &["web_search"]),
    ("web.visit", &["visit_url"]),
    ("media.read", &["read_media", "read_image"]),
    // Tools of other servers have the server's name before them.
    ("upstream.tool_use", &["*__*"]),
];

/// The packs, each with its capabilities.
pub const PACKS: &[(&str, &[&str])] = &[
    (
        "fs",
        &[
            "workspace.read",
            "workspace.metadata_read",
            "workspace.write_tracked",
            "workspace.edit",
            "workspace.delete",
        ],
    ),
    ("git", &["git.status_read", "git.diff_read"]),
    ("exec", &["process.exec_bounded"]),
    ("env", &["env.read"]),
    ("web", &["web.search", "web.visit"]),
    ("media", &["media.read"]),
];

/// The tools of packs that clients have of their own, each with the clients' names for it.
///
/// Each name stands for the others wherever a definition names a tool. Claude Code's come first, then Codex', Gemini CLI's,
/// Cursor's and OpenCode's. What a client's tool does besides, such as a patch that deletes files, its hook tells apart.
pub const NATIVE: &[(&str, &[&str])] = &[
    ("read_file", &["Read", "NotebookRead", "read"]),
    ("read_multiple_files", &["read_many_files"]),
    ("list_directory", &["LS", "list_dir", "List", "list"]),
    ("search_files", &["Glob", "glob"]),
    (
        "grep_files",
        &["Grep", "search_file_content", "grep_search", "grep"],
    ),
    ("write_file", &["Write", "write"]),
    (
        "edit_file",
        &[
            "Edit",
            "MultiEdit",
            "NotebookEdit",
            "replace",
            "StrReplace",
            "edit",
            "multiedit",
        ],
    ),
    ("delete_path", &["Delete"]),
    (
        "exec",
        &[
            "Bash",
            // Runs a command and tells each line of it; and the one of Windows.
            "Monitor",
            "PowerShell",
            "shell",
            "exec_command",
            "unified_exec",
            "local_shell",
            "shell_command",
            "run_shell_command",
            "Shell",
            "run_terminal_cmd",
            "bash",
        ],
    ),
    (
        "web_search",
        &["WebSearch", "google_web_search", "websearch"],
    ),
    ("visit_url", &["WebFetch", "web_fetch", "Fetch", "webfetch"]),
    ("read_image", &["view_image"]),
];

/// Further tools that clients have of their own, for which no pack has one.
///
/// Agents have them to ask, to plan, to hand work on and to look after it. Claude Code's come first, then those of clients
/// that write theirs in small letters.
const OTHERS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "FetchMcpResource",
    "KillShell",
    "ReadLints",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WriteShellStdin",
    "activate_skill",
    "apply_patch",
    "ask_user",
    "find",
    "invoke_agent",
    "ls",
    "patch",
    "question",
    "read_mcp_resource",
    "save_memory",
    "skill",
    "task",
    "todoread",
    "todowrite",
    "update_plan",
    "write_todos",
];

/// Returns the name of every tool of the packs and of clients.
pub fn known_tools() -> impl Iterator<Item = &'static str> + Clone {
    let of_capabilities = CAPABILITIES.iter().flat_map(|(_, tools)| *tools);
    let of_clients = NATIVE.iter().flat_map(|(_, names)| *names);
    let all = of_capabilities.chain(of_clients).chain(OTHERS).copied();
    all.filter(|name| !name.contains('*'))
}

/// Returns the tools of a built-in capability.
#[must_use]
pub fn capability_tools(word: &str) -> Option<&'static [&'static str]> {
    let found = CAPABILITIES.iter().find(|(name, _)| *name == word);
    found.map(|(_, tools)| *tools)
}

/// Returns the built-in capabilities.
pub fn capabilities() -> impl Iterator<Item = &'static str> {
    CAPABILITIES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_tools() {
        let mut names: Vec<&str> = NATIVE
            .iter()
            .flat_map(|(own, names)| std::iter::once(own).chain(*names))
            .chain(OTHERS)
            .copied()
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn packs_have_capabilities_that_there_are() {
        for (pack, words) in PACKS {
            for word in *words {
                assert!(capabilities().any(|it| it == *word), "{pack}: {word}");
            }
        }
    }
}
