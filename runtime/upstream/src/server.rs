//! A server: its connection, its breaker, the standing of its tools, and calls of them.
//!
//! What to rely on: a tool is called only while the server lists it as it is pinned; whatever goes wrong with a server is the
//! answer of its own tools alone; a server that has ended is started again by the next call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, ServerResult};
use rmcp::service::ServiceError;
use serde_json::{Map, Value, json};
use statemark_runs::check::CheckPlace;
use statemark_runs::policy::Pattern;
use statemark_runs::shell_word;
use statemark_text::visible;
use statemark_tools::{Annotations, Outcome, Problem, Tool, UpstreamTool};
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::breaker::{Breaker, Open};
use crate::call::{Call, Line, Progress};
use crate::connection::{Connection, LAST_WORDS};
use crate::declaration::Declaration;
use crate::fault::Fault;
use crate::names::{self, BadName};
use crate::pins::{Lock, Pin, Pins, Standing, compare, diff};
use crate::result::{head, pass_on};

/// Time after which a list is looked at again before a call.
///
/// Why: not every server says that its tools have changed, and one over HTTP may be another one by now.
const RECHECK: Duration = Duration::from_secs(60);

/// Longest diff in an answer. Unit: bytes.
///
/// Why: a model has to see that something has changed; a person sees all of it.
const MAX_DIFF: usize = 4 << 10;

/// Longest description of a tool that models get. Unit: bytes.
const MAX_DESCRIPTION: usize = 16 << 10;

/// A server, as its project has it.
pub(crate) struct Server {
    pub(crate) name: String,
    /// The beginning of its tools' names, with the separator.
    pub(crate) prefix: String,
    pub(crate) declared: Declaration,
    patterns: Option<Vec<Pattern>>,
    programs: CheckPlace,
    pub(crate) lock: Lock,
    /// The command by which a person accepts it; none if one has.
    pub(crate) not_accepted: Option<String>,
    /// True if tools that are seen for the first time are pinned.
    pins_first: bool,
    pub(crate) handle: Handle,
    state: tokio::sync::Mutex<State>,
    seen: Mutex<Seen>,
    /// Is notified when the server says that its tools have changed.
    changed: Arc<Notify>,
    /// Is notified when others may be offered now.
    pub(crate) offered: Arc<Notify>,
}

/// The connection of a server.
#[derive(Default)]
struct State {
    connection: Option<Connection>,
    breaker: Breaker,
    /// The time of the last look at its list.
    listed: Option<Instant>,
}

/// The tools of a server, as they were last seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) pins: Option<Pins>,
    pub(crate) listed: Option<BTreeMap<String, Value>>,
    pub(crate) standings: BTreeMap<String, Standing>,
    pub(crate) fault: Option<Fault>,
    pub(crate) version: Option<String>,
}

impl Seen {
    /// Returns the definition that is offered.
    ///
    /// It is the listed one, or the pinned one of a server that hasn't answered yet.
    fn definition(&self, tool: &str) -> Option<&Value> {
        match &self.listed {
            Some(listed) => listed.get(tool),
            None => self.pins.as_ref()?.get(tool).map(|pin| &pin.definition),
        }
    }

    /// Writes how a tool differs from its pin.
    pub(crate) fn diff(&self, tool: &str) -> String {
        let pins = self.pins.as_ref();
        let pinned = pins
            .and_then(|pins| pins.get(tool))
            .map(|pin| &pin.definition);
        diff(pinned, self.listed.as_ref().and_then(|it| it.get(tool)))
    }
}

/// The parts of a server.
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) base: String,
    pub(crate) declared: Declaration,
    pub(crate) not_accepted: Option<String>,
    pub(crate) programs: CheckPlace,
    pub(crate) lock: Lock,
    pub(crate) pins_first: bool,
    pub(crate) handle: Handle,
    pub(crate) offered: Arc<Notify>,
}

impl Server {
    /// Creates a server that isn't started yet. Its tools are those that are pinned.
    pub(crate) fn new(parts: Parts) -> Result<Self, BadName> {
        names::check_prefix(&parts.name)?;
        let own = parts.declared.prefix.as_ref().unwrap_or(&parts.name);
        let mut seen = Seen::default();
        match parts.lock.read(&parts.name) {
            Ok(pins) => seen.pins = pins,
            Err(error) => seen.fault = Some(no_pins(&error)),
        }
        for tool in seen.pins.iter().flat_map(Pins::keys) {
            seen.standings.insert(tool.clone(), Standing::Pinned);
        }
        Ok(Self {
            prefix: format!("{}{own}{}", parts.base, names::SEPARATOR),
            patterns: parts.declared.patterns().unwrap_or_default(),
            name: parts.name,
            declared: parts.declared,
            programs: parts.programs,
            lock: parts.lock,
            not_accepted: parts.not_accepted,
            pins_first: parts.pins_first,
            handle: parts.handle,
            state: tokio::sync::Mutex::default(),
            seen: Mutex::new(seen),
            changed: Arc::default(),
            offered: parts.offered,
        })
    }

