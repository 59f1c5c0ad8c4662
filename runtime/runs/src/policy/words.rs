//! The words of policies: capabilities and packs, with the tools that each stands for.
//!
//! The capabilities and their tools are those of Ralph's document; `statemark-profiles` has the tools that are ours to offer.
//! A client's own tool has the name that the client gives it: [`NATIVE`] says which of the packs' it is, so that a workflow
//! that is written with the names of one holds all.
//!
//! `write_file` doesn't distinguish tracked files from others, so two capabilities stand for it.

use statemark_text::drain::Drain;

/// The built-in capabilities, each with its tools.
const CAPABILITIES: &[(&str, &[&str])] = &[
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

/// The key of a state that names a drain.
pub(super) const DRAIN: &str = "drain";

/// The capabilities of every drain.
const BASE: &[&str] = &[
    "workspace.read",
    "workspace.metadata_read",
    "git.status_read",
    "git.diff_read",
    "artifact.submit",
    "media.read",
];

/// The capabilities of a drain that changes files, besides.
const WRITE: &[&str] = &[
    "workspace.write_ephemeral",
    "workspace.write_tracked",
    "workspace.edit",
    "workspace.delete",
    "process.exec_bounded",
    "env.read",
];

/// The capability of a drain that reports its progress.
const REPORT: &[&str] = &["run.report_progress"];

/// The capabilities of a drain that looks things up elsewhere.
const VISIT: &[&str] = &["upstream.tool_use", "web.visit"];

/// The capability of a drain that searches elsewhere.
const SEARCH: &[&str] = &["web.search"];

/// Returns the capabilities of a drain, in groups, as far as a server has the tools.
const fn capability_groups(drain: Drain) -> &'static [&'static [&'static str]] {
    match drain {
        Drain::Planning | Drain::Review => &[BASE, VISIT, SEARCH],
        Drain::Development | Drain::Fix => &[BASE, WRITE, REPORT, VISIT, SEARCH],
        Drain::DevelopmentAnalysis | Drain::ReviewAnalysis => &[BASE, VISIT],
        Drain::DevelopmentCommit | Drain::ReviewCommit | Drain::Commit => &[BASE, REPORT],
    }
}

/// The tools of a plan, which only one drain writes.
const PLAN: (Drain, &[&str]) = (
    Drain::Planning,
    &[
        "ralph_submit_plan_section",
        "ralph_finalize_plan",
        "ralph_get_plan_draft",
        "ralph_discard_plan_draft",
    ],
);

/// Returns the tools that a drain may not use, whatever its capabilities say.
pub(super) fn withheld_by_drain(drain: &str) -> &'static [&'static str] {
    if drain == PLAN.0.name() { &[] } else { PLAN.1 }
}

/// Returns the capabilities of a drain, if there is one of that name.
pub(super) fn drain_capabilities(drain: &str) -> Option<impl Iterator<Item = &'static str>> {
    let groups = capability_groups(Drain::find(drain)?);
    Some(groups.iter().copied().flatten().copied())
}

/// The packs, each with its capabilities.
const PACKS: &[(&str, &[&str])] = &[
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
/// Each name stands for the others wherever a definition names a tool. Claude Code's come first, then Codex', Gemini CLI's
/// and Cursor's. What a client's tool does besides, such as a patch that deletes files, its hook tells apart.
const NATIVE: &[(&str, &[&str])] = &[
    ("read_file", &["Read", "NotebookRead"]),
    ("read_multiple_files", &["read_many_files"]),
    ("list_directory", &["LS", "list_dir"]),
    ("search_files", &["Glob", "glob"]),
    (
        "grep_files",
        &["Grep", "search_file_content", "grep_search"],
    ),
    ("write_file", &["Write"]),
    (
        "edit_file",
        &["Edit", "MultiEdit", "NotebookEdit", "replace", "StrReplace"],
    ),
    ("delete_path", &["Delete"]),
    (
        "exec",
        &[
            "Bash",
            "shell",
            "exec_command",
            "unified_exec",
            "local_shell",
            "shell_command",
            "run_shell_command",
            "Shell",
            "run_terminal_cmd",
        ],
    ),
    ("web_search", &["WebSearch", "google_web_search"]),
    ("visit_url", &["WebFetch", "web_fetch"]),
    ("read_image", &["view_image"]),
];

/// Returns the tools of packs that clients have, each with the clients' names for it.
pub fn native_tools() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    NATIVE.iter().copied()
}

/// Returns the tool of a pack that a client's own tool is, if it is one.
#[must_use]
pub fn pack_tool_of(native: &str) -> Option<&'static str> {
    let mut rows = NATIVE.iter();
    let row = rows.find(|(own, names)| *own == native || names.contains(&native));
    row.map(|(own, _)| *own)
}

/// Returns the other names of a tool: that of the pack, and those of clients.
pub(super) fn other_names(tool: &str) -> impl Iterator<Item = &'static str> {
    let row = pack_tool_of(tool).and_then(|own| NATIVE.iter().find(|(it, _)| *it == own));
    let names = row.into_iter().flat_map(|(own, names)| {
        let names = names.iter().copied();
        std::iter::once(*own).chain(names)
    });
    names.filter(move |name| *name != tool)
}

/// Returns the tools of a built-in capability.
#[must_use]
pub fn capability_tools(word: &str) -> Option<&'static [&'static str]> {
    let found = CAPABILITIES.iter().find(|(name, _)| *name == word);
    found.map(|(_, tools)| *tools)
}

/// Returns the tools of a pack.
pub(super) fn pack_tools(pack: &str) -> Option<Vec<&'static str>> {
    let (_, capabilities) = PACKS.iter().find(|(name, _)| *name == pack)?;
    let tools = capabilities.iter().filter_map(|it| capability_tools(it));
    Some(tools.flatten().copied().collect())
}
