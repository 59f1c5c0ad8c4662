//! Tool policy: which tools the active states of a run grant. Asked by servers, hooks and executors.
//!
//! - A state grants the union of its `allowed_tools` and the tools of its `capabilities`. A state with neither doesn't
//!   restrict; `[]` grants nothing.
//! - Grants of ancestors intersect; grants of active leaves unite. `disallowed_tools` of any active state wins.
//! - Tools that drive a run are never restricted, or a state could lock it for ever. Two of them, submitting artifacts and
//!   reporting progress, are withheld by a state whose `capabilities` leave their words out.
//! - A policy that can't be read denies, and says so.
//!
//! Deliberately not here: the limits of a visit ([`ReserveCall`](crate::ReserveCall) counts those), and the rights of
//! roles, which don't depend on the state.

mod arguments;
mod command;
mod environment;
mod obeyed;
mod pattern;
mod persons;
mod words;

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::StateId;

pub use arguments::{PATH_ARGUMENTS, fold_case, is_glob, normal_path};
pub use command::{Command, FOLDER_ARGUMENTS, Unread, read_line, split_words};
pub use environment::StateEnvironment;
pub use obeyed::is_obeyed_path;
pub use pattern::Pattern;
pub use persons::{command_words, person_command};
pub use words::{capability_tools, native_tools, pack_tool_of};

use command::{CommandPattern, takes_commands};
use pattern::{call_commands, check_commands, check_granted};
use words::{DRAIN, drain_capabilities, withheld_by_drain};

use crate::actor::Role;
use crate::loaded::Loaded;
use crate::phrase::list;

/// The power that states have over a tool. Each tool declares its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gating {
    /// No state restricts it, and no limit counts it.
    ///
    /// Otherwise `allowed_tools: []` would lock a run for ever. Answering, forcing and authoring need a role, not a state.
    Free,
    /// A state withholds it by `capabilities` that leave this word out.
    ///
    /// It drives a run, so that nothing else restricts it and no limit counts it.
    Needs(&'static str),
    /// A state can restrict it, but no limit counts it.
    ///
    /// It reads or changes a run's history: its changes are in the journal anyway, and a record of each look at it would only
    /// obscure the history.
    Uncounted,
    /// A state can restrict it, and limits count it.
    Counted,
}

/// The policy's answer to a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The call is allowed.
    Allow,
    /// The call is denied.
    Deny(Denial),
}

/// The reason for which a call is denied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Denial {
    /// The reason for programs: `not_granted`, `disallowed`, `unreadable_policy`.
    pub code: &'static str,
    /// The reason for people.
    pub reason: String,
    /// The active states.
    pub states: Vec<String>,
    /// Their grants, as the definition writes them.
    pub granted: Vec<String>,
    /// The enabled events.
    pub legal: Vec<String>,
    /// The run's other states that grant the call, at most [`MAX_GRANTING`].
    pub granted_in: Vec<String>,
}

/// Most states that a denial names. Unit: states. Why: a caller chooses one of a few.
pub const MAX_GRANTING: usize = 8;

/// The grants of the active states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grants {
    /// Allowed patterns as the definition writes them; `None` if nothing is restricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// Disallowed patterns, which win.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed: Vec<String>,
}

/// The policy of one state.
struct Grant {
    allowed: Option<Vec<Pattern>>,
    /// Its `capabilities`, if it has any.
    capabilities: Option<Capabilities>,
    disallowed: Vec<Pattern>,
    /// Its `allowed_commands`, if it has any.
    commands: Option<Commands>,
}

/// The commands that one state allows.
struct Commands {
    /// The patterns as the definition writes them.
    texts: Vec<String>,
    patterns: Vec<CommandPattern>,
    /// The tool that is meant besides those that are known to take commands.
    tool: Option<String>,
}

/// The capabilities of one state.
#[derive(Default)]
struct Capabilities {
    /// The words with their built-in meaning: those that the definition doesn't redefine.
    words: Vec<String>,
    /// The tools of all words.
    tools: Vec<Pattern>,
}

impl Grant {
    /// Reports whether its `capabilities` withhold a tool that needs a word.
    fn withholds(&self, tool: &str, word: &str, arguments: &Value) -> bool {
        let capabilities = self.capabilities.as_ref();
        capabilities.is_some_and(|capabilities| {
            !capabilities.words.iter().any(|own| own == word)
                && check_granted(&capabilities.tools, tool, arguments).is_err()
        })
    }

    /// Reports whether it grants a call.
    fn allows(&self, tool: &str, arguments: &Value) -> bool {
        self.check(tool, arguments).is_ok()
    }

