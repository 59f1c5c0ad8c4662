//! The words of policies: capabilities and packs, with the tools that each stands for.
//!
//! The capabilities and their tools are those of Ralph's document; `statemark-profiles` has the tools that are ours to offer.
//! A client's own tool has the name that the client gives it: [`NATIVE`] says which of the packs' it is, so that a workflow
//! that is written with the names of one holds all.
//!
//! `write_file` doesn't distinguish tracked files from others, so two capabilities stand for it.

use statemark_text::drain::Drain;
use statemark_text::tool::{NATIVE, PACKS};

pub use statemark_text::tool::capability_tools;

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

/// Returns the tools of a pack.
pub(super) fn pack_tools(pack: &str) -> Option<Vec<&'static str>> {
    let (_, capabilities) = PACKS.iter().find(|(name, _)| *name == pack)?;
    let tools = capabilities.iter().filter_map(|it| capability_tools(it));
    Some(tools.flatten().copied().collect())
}
