//! The registry: the tools that there are, and those that a server offers by its options.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::tools;
use crate::{Options, Set, Tool};

/// The reason that a server can't be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The options allow a tool that doesn't exist.
    #[error("there is no tool `{name}`; there are {}", known.join(", "))]
    UnknownTool {
        /// The name.
        name: String,
        /// The names of the tools that exist.
        known: Vec<String>,
    },
    /// Sets to be offered together have tools of the same name.
    #[error(
        "these can't be offered together, since they have tools of the same names: {}",
        name_tools(tools)
    )]
    Clash {
        /// Each name, with the sets that have it.
        tools: Vec<(String, Vec<Set>)>,
    },
}

/// Names tools, each with its sets.
fn name_tools(tools: &[(String, Vec<Set>)]) -> String {
    let tools = tools.iter().map(|(tool, sets)| {
        let sets: Vec<&str> = sets.iter().map(|set| set.name()).collect();
        format!("`{tool}` ({})", sets.join(", "))
    });
    tools.collect::<Vec<String>>().join(", ")
}

/// The tools of a server.
pub(crate) struct Registry {
    /// The tools that clients are offered, by name.
    pub(crate) offered: Vec<Tool>,
    /// Our own tools beside them, for the API alone.
    pub(crate) unlisted: Vec<Tool>,
    /// The tools that there are in sets which this server doesn't offer.
    left_out: Vec<(Cow<'static, str>, Set)>,
}

impl Registry {
    /// Chooses the tools of a server.
    ///
    /// The API has all of our own tools that the options leave, unless they name sets of our own.
    pub(crate) fn new(options: &Options, profiles: Vec<Tool>) -> Result<Self, StartError> {
        let mut all = add_profiles(tools::own_tools(), profiles);
        all.sort_by(|one, other| one.name.cmp(&other.name));
        check_allowed(options, &all)?;
        let names: Vec<_> = all.iter().map(|tool| tool.name.clone()).collect();
        let is_left_out = |tool: &&Tool| is_left(options, tool) && !is_offered(options, tool);
        let left_out = all.iter().filter(is_left_out);
        let left_out = left_out.map(|tool| (tool.name.clone(), tool.set)).collect();
        let (mut offered, mut unlisted): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|tool| is_offered(options, tool));
        let names_own_sets = options.sets.iter().any(|set| set.is_own());
        unlisted.retain(|tool| !names_own_sets && tool.set.is_own() && is_left(options, tool));
        if options.allowed.is_some() {
            keep_nearest(options, &mut offered);
        }
        check_names(&offered)?;
        keep_to_offered(&mut offered, &names);
        Ok(Self {
            offered,
            unlisted,
            left_out,
        })
    }

    /// Returns the set of a tool whose set this server doesn't offer.
    pub(crate) fn set_left_out(&self, name: &str) -> Option<Set> {
        let mut all = self.left_out.iter();
        all.find(|(tool, _)| tool == name).map(|(_, set)| *set)
    }

    /// Returns our own tools, offered or not.
    pub(crate) fn own_tools(&self) -> impl Iterator<Item = &Tool> {
        self.all().filter(|tool| tool.set.is_own())
    }

    /// Returns all tools, offered or not.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Tool> {
        self.offered.iter().chain(&self.unlisted)
    }
}

/// The tools of other servers that clients are offered, by name.
///
/// They are apart from the others, since they may change while a server runs.
#[derive(Default)]
pub(crate) struct UpstreamTools(BTreeMap<String, Arc<Tool>>);