    /// Checks that its `allowed_tools`, `capabilities` and `allowed_commands` grant a call.
    ///
    /// # Errors
    ///
    /// Why not, in words that follow the state's name.
    fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        if let Some(patterns) = &self.allowed {
            check_granted(patterns, tool, arguments).map_err(|why| {
                let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
                match patterns.as_slice() {
                    [] => "grants no tools".to_owned(),
                    _ => format!("grants {}{why}", list(&patterns)),
                }
            })?;
        }
        let Some(commands) = self.commands.as_ref().filter(|it| it.hold(tool)) else {
            return Ok(());
        };
        let called = call_commands(tool, arguments).unwrap_or_else(|| Ok(Vec::new()));
        check_commands(called, &commands.patterns).map_err(|why| match commands.texts.as_slice() {
            [] => "allows no commands".to_owned(),
            texts => format!("allows the commands {}{why}", list(texts)),
        })
    }
}

impl Commands {
    /// Reports whether they hold for a tool.
    fn hold(&self, tool: &str) -> bool {
        takes_commands(tool) || self.tool.as_deref() == Some(tool)
    }
}

impl Loaded {
    /// Decides whether the active states let a tool be called with these arguments.
    #[must_use]
    pub fn may_use(&self, tool: &str, gating: Gating, arguments: &Value) -> Verdict {
        if gating == Gating::Free {
            return Verdict::Allow;
        }
        let deny = |code, reason| {
            let granted_in = self.granting_states(tool, gating, arguments);
            Verdict::Deny(self.denial(code, reason, granted_in))
        };
        let paths = match self.grant_paths() {
            Ok(paths) => paths,
            Err(defect) => return deny("unreadable_policy", defect),
        };
        if let Gating::Needs(capability) = gating {
            let withholds =
                |(_, grant): &&(String, Grant)| grant.withholds(tool, capability, arguments);
            let withholding = paths.iter().map(|path| path.iter().find(withholds));
            return match withholding.collect::<Option<Vec<_>>>() {
                Some(states) if !states.is_empty() => {
                    let names: Vec<String> = states.iter().map(|(name, _)| name.clone()).collect();
                    let names = list(&names);
                    deny(
                        "not_granted",
                        format!(
                            "the `capabilities` of {names} leave out `{capability}`, which `{tool}` needs"
                        ),
                    )
                }
                _ => Verdict::Allow,
            };
        }
        for (state, grant) in paths.iter().flatten() {
            if let Some(pattern) = grant
                .disallowed
                .iter()
                .find(|it| it.forbids(tool, arguments))
            {
                let reason = format!("`{state}` disallows `{}` by `{pattern}`", tool);
                return deny("disallowed", reason);
            }
        }
        let allows = |(_, grant): &(String, Grant)| grant.allows(tool, arguments);
        if paths.iter().any(|path| path.iter().all(allows)) {
            return Verdict::Allow;
        }
        let mut restrictions: Vec<String> = Vec::new();
        for (state, grant) in paths
            .iter()
            .filter_map(|path| path.iter().find(|it| !allows(it)))
        {
            let why = grant.check(tool, arguments).err().unwrap_or_default();
            let text = format!("`{state}` {why}");
            if !restrictions.contains(&text) {
                restrictions.push(text);
            }
        }
        let events = self.legality().enabled_events();
        let remedy = if events.is_empty() {
            String::new()
        } else {
            format!("; go on with {}", list(&events))
        };
        deny(
            "not_granted",
            format!(
                "`{tool}` isn't granted: {}{remedy}",
                restrictions.join(", ")
            ),
        )
    }

    /// Reports whether the active states let a tool be called with any arguments at all.
    #[must_use]
    pub fn may_offer(&self, tool: &str, gating: Gating) -> bool {
        if matches!(gating, Gating::Free | Gating::Needs(_)) {
            return self.may_use(tool, gating, &Value::Null) == Verdict::Allow;
        }
        let Ok(paths) = self.grant_paths() else {
            return false;
        };
        let mut disallowed = paths.iter().flatten().flat_map(|(_, it)| &it.disallowed);
        let may_allow = |(_, grant): &(String, Grant)| {
            let allowed = grant.allowed.as_ref();
            allowed.is_none_or(|patterns| patterns.iter().any(|it| it.names(tool)))
        };
        !disallowed.any(|it| it.covers_all_calls(tool))
            && paths.iter().any(|path| path.iter().all(may_allow))
    }

