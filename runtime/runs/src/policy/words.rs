//! The words of policies: capabilities and packs, with the tools that each stands for.
//!
//! The capabilities and their tools are those of Ralph's document; `statemark-profiles` has the tools that are ours to offer.
//! `write_file` doesn't distinguish tracked files from others, so two capabilities stand for it.

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
];

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
