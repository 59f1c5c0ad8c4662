//! Options of a server: the sets of tools that it offers, and the run that its callers mean.

use std::collections::BTreeMap;

use statemark_runs::RunId;

/// A set of tools, of which a server offers some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Driving runs.
    Runs,
    /// Asking people.
    Human,
    /// Artifacts of runs, and their progress.
    Artifacts,
    /// Timelines, forks, rewinds, migrations.
    Time,
    /// Writing workflows.
    Author,
    /// Files, tasks and checks of a project.
    Project,
    /// Delegating work to an agent.
    Agent,
    /// The tools of another system, by its name.
    Profile(&'static str),
    /// An agent's tools for its work, such as files, by the name of the pack.
    Pack(&'static str),
    /// The tools of other servers, behind our policy.
    Upstream,
}

/// The time that a turn of a tool takes of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A read or a write of the store: a millisecond, as a rule.
    Brief,
    /// As long as files, programs or other servers take.
    Long,
    /// A second of a core: it compiles what its caller sends.
    Compiling,
}

impl Set {
    /// The sets of our own tools.
    pub const OWN: [Self; 7] = [
        Self::Runs,
        Self::Human,
        Self::Artifacts,
        Self::Time,
        Self::Author,
        Self::Project,
        Self::Agent,
    ];

    /// The sets that a server offers unless it is told others.
    pub const DEFAULT: [Self; 3] = [Self::Runs, Self::Human, Self::Artifacts];

    /// Returns the name of the set on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Human => "human",
            Self::Artifacts => "artifacts",
            Self::Time => "time",
            Self::Author => "author",
            Self::Project => "project",
            Self::Agent => "agent",
            Self::Upstream => "upstream",
            Self::Profile(name) | Self::Pack(name) => name,
        }
    }

    /// Returns whether the set is one of our own.
    #[must_use]
    pub const fn is_own(self) -> bool {
        !matches!(self, Self::Profile(_) | Self::Pack(_) | Self::Upstream)
    }
}

/// The choices that a server is started with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The sets of tools; empty: the default ones, and those of other servers that are configured.
    pub sets: Vec<Set>,
    /// Our own tools that are offered beside those of the sets, by name.
    pub extra: Vec<&'static str>,
    /// The only tools that are offered, whatever their set; an empty list offers none.
    pub allowed: Option<Vec<String>>,
    /// The beginnings of names of other servers' tools, which may become known later.
    pub upstream_prefixes: Vec<String>,
    /// True if only tools are offered that change nothing.
    pub read_only: bool,
    /// True if agents use packs only while a run holds them.
    pub run_required: bool,
    /// True if the store is the project's own, so that all runs in it are the project's.
    ///
    /// Some may have begun under another id: a folder that has moved has a new one.
    pub own_store: bool,
    /// The run that every caller means, and the only one that a caller may touch.
    pub run: Option<RunId>,
    /// The variables of the environment from which tools take what a call leaves out.
    pub environment: BTreeMap<String, String>,
}
