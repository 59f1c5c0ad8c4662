//! Plans of work: a pure function of a run, the configuration, and the wishes of the caller.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use statemark_runs::{Loaded, Status, WaitingFor};
use statemark_tools::Work;

use crate::settings::{
    Client, Command, Price, Provider, Settings, ToolStyle, duration, millionths,
};

/// The name of the executor that is none: a person, or a client that is connected by itself.
const NOBODY: &str = "none";

/// The work in one state.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    /// The state.
    pub(crate) state: String,
    /// The executor.
    pub(crate) who: Who,
    /// The limits of its attempts.
    pub(crate) limits: Limits,
}

/// An executor with what it needs.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    /// A model, or several that are tried one after another.
    Model(Vec<Rung>),
    /// An agent's command line.
    Client(ClientKind, Client, Option<String>),
    /// A program, by its name.
    Command(String, Command),
}

/// A model, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Rung {
    /// The model, as specs name it.
    pub(crate) model: String,
    /// The model, as its provider names it.
    pub(crate) name: String,
    /// The address that `/chat/completions` follows.
    pub(crate) url: String,
    /// The variable with the key.
    pub(crate) key: Option<String>,
    pub(crate) tools: ToolStyle,
    pub(crate) price: Option<Price>,
    /// Its level of thinking.
    pub(crate) thinking: Option<String>,
    /// The address that tells whether it is there: on the same server.
    pub(crate) health: Option<String>,
}

/// An agent's command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientKind {
    Claude,
    Codex,
    Gemini,
    OpenCode,
}

impl ClientKind {
    /// Returns its name in specs and in the configuration.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }
}

impl Who {
    /// Returns the executor's name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Model(_) => "model",
            Self::Client(kind, ..) => kind.name(),
            Self::Command(name, _) => name,
        }
    }
}

/// The limits of attempts in a state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limits {
    /// The attempts in a visit that may fail.
    pub(crate) attempts: u64,
    /// The answers of a model in an attempt.
    pub(crate) turns: u64,
    /// The time of an attempt.
    pub(crate) time: Duration,
    /// The most that a visit of the state may use.
    pub(crate) budget: Budget,
}

/// The most that may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Tokens, read and written.
    pub(crate) tokens: Option<u64>,
    /// Money. Unit: millionths of a US dollar.
    pub(crate) cost: Option<u64>,
}

/// The states of a run, by whether somebody can work in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The work that can be done now.
    pub(crate) ready: Vec<Assignment>,
    /// By state: why nobody works there, though an agent could.
    pub(crate) unassigned: Vec<(String, String)>,
    /// The states that are expressly left to people.
    pub(crate) of_people: Vec<String>,
}

/// Plans the work on a run. What isn't the executor's to move isn't in it.
pub(crate) fn plan(loaded: &Loaded, settings: &Settings, work: &Work) -> Plan {
    let mut plan = Plan::default();
    let state = &loaded.state;
    let is_standing = matches!(state.status(), Status::Paused) || state.status().is_over();
    if is_standing || state.is_held() || state.restoring.is_some() {
        return plan;
    }
    if loaded.is_unreviewed() {
        let reason = "nobody has accepted its workflow: `statemark accept` shows it to a person";
        let leaves = state.leaves.iter();
        plan.unassigned = leaves.map(|it| (it.clone(), reason.to_owned())).collect();
        return plan;
    }
    let mut waiting: BTreeSet<String> = state
        .waiting_for()
        .into_iter()
        .filter_map(step_of)
        .collect();
    // A run under it does the work of a state that waits for one.
    let children = state.children.values();
    let open = children.filter(|it| it.ended.is_none() && state.is_current_child(it));
    waiting.extend(open.filter_map(|it| it.step.clone()));
    let Ok(transitions) = loaded.legality().transitions() else {
        return plan;
    };
    for leaf in &state.leaves {
        let is_asked = work.state.as_ref().is_none_or(|it| it == leaf);
        let table = loaded.workflow.table();
        let Some(id) = table.state_named(leaf) else {
            continue;
        };
        let chain: BTreeSet<&str> = table.chain(id).map(|it| table.state_name(it)).collect();
        let has_events = transitions.iter().any(|it| chain.contains(&*it.from));
        let waits = chain.iter().any(|it| waiting.contains(*it));
        if !is_asked || !has_events || waits {
            continue;
        }
        let meta = Meta::new(loaded, leaf);
        let grants = loaded.grants();
        let is_restricted = grants.allowed.is_some() || !grants.disallowed.is_empty();
        match assign(&meta, settings, work, is_restricted) {
            Ok(Some(who)) => plan.ready.push(Assignment {
                state: leaf.clone(),
                who,
                limits: limits(&meta, settings),
            }),
            Ok(None) if find_name(&meta, settings, work).as_deref() == Some(NOBODY) => {
                plan.of_people.push(leaf.clone());
            }
            Ok(None) => {}
            Err(reason) => plan.unassigned.push((leaf.clone(), reason)),
        }
    }
    plan
}