    fn lock_seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns its tools as they were last seen.
    pub(crate) fn snapshot(&self) -> Seen {
        self.lock_seen().clone()
    }

    /// Connects to it and compares its tools with their pins, unless that was done a moment ago.
    pub(crate) async fn start(&self) -> Result<(), Fault> {
        let outcome = self.ready().await;
        let outcome = outcome.map(drop).map_err(Unready::into_fault);
        if let Err(fault) = &outcome {
            tracing::warn!(server = self.name, "can't be used: {fault}");
        }
        outcome
    }

    /// Looks at its list whenever it says that it has changed.
    pub(crate) async fn follow(self: Arc<Self>) {
        loop {
            self.changed.notified().await;
            self.state.lock().await.listed = None;
            // Whoever calls next is told what is wrong.
            drop(self.ready().await);
        }
    }

    /// Reads the pins again, which a person may have changed.
    pub(crate) fn reread(&self) {
        let pins = match self.lock.read(&self.name) {
            Ok(pins) => pins,
            Err(error) => {
                tracing::warn!(server = self.name, "{error}");
                return;
            }
        };
        let mut seen = self.lock_seen();
        if seen.pins == pins {
            return;
        }
        seen.pins = pins;
        self.judge(&mut seen);
        drop(seen);
        self.offered.notify_one();
    }

    fn judge(&self, seen: &mut Seen) {
        seen.standings = match &seen.listed {
            Some(listed) => compare(seen.pins.as_ref(), listed, self.declared.new_tools),
            None => {
                let pinned = seen.pins.iter().flat_map(Pins::keys);
                pinned
                    .map(|tool| (tool.clone(), Standing::Pinned))
                    .collect()
            }
        };
    }

