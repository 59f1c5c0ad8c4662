//! Other MCP servers behind our policy.
//!
//! Their tools are offered under names of their own, pinned, gated by state, counted and recorded.
//!
//! ```text
//! Declaration ─→ Server ─→ Connection ─→ Process | HTTP
//!                   ├─ pins: what was seen before, or a person has accepted since
//!                   └─ tools ─→ Dispatcher
//! ```
//!
//! What to rely on:
//!
//! - Nothing is started that a person hasn't accepted as it is declared.
//! - A tool that isn't as it was pinned is neither offered nor called.
//! - A server that is down costs its own tools alone, and each call of them says why.
//! - Nothing that a server asks for reaches a person or a model.
//!
//! Deliberately not here: whether a state grants a call, which the dispatcher decides as for every other tool; resources and
//! prompts of other servers; secrets, which stay in the environment.

mod breaker;
mod call;
mod connection;
mod declaration;
mod fault;
mod http;
mod names;
mod pins;
mod process;
pub mod request;
mod result;
mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use statemark_runs::check::CheckPlace;
use statemark_tools::Tool;
use tokio::runtime::Handle;
use tokio::sync::Notify;

pub use declaration::{BadDeclaration, Declaration, NewTools, Variables, Wanted, Words};
pub use fault::Fault;
pub use names::BadName;
pub use pins::{LOCK_FILE, Lock, LockError, Pin, Pins, Standing, hash};
use server::{Parts, Server};

/// Interval at which the lock is looked at. Why: somebody who has accepted a tool waits for it.
const LOCK_INTERVAL: Duration = Duration::from_secs(1);

/// A server of a project, and whether a person has accepted it.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its declaration.
    pub declaration: Declaration,
    /// The command by which a person accepts it as it is declared; none if one has.
    pub not_accepted: Option<String>,
}

/// The use that is made of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Their tools are offered: those that are seen for the first time are pinned.
    Serve,
    /// A look at them: nothing is pinned.
    Check,
}

/// The place of a project's servers.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder that programs run in, and what starts them there.
    pub programs: CheckPlace,
    /// The folder of the lock.
    pub folder: PathBuf,
    /// The beginning of all names, such as `ralph_upstream__`; mostly empty.
    pub base: String,
}

/// The servers of a project.
pub struct Upstreams {
    servers: Vec<Arc<Server>>,
    lock: Lock,
    handle: Handle,
    offered: Arc<Notify>,
}

/// The state of a server, for people and programs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The server.
    pub server: String,
    /// The version of the protocol that it speaks, if it has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The reason why it can't be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolReport>,
}

/// The state of a tool.
#[derive(Clone, Debug, Serialize)]
pub struct ToolReport {
    /// The name that the server has for it.
    pub tool: String,
    /// The name that clients call it by; none if that can't be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its relation to its pin.
    pub standing: Standing,
    /// The difference from its pin, if there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// Its definition as the server has it now.
    #[serde(skip)]
    pub definition: Option<serde_json::Value>,
}

impl Upstreams {
    /// Creates the servers of a project; none is started yet.
    ///
    /// # Errors
    ///
    /// Names of servers that can't be used.
    pub fn new(
        declared: Vec<Declared>,
        place: &Place,
        purpose: Use,
        handle: &Handle,
    ) -> Result<Self, Vec<BadName>> {
        let lock = Lock::in_folder(&place.folder);
        let offered = Arc::<Notify>::default();
        let (mut servers, mut bad) = (Vec::new(), Vec::new());
        for one in declared {
            let parts = Parts {
                name: one.name,
                base: place.base.clone(),
                declared: one.declaration,
                not_accepted: one.not_accepted,
                programs: place.programs.clone(),
                lock: lock.clone(),
                pins_first: purpose == Use::Serve,
                handle: handle.clone(),
                offered: Arc::clone(&offered),
            };
            match Server::new(parts) {
                Ok(server) => servers.push(Arc::new(server)),
                Err(error) => bad.push(error),
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        Ok(Self {
            servers,
            lock,
            handle: handle.clone(),
            offered,
        })
    }

    /// Returns the path of the lock.
    #[must_use]
    pub fn lock(&self) -> &Path {
        self.lock.path()
    }

    /// Returns the beginnings of the names of all tools.
    #[must_use]
    pub fn prefixes(&self) -> Vec<String> {
        self.servers.iter().map(|it| it.prefix.clone()).collect()
    }

    /// Starts all servers at once, and waits for them, but not longer than that.
    ///
    /// One that takes longer goes on starting.
    ///
    /// # Errors
    ///
    /// Names of tools that clash, or are none.
    pub async fn start(&self, patience: Duration) -> Result<(), Vec<BadName>> {
        let starting = self.servers.iter().map(|server| {
            let server = Arc::clone(server);
            self.handle.spawn(async move { server.start().await })
        });
        let starting: Vec<_> = starting.collect();
        let all = async {
            for one in starting {
                drop(one.await);
            }
        };
        drop(tokio::time::timeout(patience, all).await);
        let bad = self.bad_names();
        if bad.is_empty() { Ok(()) } else { Err(bad) }
    }

    /// Returns the names of tools that clash, or are none.
    fn bad_names(&self) -> Vec<BadName> {
        let (mut all, mut bad) = (Vec::new(), Vec::new());
        for server in &self.servers {
            let (tools, defects) = server.tools();
            bad.extend(defects);
            all.extend(
                tools
                    .into_iter()
                    .map(|it| (it.name.into_owned(), server.name.clone())),
            );
        }
        bad.extend(names::clashes(all.into_iter()));
        bad
    }

    /// Returns those of some names that begin as a server's tools do, where that server has no such tool.
    ///
    /// A server that hasn't listed its tools yet may have it.
    #[must_use]
    pub fn unknown<'n>(&self, names: &'n [String]) -> Vec<&'n String> {
        let is_unknown = |name: &&String| {
            let mut servers = self.servers.iter();
            let server = servers.find(|it| name.starts_with(&it.prefix));
            server.is_some_and(|server| {
                let is_listed = server.snapshot().listed.is_some();
                is_listed
                    && !server
                        .tools()
                        .0
                        .iter()
                        .any(|tool| tool.name == name.as_str())
            })
        };
        names.iter().filter(is_unknown).collect()
    }