    /// Returns the grants of the active states, as the definition writes them.
    #[must_use]
    pub fn grants(&self) -> Grants {
        let mut allowed: Option<Vec<String>> = None;
        let mut disallowed: Vec<String> = Vec::new();
        for path in self.grant_paths().unwrap_or_default() {
            // Readers get the innermost state that restricts; its ancestors can only take away.
            let innermost = path
                .iter()
                .rev()
                .find_map(|(_, grant)| grant.allowed.as_ref());
            let is_taken_away = |pattern: &&Pattern| {
                let others = path.iter().filter_map(|(_, grant)| grant.allowed.as_ref());
                let mut others = others.filter(|all| !all.iter().any(|it| it.may_cover(pattern)));
                others.next().is_some()
            };
            let patterns = innermost.into_iter().flatten();
            for pattern in patterns.filter(|it| !is_taken_away(it)) {
                let all = allowed.get_or_insert_default();
                let text = pattern.to_string();
                if !all.contains(&text) {
                    all.push(text);
                }
            }
            if innermost.is_some_and(Vec::is_empty) {
                allowed.get_or_insert_default();
            }
            for pattern in path.iter().flat_map(|(_, grant)| &grant.disallowed) {
                let text = pattern.to_string();
                if !disallowed.contains(&text) {
                    disallowed.push(text);
                }
            }
        }
        Grants {
            allowed,
            disallowed,
        }
    }

    /// Reports whether the end of the run releases its callers from the policy.
    ///
    /// A run that an agent has given up does only if its states restrict nothing, or if the definition says
    /// `deactivate: release`.
    #[must_use]
    pub fn releases_tools(&self) -> bool {
        !self.state.holds
    }

    /// Reports whether the run goes on restricting its callers if one of this role gives it up now.
    ///
    /// Else an agent would switch policy off by that.
    pub(crate) fn holds_if_given_up(&self, by: Role) -> bool {
        let releases = self.workflow.meta().get("deactivate") == Some(&Value::from("release"));
        if by != Role::Agent || releases {
            return false;
        }
        let restricts = |(_, grant): &(String, Grant)| {
            grant.allowed.is_some() || grant.commands.is_some() || !grant.disallowed.is_empty()
        };
        // A policy that can't be read denies.
        let paths = self.grant_paths();
        paths.map_or(true, |paths| paths.iter().flatten().any(restricts))
    }

    fn denial(&self, code: &'static str, reason: String, granted_in: Vec<String>) -> Denial {
        Denial {
            code,
            reason,
            states: self.state.leaves.clone(),
            granted: self.grants().allowed.unwrap_or_default(),
            legal: self.legality().enabled_events(),
            granted_in,
        }
    }

    /// Returns the states that an event could enter and that grant a call, in the order of the definition.
    fn granting_states(&self, tool: &str, gating: Gating, arguments: &Value) -> Vec<String> {
        let states = self.workflow.visible_states();
        let table = self.workflow.table();
        let leaves = states.filter(|(id, name)| {
            // Nothing is called once a run has ended.
            table.is_leaf(*id)
                && !table.is_end(*id)
                && !self.state.leaves.iter().any(|leaf| leaf == name)
        });
        let grants = |id: StateId| {
            let path = self.grant_path(id);
            path.is_ok_and(|path| match gating {
                Gating::Needs(word) => !path
                    .iter()
                    .any(|(_, grant)| grant.withholds(tool, word, arguments)),
                _ => path.iter().all(|(_, grant)| {
                    let mut disallowed = grant.disallowed.iter();
                    grant.allows(tool, arguments)
                        && !disallowed.any(|it| it.forbids(tool, arguments))
                }),
            })
        };
        let granting = leaves.filter(|(id, _)| grants(*id));
        let names = granting.map(|(_, name)| name.to_owned());
        names.take(MAX_GRANTING).collect()
    }

    /// Returns the path from the root to each active leaf, with the policy of each state on it.
    ///
    /// # Errors
    ///
    /// The defect of a policy that can't be read.
    fn grant_paths(&self) -> Result<Vec<Vec<(String, Grant)>>, String> {
        let table = self.workflow.table();
        let mut paths = Vec::new();
        for leaf in &self.state.leaves {
            let Some(id) = table.state_named(leaf) else {
                return Err(format!("the machine has no state `{leaf}`"));
            };
            paths.push(self.grant_path(id)?);
        }
        Ok(paths)
    }