/// Returns the state that waits for something which isn't an agent's to do.
fn step_of(waiting: WaitingFor) -> Option<String> {
    match waiting {
        WaitingFor::Step { step } | WaitingFor::Workflow { step, .. } => Some(step),
        _ => None,
    }
}

/// The keys of a state, of those around it, and of its workflow: the innermost has the say.
struct Meta<'l> {
    states: Vec<&'l Value>,
    workflow: Option<&'l Value>,
}

impl<'l> Meta<'l> {
    fn new(loaded: &'l Loaded, leaf: &str) -> Self {
        let table = loaded.workflow.table();
        let id = table.state_named(leaf);
        let chain = id.into_iter().flat_map(|id| table.chain(id));
        Self {
            states: chain.map(|it| loaded.workflow.state_meta(it)).collect(),
            workflow: loaded.workflow.meta().get("meta"),
        }
    }

    fn get(&self, key: &str) -> Option<&'l Value> {
        let mut all = self.states.iter().copied().chain(self.workflow);
        all.find_map(|meta| meta.get(key))
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(Value::as_str).map(str::to_owned)
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Value::as_u64)
    }

    /// Returns a limit of the states, and not of the workflow.
    fn of_states(&self, key: &str) -> Option<&'l Value> {
        self.states.iter().find_map(|meta| meta.get(key))
    }
}

/// A rung of a ladder, as a spec writes it.
#[derive(Deserialize)]
struct LadderRung {
    model: String,
    url: Option<String>,
    thinking_level: Option<String>,
    health_url: Option<String>,
}

/// Finds the name of the executor that is meant for a state, if somebody has said one.
fn find_name(meta: &Meta<'_>, settings: &Settings, work: &Work) -> Option<String> {
    // Whoever names a model means the states that models work in, and those that name nobody.
    let asked = work.model.as_ref().map(|_| "model".to_owned());
    let named = meta.text("executor").or(asked);
    named.or_else(|| settings.default.clone())
}

/// Returns the executor of a state; none if nobody has said that one is to work there.
///
/// # Errors
///
/// The reason why the one that is meant can't.
fn assign(
    meta: &Meta<'_>,
    settings: &Settings,
    work: &Work,
    is_restricted: bool,
) -> Result<Option<Who>, String> {
    let is_direct = meta.get("direct_execution") == Some(&Value::Bool(true));
    let has_model = || settings.model.is_some() || meta.get("model").is_some();
    let name = match find_name(meta, settings, work) {
        Some(name) if name == NOBODY => return Ok(None),
        Some(name) => name,
        // A spec that names a model, in a project that says where models are, needs no more words.
        None if !settings.models.is_empty() && has_model() && !is_direct => "model".to_owned(),
        None => return Ok(None),
    };
    let client = |kind: ClientKind, client: &Option<Client>| {
        let client = client.clone().ok_or_else(|| {
            format!(
                "the configuration doesn't allow `{}`: add `[executor.{0}]`",
                kind.name()
            )
        })?;
        let model = meta.text("model");
        Ok(Some(Who::Client(kind, client, model)))
    };
    match name.as_str() {
        "model" if is_direct => {
            Err("`direct_execution` means a program, and the executor here is a model".to_owned())
        }
        "model" => ladder(meta, settings, work).map(|rungs| Some(Who::Model(rungs))),
        "claude" => client(ClientKind::Claude, &settings.claude),
        // It takes hooks from its own configuration alone, and its tools would go around the state without one.
        "codex" if is_restricted && settings.codex.is_some() && !settings.codex_has_hook => Err(
            "the state restricts tools, and Codex doesn't ask for them here: `statemark hook install codex` first"
                .to_owned(),
        ),
        "codex" => client(ClientKind::Codex, &settings.codex),
        "gemini" => client(ClientKind::Gemini, &settings.gemini),
        "opencode" => client(ClientKind::OpenCode, &settings.opencode),
        _ => match settings.commands.get(&name) {
            Some(command) => Ok(Some(Who::Command(name, command.clone()))),
            None => Err(format!(
                "the configuration has no executor `{name}`: add `[executor.commands.{name}]`"
            )),
        },
    }
}