    /// Ends its process, or closes the connection to it.
    pub(crate) async fn close(&self) {
        let connection = self.state.lock().await.connection.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// Returns a connection over which its tools were compared with their pins.
    async fn ready(&self) -> Result<Line, Unready> {
        if let Some(by) = &self.not_accepted {
            let fault = Fault::NotAccepted { by: by.clone() };
            self.lock_seen().fault = Some(fault.clone());
            return Err(Unready::Fault(fault));
        }
        let began = Instant::now();
        let mut state = self.state.lock().await;
        if let Some(fault) = state.breaker.failed_since(began) {
            return Err(Unready::Fault(fault.clone()));
        }
        state.breaker.check(Instant::now()).map_err(Unready::Open)?;
        match self.connect(&mut state).await {
            Ok(line) => Ok(line),
            Err(fault) => {
                self.fail(&mut state, fault.clone()).await;
                Err(Unready::Fault(fault))
            }
        }
    }

    async fn connect(&self, state: &mut State) -> Result<Line, Fault> {
        if let Some(closed) = state.connection.take_if(|it| it.is_closed()) {
            tracing::info!(server = self.name, "has ended and is started again");
            closed.close().await;
        }
        let connection = match state.connection.take() {
            Some(connection) => connection,
            None => {
                state.listed = None;
                Connection::open(&self.name, &self.declared, &self.programs, &self.changed).await?
            }
        };
        let connection = state.connection.insert(connection);
        let is_fresh = state.listed.is_some_and(|at| at.elapsed() < RECHECK);
        if !is_fresh {
            let listed = connection.list().await?;
            let version = connection.version().map(|it| it.to_string());
            state.listed = Some(Instant::now());
            self.compare(listed, version)?;
        }
        Ok(connection.line(&self.handle))
    }

    /// Compares a list with the pins, and pins what is seen for the first time.
    fn compare(
        &self,
        listed: BTreeMap<String, Value>,
        version: Option<String>,
    ) -> Result<(), Fault> {
        let listed: BTreeMap<String, Value> = listed
            .into_iter()
            .filter(|(name, _)| self.is_wanted(name))
            .collect();
        let pins = self
            .lock
            .read(&self.name)
            .map_err(|error| no_pins(&error))?;
        let mut seen = Seen {
            pins,
            listed: Some(listed.clone()),
            version,
            ..Seen::default()
        };
        self.judge(&mut seen);
        let first = seen.standings.iter();
        let first = first.filter(|(_, standing)| **standing == Standing::First);
        let first: Vec<&String> = first.map(|(name, _)| name).collect();
        let is_first_use = seen.pins.is_none();
        if self.pins_first && (is_first_use || !first.is_empty()) {
            let pin = |pins: &mut Pins| {
                for name in first {
                    let definition = listed.get(name).unwrap_or(&Value::Null);
                    // Another process may have pinned it meanwhile.
                    pins.entry(name.clone())
                        .or_insert_with(|| Pin::new(definition));
                }
            };
            self.lock
                .change(&self.name, pin)
                .map_err(|error| no_pins(&error))?;
            seen.pins = self
                .lock
                .read(&self.name)
                .map_err(|error| no_pins(&error))?;
            self.judge(&mut seen);
        }
        for (tool, standing) in &seen.standings {
            if !standing.is_offered() {
                let tool = visible::line(tool);
                tracing::warn!(
                    server = self.name,
                    tool = &*tool,
                    standing = standing.name(),
                    "is withheld"
                );
            }
        }
        let mut before = self.lock_seen();
        let is_other = before.standings != seen.standings
            || before.listed != seen.listed
            || before.fault.is_some();
        *before = seen;
        drop(before);
        if is_other {
            self.offered.notify_one();
        }
        Ok(())
    }

    fn is_wanted(&self, tool: &str) -> bool {
        let Some(patterns) = &self.patterns else {
            return true;
        };
        // Of a pattern with arguments its name counts: `forbids` holds for what can't be judged.
        patterns.iter().any(|it| it.forbids(tool, &Value::Null))
    }

    /// Notes a failure. A server that is left alone from now on is ended.
    async fn fail(&self, state: &mut State, fault: Fault) {
        let is_lost = !matches!(fault, Fault::Silent { .. });
        self.lock_seen().fault = Some(fault.clone());
        let is_open = state.breaker.fail(Instant::now(), fault);
        if is_open || is_lost {
            state.listed = None;
            if let Some(connection) = state.connection.take() {
                connection.close().await;
            }
        }
    }

    /// Calls a tool by the name that the server has for it.
    ///
    /// `progress` hears what the server says meanwhile.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        progress: &Arc<Progress>,
    ) -> Outcome {
        let line = self
            .ready()
            .await
            .map_err(|unready| self.unready(&unready))?;
        if let Some(problem) = self.withheld(tool) {
            return Err(problem);
        }
        let limit = self.declared.call_limit();
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let answer = tokio::time::timeout(limit, line.call(request, progress)).await;
        if matches!(answer, Ok(Err(ServiceError::TransportClosed))) {
            tokio::time::sleep(LAST_WORDS).await;
        }
        let mut state = self.state.lock().await;
        let fault = match answer {
            Ok(Ok(ServerResult::CallToolResult(result))) => {
                state.breaker.succeed();
                return Ok(pass_on(&result, self.declared.max_result()));
            }
            Ok(Ok(ServerResult::InputRequiredResult(_))) => {
                state.breaker.succeed();
                return Err(Problem::new(
                    "asks_for_input",
                    format!(
                        "`{tool}` of `{}` asks for something before it answers, which isn't passed on: no other server's \
                         question reaches a person from here",
                        self.name
                    ),
                ));
            }
            Ok(Ok(ServerResult::CreateTaskResult(_))) => Fault::Protocol {
                cause: "it answered with a task, which nobody asked for".to_owned(),
            },
            Ok(Ok(_)) => Fault::Protocol {
                cause: "it answered a call with something else".to_owned(),
            },
            Ok(Err(ServiceError::McpError(error))) => {
                state.breaker.succeed();
                let cause = visible::line(&error.message);
                let message = format!("`{tool}` of `{}`: {}", self.name, head(&cause, MAX_DIFF));
                return Err(Problem::new("upstream_error", message)
                    .with(json!({"server": self.name, "code": error.code.0})));
            }
            Ok(Err(error)) => match &state.connection {
                Some(connection) => connection.describe(&error),
                None => Fault::Closed { said: None },
            },
            Err(_) => match &state.connection {
                Some(connection) => connection.silent(limit),
                None => Fault::Closed { said: None },
            },
        };
        self.fail(&mut state, fault.clone()).await;
        drop(state);
        Err(self.unready(&Unready::Fault(fault)))
    }

    fn unready(&self, unready: &Unready) -> Problem {
        let (code, message) = match unready {
            Unready::Fault(fault @ Fault::NotAccepted { .. }) => {
                ("not_accepted", format!("`{}`: {fault}", self.name))
            }
            Unready::Fault(fault @ Fault::Silent { .. }) => {
                ("upstream_timeout", format!("`{}`: {fault}", self.name))
            }
            Unready::Fault(fault) => ("upstream_down", format!("`{}`: {fault}", self.name)),
            Unready::Open(open) => (
                "upstream_down",
                format!(
                    "`{}` is left alone for another {} s, since it has failed {} times in a row: {}",
                    self.name,
                    open.left.as_secs().max(1),
                    open.failures,
                    open.fault
                ),
            ),
        };
        Problem::new(code, message).with(json!({"server": self.name}))
    }

