//! What a caller may do with tools: one function over the fold of a run, asked by the server, by hooks and by executors.
//!
//! - A state grants the union of its `allowed_tools` and of what its `capabilities` mean; both absent: it doesn't restrict;
//!   `[]`: nothing.
//! - Along ancestors grants intersect; over active leaves they unite. `disallowed_tools` of any active state wins.
//! - The tools that drive a run are never restricted, else a state could lock it for ever. Two of them, submitting artifacts
//!   and reporting progress, can be withheld by a state that has `capabilities` and leaves their words out.
//! - What can't be read is a denial that says so.
//!
//! Deliberately not here: the limits of a visit ([`Runs::reserve`](crate::Runs::reserve) counts those), and what a role may
//! do, which is no matter of a state.

mod pattern;
mod words;

use serde::Serialize;
use serde_json::Value;
use statemark_runtime::StateId;

pub use pattern::Pattern;
use words::withheld_by;
pub use words::{UNGATED, is_counted, tools_of};

use crate::actor::{Actor, Role};
use crate::runs::{Loaded, list};

/// Whether a tool may be used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// It may.
    Allow,
    /// It may not.
    Deny(Denial),
}

/// Why a tool may not be used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Denial {
    /// For programs: `not_granted`, `disallowed`, `unreadable_policy`.
    pub code: &'static str,
    /// For people.
    pub reason: String,
    /// The active states.
    pub states: Vec<String>,
    /// What they grant, as the definition writes it.
    pub granted: Vec<String>,
    /// The events that lead on.
    pub legal: Vec<String>,
}

/// What the active states grant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Granted {
    /// Patterns as the definition writes them; none if nothing is restricted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// Patterns that win over those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disallowed: Vec<String>,
}

/// What one state says.
struct Grant {
    allowed: Option<Vec<Pattern>>,
    /// What its `capabilities` mean, if it has any.
    capabilities: Option<Vec<Pattern>>,
    disallowed: Vec<Pattern>,
}

impl Grant {
    /// Whether its `capabilities` leave a tool that nothing else restricts.
    fn leaves(&self, tool: &str, arguments: &Value) -> bool {
        let meant = self.capabilities.as_ref();
        meant.is_none_or(|all| all.iter().any(|it| it.admits(tool, arguments)))
    }
}

