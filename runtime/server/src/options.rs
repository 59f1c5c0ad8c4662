//! Options of a server: the sets of tools that it offers, and the run that its callers mean.

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
    /// Statewright's tools, as its document specifies them.
    Statewright,
    /// Smithers' tools, as its document specifies them.
    Smithers,
    /// Ralph Workflow's tools, as its document specifies them.
    Ralph,
    /// rstn's tools, as its document specifies them.
    Rstn,
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

    /// The tools of other systems, for clients that call them already.
    pub const PROFILES: [Self; 4] = [Self::Statewright, Self::Smithers, Self::Ralph, Self::Rstn];

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
            Self::Statewright => "statewright",
            Self::Smithers => "smithers",
            Self::Ralph => "ralph",
            Self::Rstn => "rstn",
        }
    }

    /// Returns whether the set is one of our own.
    #[must_use]
    pub fn is_own(self) -> bool {
        Self::OWN.contains(&self)
    }
}

/// The choices that a server is started with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The sets of tools; empty: the default ones.
    pub sets: Vec<Set>,
    /// The only tools that are offered, whatever their set; an empty list offers none.
    pub allowed: Option<Vec<String>>,
    /// True if only tools are offered that change nothing.
    pub read_only: bool,
    /// The run that every caller means, and the only one that a caller may touch.
    pub run: Option<RunId>,
    /// The defaults of Smithers' `ask_human`.
    pub asks: Asks,
}

/// The task that Smithers' `ask_human` asks for, as the environment names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// The run: `SMITHERS_RUN_ID`.
    pub run: Option<String>,
    /// The node: `SMITHERS_NODE_ID`.
    pub node: Option<String>,
    /// The iteration of the node: `SMITHERS_ITERATION`.
    pub iteration: Option<String>,
}