    /// Returns the reason why a tool is neither offered nor called, if there is one.
    fn withheld(&self, tool: &str) -> Option<Problem> {
        let seen = self.lock_seen();
        let standing = seen.standings.get(tool).copied().unwrap_or(Standing::Gone);
        if standing.is_offered() {
            return None;
        }
        let (server, name) = (&self.name, visible::line(tool));
        let words = (shell_word(server), shell_word(&name));
        let accept = format!("statemark upstream accept {} {}", words.0, words.1);
        let diff = seen.diff(tool);
        let shown = head(&diff, MAX_DIFF);
        let cut = if shown.len() < diff.len() {
            "\n[cut: `statemark upstream check` shows all of it]"
        } else {
            ""
        };
        let (code, message) = match standing {
            Standing::Gone => (
                "gone",
                format!(
                    "`{server}` doesn't offer `{name}` any more; a person takes it out with `{accept}`"
                ),
            ),
            Standing::New => (
                "quarantined",
                format!(
                    "`{name}` of `{server}` is new, and nobody has accepted it yet: a person does with `{accept}`"
                ),
            ),
            _ => (
                "quarantined",
                format!(
                    "`{name}` of `{server}` isn't the tool that was accepted: a person looks at what has changed, and accepts it with `{accept}`:\n{shown}{cut}"
                ),
            ),
        };
        let details = json!({"server": server, "tool": name, "standing": standing});
        Some(Problem::new(code, message).with(details))
    }

    /// Creates its tools. Names that can't be used are returned beside them.
    pub(crate) fn tools(self: &Arc<Self>) -> (Vec<Tool>, Vec<BadName>) {
        let seen = self.snapshot();
        let (mut tools, mut bad) = (Vec::new(), Vec::new());
        if self.not_accepted.is_some() {
            return (tools, bad);
        }
        for tool in seen.standings.keys() {
            match names::join(&self.prefix, &self.name, tool) {
                Ok(name) => tools.push(self.tool(name, tool, seen.definition(tool))),
                Err(error) => bad.push(error),
            }
        }
        (tools, bad)
    }

    fn tool(self: &Arc<Self>, name: String, tool: &str, definition: Option<&Value>) -> Tool {
        let text = |key: &str| definition.and_then(|it| it.pointer(key)?.as_str());
        let title = text("/title").or_else(|| text("/annotations/title"));
        let description = text("/description").unwrap_or_default();
        let description = visible::lines(description, |_| 0);
        let input = definition.and_then(|it| it.get("inputSchema")?.as_object().cloned());
        let mut input = input.unwrap_or_default();
        show_texts(&mut input);
        let (server, own) = (Arc::clone(self), tool.to_owned());
        Tool::upstream(UpstreamTool {
            name,
            title: visible::line(title.unwrap_or(tool)).into_owned(),
            description: head(&description, MAX_DESCRIPTION).to_owned(),
            annotations: self.annotations(definition),
            input: Arc::new(input),
            withheld: self.withheld(tool),
            run: Arc::new(move |ctx, arguments| Call::begin(&server, &own, arguments).outcome(ctx)),
        })
    }

    /// Returns the hints of a tool: the worst ones, unless the project believes the server.
    fn annotations(&self, definition: Option<&Value>) -> Annotations {
        let hints = definition.and_then(|it| it.get("annotations"));
        let hint = |key: &str, default: bool| {
            let hint = hints.filter(|_| self.declared.trust_hints);
            hint.and_then(|it| it.get(key)?.as_bool())
                .unwrap_or(default)
        };
        let read_only = hint("readOnlyHint", false);
        Annotations {
            read_only,
            destructive: !read_only && hint("destructiveHint", true),
            idempotent: hint("idempotentHint", false),
            open_world: hint("openWorldHint", true),
        }
    }
}

/// Shows what can't be seen in the texts of a schema that models read.
fn show_texts(schema: &mut Map<String, Value>) {
    for (key, value) in schema {
        match value {
            Value::String(text) if ["description", "title", "$comment"].contains(&key.as_str()) => {
                *text = visible::lines(text, |_| 0).into_owned();
            }
            Value::Object(fields) => show_texts(fields),
            Value::Array(items) => {
                for item in items {
                    if let Value::Object(fields) = item {
                        show_texts(fields);
                    }
                }
            }
            _ => {}
        }
    }
}

fn no_pins(error: &crate::pins::LockError) -> Fault {
    Fault::NoPins {
        cause: error.to_string(),
    }
}

/// The reason why a server can't be asked.
enum Unready {
    Fault(Fault),
    /// The pause in which it is left alone.
    Open(Open),
}

impl Unready {
    fn into_fault(self) -> Fault {
        match self {
            Self::Fault(fault) | Self::Open(Open { fault, .. }) => fault,
        }
    }
}