impl Loaded {
    /// Whether the active states let a tool be called with these arguments.
    #[must_use]
    pub fn may_use(&self, tool: &str, arguments: &Value) -> Verdict {
        if UNGATED.contains(&tool) {
            return Verdict::Allow;
        }
        let deny = |code, reason| Verdict::Deny(self.denial(code, reason));
        let paths = match self.paths() {
            Ok(paths) => paths,
            Err(why) => return deny("unreadable_policy", why),
        };
        if let Some(word) = withheld_by(tool) {
            let withholds = |(_, grant): &&(String, Grant)| !grant.leaves(tool, arguments);
            let withheld = paths.iter().map(|path| path.iter().find(withholds));
            return match withheld.collect::<Option<Vec<_>>>() {
                Some(states) if !states.is_empty() => {
                    let names: Vec<String> = states.iter().map(|(name, _)| name.clone()).collect();
                    let names = list(&names);
                    deny(
                        "not_granted",
                        format!(
                            "the `capabilities` of {names} leave out `{word}`, which `{tool}` needs"
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
        let admits = |(_, grant): &(String, Grant)| {
            let allowed = grant.allowed.as_ref();
            allowed.is_none_or(|all| all.iter().any(|it| it.admits(tool, arguments)))
        };
        if paths.iter().any(|path| path.iter().all(admits)) {
            return Verdict::Allow;
        }
        let mut narrow: Vec<String> = Vec::new();
        for (state, grant) in paths
            .iter()
            .filter_map(|path| path.iter().find(|it| !admits(it)))
        {
            let patterns = grant.allowed.iter().flatten();
            let patterns: Vec<String> = patterns.map(ToString::to_string).collect();
            let text = match patterns.as_slice() {
                [] => format!("`{state}` grants no tools"),
                _ => format!("`{state}` grants {}", list(&patterns)),
            };
            if !narrow.contains(&text) {
                narrow.push(text);
            }
        }
        let events = self.legal_events();
        let on = if events.is_empty() {
            String::new()
        } else {
            format!("; go on with {}", list(&events))
        };
        deny(
            "not_granted",
            format!("`{tool}` isn't granted: {}{on}", narrow.join(", ")),
        )
    }

    /// Whether there are arguments with which the active states let a tool be called.
    #[must_use]
    pub fn may_offer(&self, tool: &str) -> bool {
        if UNGATED.contains(&tool) {
            return true;
        }
        if withheld_by(tool).is_some() {
            return self.may_use(tool, &Value::Null) == Verdict::Allow;
        }
        let Ok(paths) = self.paths() else {
            return false;
        };
        let mut disallowed = paths.iter().flatten().flat_map(|(_, it)| &it.disallowed);
        let admits = |(_, grant): &(String, Grant)| {
            let allowed = grant.allowed.as_ref();
            allowed.is_none_or(|all| all.iter().any(|it| it.names(tool)))
        };
        !disallowed.any(|it| it.is_of_all(tool)) && paths.iter().any(|path| path.iter().all(admits))
    }

    /// What the active states grant, in their own words.
    #[must_use]
    pub fn granted(&self) -> Granted {
        let mut allowed: Option<Vec<String>> = None;
        let mut disallowed: Vec<String> = Vec::new();
        for path in self.paths().unwrap_or_default() {
            // The innermost state that restricts is what people read; those around it can only take away.
            let inner = path
                .iter()
                .rev()
                .find_map(|(_, grant)| grant.allowed.as_ref());
            let taken_away = |pattern: &&Pattern| {
                let others = path.iter().filter_map(|(_, grant)| grant.allowed.as_ref());
                let mut others = others.filter(|all| !all.iter().any(|it| it.covers(pattern)));
                others.next().is_some()
            };
            for pattern in inner.into_iter().flatten().filter(|it| !taken_away(it)) {
                let all = allowed.get_or_insert_default();
                let text = pattern.to_string();
                if !all.contains(&text) {
                    all.push(text);
                }
            }
            if inner.is_some_and(Vec::is_empty) {
                allowed.get_or_insert_default();
            }
            for pattern in path.iter().flat_map(|(_, grant)| &grant.disallowed) {
                let text = pattern.to_string();
                if !disallowed.contains(&text) {
                    disallowed.push(text);
                }
            }
        }
        Granted {
            allowed,
            disallowed,
        }
    }

    /// Whether the run lets go of its caller's tools when an agent gives it up: the definition says so, or a person gave
    /// it up, or it came to its end.
    #[must_use]
    pub fn lets_go(&self) -> bool {
        let by_agent = |it: &Actor| it.role < Role::Person;
        let given_up = self.state.cancelled_by.as_ref().is_some_and(by_agent);
        !given_up || self.workflow.meta().get("deactivate") == Some(&Value::from("release"))
    }

    fn denial(&self, code: &'static str, reason: String) -> Denial {
        Denial {
            code,
            reason,
            states: self.state.leaves.clone(),
            granted: self.granted().allowed.unwrap_or_default(),
            legal: self.legal_events(),
        }
    }

    /// For each active leaf: the states from the root to it, with what each says. Why it can't be read, else.
    fn paths(&self) -> Result<Vec<Vec<(String, Grant)>>, String> {
        let table = self.workflow.table();
        let mut paths = Vec::new();
        for leaf in &self.state.leaves {
            let Some(id) = table.state_named(leaf) else {
                return Err(format!("the machine has no state `{leaf}`"));
            };
            let mut path = Vec::new();
            for state in table.chain(id) {
                let name = table.state_name(state).to_owned();
                let grant = self.grant(state);
                let grant =
                    grant.map_err(|why| format!("what `{name}` grants can't be read: {why}"))?;
                path.push((name, grant));
            }
            path.reverse();
            paths.push(path);
        }
        Ok(paths)
    }

    fn grant(&self, state: StateId) -> Result<Grant, String> {
        let meta = self.workflow.state_meta(state);
        let patterns = |key: &str| -> Result<Option<Vec<Pattern>>, String> {
            let Some(value) = meta.get(key).filter(|it| !it.is_null()) else {
                return Ok(None);
            };
            let Some(all) = value.as_array() else {
                return Err(format!("`{key}` is no list"));
            };
            let texts = all.iter().map(|it| {
                let text = it.as_str().ok_or_else(|| format!("`{key}` has {it}"));
                text.and_then(Pattern::parse)
            });
            texts.collect::<Result<Vec<_>, _>>().map(Some)
        };
        let mut allowed = patterns("allowed_tools")?;
        let mut capabilities = None;
        if let Some(words) = meta.get("capabilities").filter(|it| !it.is_null()) {
            let Some(words) = words.as_array() else {
                return Err("`capabilities` is no list".to_owned());
            };
            let all: &mut Vec<Pattern> = capabilities.get_or_insert_default();
            for word in words {
                let word = word.as_str().unwrap_or_default();
                let Some(meant) = self.capability(word)? else {
                    return Err(format!("`{word}` is no capability"));
                };
                all.extend(meant);
            }
            let allowed = allowed.get_or_insert_default();
            allowed.extend(all.iter().cloned());
        }
        Ok(Grant {
            allowed,
            capabilities,
            disallowed: patterns("disallowed_tools")?.unwrap_or_default(),
        })
    }

    /// What a capability means: the definition's own sets first, then the built-in words.
    fn capability(&self, word: &str) -> Result<Option<Vec<Pattern>>, String> {
        let own = self.workflow.meta().get("capabilities");
        let own = own.and_then(|it| it.get(word)).and_then(Value::as_array);
        if let Some(own) = own {
            let texts = own
                .iter()
                .map(|it| Pattern::parse(it.as_str().unwrap_or_default()));
            return texts.collect::<Result<Vec<_>, _>>().map(Some);
        }
        let Some(tools) = tools_of(word) else {
            return Ok(None);
        };
        let patterns = tools.iter().map(|tool| Pattern::parse(tool));
        patterns.collect::<Result<Vec<_>, _>>().map(Some)
    }
}