impl UpstreamTools {
    /// Chooses those that the options leave.
    pub(crate) fn new(options: &Options, tools: Vec<Tool>) -> Self {
        let left = tools.into_iter().filter(|tool| is_offered(options, tool));
        Self(
            left.map(|tool| (tool.name.to_string(), Arc::new(tool)))
                .collect(),
        )
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<Tool>> {
        self.0.get(name).cloned()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.0.values().map(|tool| &**tool)
    }
}

/// Removes from descriptions what is about tools that aren't offered. `names` has all tools.
///
/// A clause, which ends with a full stop or a semicolon, goes as a whole.
fn keep_to_offered(offered: &mut [Tool], names: &[Cow<'static, str>]) {
    let own: Vec<_> = offered.iter().map(|tool| tool.name.clone()).collect();
    let has = |all: &[Cow<'static, str>], word: &str| all.iter().any(|name| *name == word);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_missing = |word: &str| word.contains('_') && has(names, word) && !has(&own, word);
    let names_missing = |text: &str| text.split(|letter| !is_letter(letter)).any(is_missing);
    for tool in offered {
        if !names_missing(&tool.description) {
            continue;
        }
        let mut kept = String::new();
        for sentence in tool.description.split_inclusive(". ") {
            let clauses = sentence.trim_end().trim_end_matches('.').split("; ");
            let clauses: Vec<&str> = clauses.filter(|clause| !names_missing(clause)).collect();
            if !clauses.is_empty() {
                kept += &format!("{}. ", clauses.join("; "));
            }
        }
        kept.truncate(kept.trim_end().len());
        tool.description = kept;
    }
}

/// Adds tools of profiles to our own, gated as their equivalents are.
fn add_profiles(own: Vec<Tool>, mut profiles: Vec<Tool>) -> Vec<Tool> {
    let gating = |name: &str| own.iter().find(|it| it.name == name).map(|it| it.gating);
    for tool in &mut profiles {
        if let Some(gating) = tool.equivalent.and_then(gating) {
            tool.gating = gating;
        }
        if let Some(escalation) = &mut tool.escalation
            && let Some(gating) = gating(escalation.equivalent)
        {
            escalation.gating = gating;
        }
    }
    own.into_iter().chain(profiles).collect()
}

/// Checks that the options allow only tools that exist.
fn check_allowed(options: &Options, all: &[Tool]) -> Result<(), StartError> {
    let prefixes = &options.upstream_prefixes;
    let is_known = |name: &&String| {
        all.iter().any(|tool| tool.name == name.as_str())
            || prefixes
                .iter()
                .any(|prefix| name.starts_with(prefix.as_str()))
    };
    let allowed = options.allowed.as_ref();
    let unknown = allowed.and_then(|names| names.iter().find(|name| !is_known(name)));
    let Some(name) = unknown else {
        return Ok(());
    };
    let sets: &[Set] = if options.sets.is_empty() {
        &Set::OWN
    } else {
        &options.sets
    };
    let known = all.iter().filter(|tool| sets.contains(&tool.set));
    Err(StartError::UnknownTool {
        name: name.clone(),
        known: known.map(|tool| tool.name.to_string()).collect(),
    })
}

/// Keeps one tool of each name: that of a named or default set, else our own.
fn keep_nearest(options: &Options, tools: &mut Vec<Tool>) {
    let named: &[Set] = if options.sets.is_empty() {
        &Set::DEFAULT
    } else {
        &options.sets
    };
    let distance = |set: Set| match set {
        set if named.contains(&set) => 0,
        set if set.is_own() => 1,
        _ => 2,
    };
    let mut least: BTreeMap<Cow<'static, str>, u8> = BTreeMap::new();
    for tool in &*tools {
        let least = least.entry(tool.name.clone()).or_insert(u8::MAX);
        *least = (*least).min(distance(tool.set));
    }
    tools.retain(|tool| least.get(&tool.name) == Some(&distance(tool.set)));
}

/// Checks that each name belongs to one tool. The tools come sorted by name.
fn check_names(tools: &[Tool]) -> Result<(), StartError> {
    let same = tools.chunk_by(|one, other| one.name == other.name);
    let clashes = same.filter_map(|same| match same {
        [first, _, ..] => {
            let sets = same.iter().map(|tool| tool.set).collect();
            Some((first.name.to_string(), sets))
        }
        _ => None,
    });
    let tools: Vec<_> = clashes.collect();
    if tools.is_empty() {
        return Ok(());
    }
    Err(StartError::Clash { tools })
}

/// Returns whether clients are offered a tool.
fn is_offered(options: &Options, tool: &Tool) -> bool {
    if !is_left(options, tool) {
        return false;
    }
    if options.allowed.is_some() {
        return true;
    }
    if options.sets.is_empty() {
        return tool.set == Set::Upstream || Set::DEFAULT.contains(&tool.set);
    }
    let is_extra = tool.set.is_own() && options.extra.iter().any(|name| tool.name == *name);
    is_extra || options.sets.contains(&tool.set)
}

/// Returns whether `read_only` and `allowed` leave a tool, whatever its set.
fn is_left(options: &Options, tool: &Tool) -> bool {
    let allowed = options.allowed.as_ref();
    (tool.annotations.read_only || !options.read_only)
        && allowed.is_none_or(|names| names.iter().any(|name| tool.name == name.as_str()))
}