    /// Returns the path from the root to a state, with the policy of each state on it.
    fn grant_path(&self, state: StateId) -> Result<Vec<(String, Grant)>, String> {
        let table = self.workflow.table();
        let mut path = Vec::new();
        for state in table.chain(state) {
            let name = table.state_name(state).to_owned();
            let grant = self.grant(state);
            let grant =
                grant.map_err(|why| format!("what `{name}` grants can't be read: {why}"))?;
            path.push((name, grant));
        }
        path.reverse();
        Ok(path)
    }

    fn grant(&self, state: StateId) -> Result<Grant, String> {
        let meta = self.workflow.state_meta(state);
        let patterns = |key: &str| -> Result<Option<Vec<Pattern>>, String> {
            let Some(value) = meta.get(key).filter(|it| !it.is_null()) else {
                return Ok(None);
            };
            let Some(entries) = value.as_array() else {
                return Err(format!("`{key}` is no list"));
            };
            let patterns = entries.iter().map(|entry| {
                let text = entry.as_str().ok_or_else(|| format!("`{key}` has {entry}"));
                text.and_then(Pattern::parse)
            });
            patterns.collect::<Result<Vec<_>, _>>().map(Some)
        };
        let mut allowed = patterns("allowed_tools")?;
        let mut capabilities = None;
        let drained = match meta.get(DRAIN).filter(|it| !it.is_null()) {
            None => Vec::new(),
            Some(drain) => {
                let capabilities = drain.as_str().and_then(drain_capabilities);
                let capabilities = capabilities.ok_or_else(|| format!("{drain} is no drain"))?;
                capabilities.collect()
            }
        };
        let words = meta.get("capabilities").filter(|it| !it.is_null());
        if words.is_some() || meta.get(DRAIN).is_some_and(|it| !it.is_null()) {
            let words = match words {
                None => &[][..],
                Some(Value::Array(words)) => words,
                Some(_) => return Err("`capabilities` is no list".to_owned()),
            };
            let all: &mut Capabilities = capabilities.get_or_insert_default();
            let words = words.iter().map(|word| word.as_str().unwrap_or_default());
            for word in words.chain(drained) {
                match self.redefined_capability(word)? {
                    Some(tools) => all.tools.extend(tools),
                    None => {
                        let tools = built_in_capability(word)?;
                        all.tools
                            .extend(tools.ok_or_else(|| format!("`{word}` is no capability"))?);
                        all.words.push(word.to_owned());
                    }
                }
            }
            let allowed = allowed.get_or_insert_default();
            allowed.extend(all.tools.iter().cloned());
        }
        let mut disallowed = patterns("disallowed_tools")?.unwrap_or_default();
        let withheld = meta.get(DRAIN).and_then(Value::as_str);
        for tool in withheld.map_or(&[][..], withheld_by_drain) {
            disallowed.push(Pattern::parse(tool)?);
        }
        Ok(Grant {
            allowed,
            capabilities,
            disallowed,
            commands: commands(meta)?,
        })
    }

    /// Returns the tools of a capability, if the definition says what it stands for.
    fn redefined_capability(&self, word: &str) -> Result<Option<Vec<Pattern>>, String> {
        let declared = self.workflow.meta().get("capabilities");
        let declared = declared.and_then(|it| it.get(word)?.as_array());
        let patterns = declared.map(|declared| {
            let texts = declared.iter().map(|it| it.as_str().unwrap_or_default());
            texts.map(Pattern::parse).collect()
        });
        patterns.transpose()
    }
}

/// Reads the commands that a state allows.
///
/// # Errors
///
/// The defect of what it allows.
fn commands(meta: &Value) -> Result<Option<Commands>, String> {
    let Some(entries) = meta.get("allowed_commands").filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    let entries = entries
        .as_array()
        .ok_or_else(|| "`allowed_commands` is no list".to_owned())?;
    let texts = entries.iter().map(|entry| {
        let text = entry.as_str().map(str::to_owned);
        text.ok_or_else(|| format!("`allowed_commands` has {entry}"))
    });
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let patterns = texts.iter().map(|text| {
        let pattern = CommandPattern::parse_beginning(text);
        pattern.map_err(|why| format!("`allowed_commands` has `{text}`, of which {why} isn't read"))
    });
    Ok(Some(Commands {
        patterns: patterns.collect::<Result<Vec<_>, _>>()?,
        tool: meta
            .get("allowed_commands_tool")
            .and_then(Value::as_str)
            .map(str::to_owned),
        texts,
    }))
}

/// Returns the tools of a built-in capability, if there is such a one.
fn built_in_capability(word: &str) -> Result<Option<Vec<Pattern>>, String> {
    let patterns =
        capability_tools(word).map(|tools| tools.iter().map(|tool| Pattern::parse(tool)).collect());
    patterns.transpose()
}