    /// Creates the tools of all servers. Whatever has a name that can't be used is left out.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        let mut all: Vec<Tool> = self.servers.iter().flat_map(|it| it.tools().0).collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        // A name that came up later and clashes is nobody's.
        let is_one =
            |name: &str, all: &[Tool]| all.iter().filter(|it| it.name == name).count() == 1;
        let single: Vec<bool> = all.iter().map(|it| is_one(&it.name, &all)).collect();
        let mut single = single.into_iter();
        all.retain(|_| single.next().unwrap_or(false));
        all
    }

    /// Hands over the tools now, and whenever they have changed, as long as `publish` takes them.
    pub fn publish(self: &Arc<Self>, publish: impl Fn(Vec<Tool>) -> bool + Send + 'static) {
        for server in &self.servers {
            self.handle.spawn(Arc::clone(server).follow());
        }
        let own = Arc::clone(self);
        self.handle.spawn(async move {
            let mut stamp = own.lock_stamp();
            while publish(own.tools()) {
                loop {
                    let changed = own.offered.notified();
                    if tokio::time::timeout(LOCK_INTERVAL, changed).await.is_ok() {
                        break;
                    }
                    let now = own.lock_stamp();
                    if now != stamp {
                        stamp = now;
                        own.servers.iter().for_each(|server| server.reread());
                    }
                }
            }
        });
    }

    fn lock_stamp(&self) -> Option<(SystemTime, u64)> {
        let facts = std::fs::symlink_metadata(self.lock.path()).ok()?;
        Some((facts.modified().ok()?, facts.len()))
    }

    /// Starts each server that is accepted, one after the other, and reports on it.
    pub async fn check(&self) -> Vec<Report> {
        let mut reports = Vec::new();
        for server in &self.servers {
            let fault = server.start().await.err();
            reports.push(report(server, fault));
        }
        reports
    }

    /// Reports on the servers as they are pinned; none is started.
    #[must_use]
    pub fn list(&self) -> Vec<Report> {
        let servers = self.servers.iter();
        servers
            .map(|server| {
                let by = server.not_accepted.clone();
                report(server, by.map(|by| Fault::NotAccepted { by }))
            })
            .collect()
    }

    /// Ends all servers.
    pub async fn close(&self) {
        let closing = self.servers.iter().map(|server| {
            let server = Arc::clone(server);
            self.handle.spawn(async move { server.close().await })
        });
        for one in closing.collect::<Vec<_>>() {
            drop(one.await);
        }
    }
}

fn report(server: &Server, fault: Option<Fault>) -> Report {
    let seen = server.snapshot();
    let fault = fault.or_else(|| seen.fault.clone());
    let tools = seen.standings.iter().map(|(tool, standing)| ToolReport {
        tool: tool.clone(),
        name: names::join(&server.prefix, &server.name, tool).ok(),
        standing: *standing,
        diff: if *standing == Standing::Changed {
            seen.diff(tool)
        } else {
            String::new()
        },
        definition: seen.listed.as_ref().and_then(|it| it.get(tool).cloned()),
    });
    Report {
        server: server.name.clone(),
        protocol: seen.version.clone(),
        fault: fault.map(|it| it.to_string()),
        tools: tools.collect(),
    }
}
