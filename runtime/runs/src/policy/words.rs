//! Which tools a capability means, and which tools no state restricts.

/// Tools that no state gates and no limit counts: else `allowed_tools: []` would lock a run for ever. What answering, forcing
/// and authoring need is a role, not a state.
pub const UNGATED: &[&str] = &[
    "list_workflows",
    "describe_workflow",
    "start_run",
    "list_runs",
    "get_run",
    "send_event",
    "wait_run",
    "explain_run",
    "get_events",
    "control_run",
    "request_human",
    "list_requests",
    "resolve_request",
    "get_artifact",
    "search_docs",
    "lint_workflow",
    "create_workflow",
    "simulate_workflow",
];

/// Tools that drive a run as those do, but that a state with `capabilities` can leave out; with the word that each needs.
const WITHHELD: &[(&str, &str)] = &[
    ("submit_artifact", "artifact.submit"),
    ("report_progress", "run.report_progress"),
];

/// Tools on a run's past. A state can restrict them, but they don't count: what they change is in the journal anyway, and a
/// record of every look at it would only be in the way of what they are about.
const OF_THE_PAST: &[&str] = &[
    "get_timeline",
    "fork_run",
    "rewind_run",
    "verify_run",
    "migrate_run",
    "checkpoint",
];

/// Whether calls of a tool count: those that drive a run, or look into its past, don't.
#[must_use]
pub fn is_counted(tool: &str) -> bool {
    let counts_never = UNGATED.contains(&tool) || OF_THE_PAST.contains(&tool);
    !counts_never && withheld_by(tool).is_none()
}

/// The word that a tool needs where a state has `capabilities`, if it is one that nothing else restricts.
pub(super) fn withheld_by(tool: &str) -> Option<&'static str> {
    let found = WITHHELD.iter().find(|(name, _)| *name == tool);
    found.map(|(_, word)| *word)
}

/// The built-in words, each with the tools that it means.
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
];

/// The packs, each with its words.
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

/// The tools that a built-in capability means, if it is one.
#[must_use]
pub fn tools_of(word: &str) -> Option<&'static [&'static str]> {
    let found = CAPABILITIES.iter().find(|(name, _)| *name == word);
    found.map(|(_, tools)| *tools)
}

/// The tools of a pack, if it is one.
pub(super) fn tools_of_pack(pack: &str) -> Option<Vec<&'static str>> {
    let (_, words) = PACKS.iter().find(|(name, _)| *name == pack)?;
    let tools = words.iter().filter_map(|word| tools_of(word));
    Some(tools.flatten().copied().collect())
}