/// Returns the models of a state, in the order in which they are tried.
fn ladder(meta: &Meta<'_>, settings: &Settings, work: &Work) -> Result<Vec<Rung>, String> {
    let thinking = meta.text("thinking_level");
    let rung = |model: &str, url: Option<&String>, thinking: Option<String>| {
        find_rung(settings, model, url, thinking)
    };
    if let Some(model) = &work.model {
        return Ok(vec![rung(model, work.url.as_ref(), thinking)?]);
    }
    if let Some(Value::Array(rungs)) = meta.get("model_ladder") {
        let rungs = rungs
            .iter()
            .filter_map(|it| LadderRung::deserialize(it).ok());
        let rungs = rungs.map(|written| {
            let thinking = written.thinking_level.clone().or_else(|| thinking.clone());
            let mut rung = rung(&written.model, written.url.as_ref(), thinking)?;
            // A spec has nobody else's server asked.
            let health = written.health_url.clone();
            rung.health = health.filter(|health| origin(health) == origin(&rung.url));
            Ok::<_, String>(rung)
        });
        let rungs: Vec<Rung> = rungs.collect::<Result<_, _>>()?;
        if !rungs.is_empty() {
            return Ok(rungs);
        }
    }
    let model = meta.text("model").or_else(|| meta.text("default_model"));
    let Some(model) = model.or_else(|| settings.model.clone()) else {
        return Err("no model is named: neither by the state, nor by `model` of the configuration's `[executor]`".to_owned());
    };
    Ok(vec![rung(&model, work.url.as_ref(), thinking)?])
}

/// Finds where a model is. An address counts only if the configuration has it, or is this machine's.
fn find_rung(
    settings: &Settings,
    model: &str,
    url: Option<&String>,
    thinking: Option<String>,
) -> Result<Rung, String> {
    let declared = settings.provider(model);
    let (provider, name) = match (declared, url) {
        (Some((provider, name)), None) => (provider, name),
        (declared, Some(url)) => {
            let url = api_of(url);
            let mut all = settings
                .models
                .values()
                .chain(declared.as_ref().map(|it| &it.0));
            let same = all.find(|it| origin(&it.url) == origin(&url)).cloned();
            if url.contains(['?', '#']) {
                // What stands behind it would swallow the path of the interface.
                return Err(format!(
                    "`{url}` has a query or a fragment, which no interface has"
                ));
            }
            if same.is_none() && !is_local(&url) {
                return Err(format!(
                    "`{url}` isn't in the configuration: an entry of `[executor.models]` allows it"
                ));
            }
            let name = declared.map_or_else(|| model.to_owned(), |(_, name)| name);
            let provider = Provider {
                url,
                ..same.unwrap_or(Provider {
                    url: String::new(),
                    key: None,
                    tools: ToolStyle::Native,
                    price: None,
                    keep_prefix: true,
                })
            };
            (provider, name)
        }
        (None, None) => {
            return Err(format!(
                "nothing says where the model `{model}` is: an entry of `[executor.models]` whose name it begins with does"
            ));
        }
    };
    Ok(Rung {
        model: model.to_owned(),
        name,
        url: provider.url.trim_end_matches('/').to_owned(),
        key: provider.key,
        tools: provider.tools,
        price: provider.price,
        thinking,
        health: None,
    })
}

