//! What a server offers: which tools there are for it, by its options.

use std::collections::BTreeMap;
use std::fmt;

use statemark_runs::RunId;

use crate::tool::{Set, Tool};
use crate::tools;

/// What a server offers.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The sets of tools; the default ones if none is named.
    pub sets: Vec<Set>,
    /// The only tools that are offered, of whatever set; none of them means no tool at all.
    pub allowed: Option<Vec<String>>,
    /// Whether only tools are offered that change nothing.
    pub read_only: bool,
    /// The run that all callers mean, and the only one that they may touch.
    pub run: Option<RunId>,
    /// Where Smithers' `ask_human` asks if it isn't told.
    pub asks: Asks,
}

/// Where a task of Smithers asks people, in the words of its environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// The run: `SMITHERS_RUN_ID`.
    pub run: Option<String>,
    /// The node: `SMITHERS_NODE_ID`.
    pub node: Option<String>,
    /// The iteration of the node: `SMITHERS_ITERATION`.
    pub iteration: Option<String>,
}

/// Why a server can't be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// A tool that nobody has was allowed.
    UnknownTool {
        /// Its name.
        name: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// Sets that are to be offered together have tools of the same names.
    Clash {
        /// The names, each with the sets that have it.
        tools: Vec<(&'static str, Vec<Set>)>,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool { name, known } => {
                write!(
                    out,
                    "there is no tool `{name}`; there are {}",
                    known.join(", ")
                )
            }
            Self::Clash { tools } => {
                let tools = tools.iter().map(|(tool, sets)| {
                    let sets: Vec<&str> = sets.iter().map(|set| set.name()).collect();
                    format!("`{tool}` ({})", sets.join(", "))
                });
                let tools: Vec<String> = tools.collect();
                write!(
                    out,
                    "these can't be offered together, since they have tools of the same names: {}",
                    tools.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for StartError {}

/// The tools that clients are told of, by name; and those of ours beside them that the API has: all that the options leave,
/// unless they name sets of ours.
///
/// # Errors
///
/// The options name a tool that isn't there, or sets that clash.
pub(crate) fn chosen(options: &Options) -> Result<(Vec<Tool>, Vec<Tool>), StartError> {
    let mut tools = tools::all();
    tools.sort_by_key(|tool| tool.name);
    if let Some(allowed) = &options.allowed {
        let is_known = |name: &&String| tools.iter().any(|tool| tool.name == name.as_str());
        if let Some(name) = allowed.iter().find(|name| !is_known(name)) {
            let name = name.clone();
            let sets: &[Set] = if options.sets.is_empty() {
                &Set::OWN
            } else {
                &options.sets
            };
            let known = tools.iter().filter(|tool| sets.contains(&tool.set));
            let known = known.map(|tool| tool.name).collect();
            return Err(StartError::UnknownTool { name, known });
        }
    }
    let (mut tools, mut others): (Vec<_>, Vec<_>) =
        tools.into_iter().partition(|tool| offers(options, tool));
    // Sets of ours that are named are all that there is of ours.
    let is_narrowed = options.sets.iter().any(|set| Set::OWN.contains(set));
    others.retain(|tool| !is_narrowed && Set::OWN.contains(&tool.set) && lets(options, tool));
    if options.allowed.is_some() {
        nearest(options, &mut tools);
    }
    check_names(&tools)?;
    Ok((tools, others))
}

/// Of tools with one name the one that is meant: of the sets that are named or offered by default, else one of ours.
fn nearest(options: &Options, tools: &mut Vec<Tool>) {
    let named: &[Set] = if options.sets.is_empty() {
        &Set::DEFAULT
    } else {
        &options.sets
    };
    let far = |set: &Set| match set {
        set if named.contains(set) => 0,
        set if Set::OWN.contains(set) => 1,
        _ => 2,
    };
    let mut least: BTreeMap<&'static str, u8> = BTreeMap::new();
    for tool in &*tools {
        let least = least.entry(tool.name).or_insert(u8::MAX);
        *least = (*least).min(far(&tool.set));
    }
    tools.retain(|tool| least.get(tool.name) == Some(&far(&tool.set)));
}

/// Whether each name is one tool's; the tools come by name.
fn check_names(tools: &[Tool]) -> Result<(), StartError> {
    let same = tools.chunk_by(|one, other| one.name == other.name);
    let clashes = same.filter_map(|same| match same {
        [first, _, ..] => Some((first.name, same.iter().map(|tool| tool.set).collect())),
        _ => None,
    });
    let tools: Vec<_> = clashes.collect();
    if tools.is_empty() {
        return Ok(());
    }
    Err(StartError::Clash { tools })
}

/// Whether the options leave a tool.
fn offers(options: &Options, tool: &Tool) -> bool {
    if !lets(options, tool) {
        return false;
    }
    if options.allowed.is_some() {
        return true;
    }
    if options.sets.is_empty() {
        return Set::DEFAULT.contains(&tool.set);
    }
    options.sets.contains(&tool.set)
}

/// Whether the options leave a tool, of whatever set.
fn lets(options: &Options, tool: &Tool) -> bool {
    let allowed = options.allowed.as_ref();
    (tool.hints.read_only || !options.read_only)
        && allowed.is_none_or(|all| all.iter().any(|name| name == tool.name))
}