/// Returns the address of the interface of a server, which is often named by its root.
fn api_of(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let after_host = url.split_once("://").map_or("", |(_, rest)| rest);
    if after_host.contains('/') {
        url.to_owned()
    } else {
        format!("{url}/v1")
    }
}

/// Returns scheme, host and port of an address.
fn origin(url: &str) -> Option<(String, String, Option<u16>)> {
    let uri: http::Uri = url.parse().ok()?;
    let port = uri.port_u16().or(match uri.scheme_str() {
        Some("https") => Some(443),
        _ => Some(80),
    });
    Some((uri.scheme_str()?.to_owned(), uri.host()?.to_owned(), port))
}

/// Reports whether an address is this machine's.
fn is_local(url: &str) -> bool {
    let host = origin(url).map(|(_, host, _)| host).unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|it| it.is_loopback())
}

fn limits(meta: &Meta<'_>, settings: &Settings) -> Limits {
    let time = meta.text("attempt_timeout");
    Limits {
        attempts: meta
            .count("max_attempts")
            .unwrap_or_else(|| settings.max_attempts())
            .max(1),
        turns: settings.max_turns(),
        time: duration(time.as_ref(), settings.attempt_timeout()),
        budget: Budget {
            tokens: meta.of_states("token_budget").and_then(Value::as_u64),
            cost: meta.of_states("cost_budget").and_then(money),
        },
    }
}

/// Returns what a run may use, with the runs below it.
pub(crate) fn budget_of_run(loaded: &Loaded, settings: &Settings) -> Budget {
    let meta = loaded.workflow.meta().get("meta");
    let limit = |key: &str| meta.and_then(|it| it.get(key));
    Budget {
        tokens: smaller(
            limit("token_budget").and_then(Value::as_u64),
            settings.token_budget,
        ),
        cost: smaller(
            limit("cost_budget").and_then(money),
            settings.cost_budget.map(millionths),
        ),
    }
}

/// Returns the smaller of two limits: a spec doesn't give itself more than the project does.
fn smaller(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Reads an amount of US dollars. Unit of the result: millionths.
fn money(value: &Value) -> Option<u64> {
    value.as_f64().map(millionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_configuration_or_of_this_machine() {
        let text = r#"{"models": {"big:": {"url": "https://models.example/v1", "key": "BIG"}}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        for (model, url, found) in [
            (
                "m",
                Some("http://127.0.0.1:8080/evil?x="),
                Err(
                    "`http://127.0.0.1:8080/evil?x=` has a query or a fragment, which no interface has",
                ),
            ),
            (
                "big:x",
                None,
                Ok(("https://models.example/v1", "x", Some("BIG"))),
            ),
            (
                "y",
                Some("https://models.example/v2"),
                Ok(("https://models.example/v2", "y", Some("BIG"))),
            ),
            (
                "y",
                Some("http://localhost:8080"),
                Ok(("http://localhost:8080/v1", "y", None)),
            ),
            (
                "y",
                Some("http://[::1]:1/api"),
                Ok(("http://[::1]:1/api", "y", None)),
            ),
            (
                "big:x",
                Some("https://evil.example"),
                Err(
                    "`https://evil.example/v1` isn't in the configuration: an entry of `[executor.models]` allows it",
                ),
            ),
            // The key is for that server over a connection that nobody reads.
            (
                "big:x",
                Some("http://models.example/v1"),
                Err(
                    "`http://models.example/v1` isn't in the configuration: an entry of `[executor.models]` allows it",
                ),
            ),
            (
                "y",
                None,
                Err(
                    "nothing says where the model `y` is: an entry of `[executor.models]` whose name it begins with does",
                ),
            ),
        ] {
            let url = url.map(str::to_owned);
            let rung = find_rung(&settings, model, url.as_ref(), None);
            let rung = rung.as_ref().map_err(String::as_str);
            let rung = rung.map(|it| (it.url.as_str(), it.name.as_str(), it.key.as_deref()));
            assert_eq!(rung, found, "{model} {url:?}");
        }
    }
}
