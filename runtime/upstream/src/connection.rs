//! Connections to servers: their beginning in either era, lists with all pages, and their end.
//!
//! Nothing that a server asks for is answered: it gets no input of people, no model and no folder. What it asks could pass for
//! a question of ours, and an approval is nobody's to give but a person's, elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, ListToolsRequest, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext,
    RequestContext, RunningService, ServiceError,
};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::Value;
use statemark_runs::check::CheckPlace;
use statemark_text::shorten::shorten;
use statemark_text::visible;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::call::{Line, Reports};
use crate::declaration::Declaration;
use crate::fault::Fault;
use crate::http;
use crate::process::{Process, Said, TooLong};

/// Most pages of a list, and most tools. Why: servers with a hundred tools are large ones.
const MAX_PAGES: usize = 100;
const MAX_TOOLS: usize = 1_000;

/// Largest definition of a tool. Unit: bytes. Why: a model reads all of it.
const MAX_DEFINITION: usize = 64 << 10;

/// Longest message of a server that a fault cites. Unit: characters.
const MAX_CAUSE: usize = 300;

/// Time in which a connection has to close. Why: a process gets as long to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Time in which what a server wrote as it ended is read.
///
/// Why: it comes over another pipe than the end itself.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(100);

/// A connection to a server.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    said: Said,
    too_long: TooLong,
    limit: Duration,
}

/// The answers to what a server asks of its client.
#[derive(Clone)]
struct Handler {
    server: String,
    changed: Arc<Notify>,
    reports: Reports,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("statemark", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tracing::warn!(
            server = self.server,
            "declined to ask a person for a server"
        );
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.reports.hear(report);
    }
}

impl Connection {
    /// Connects to a server. `changed` is notified when it says that its tools have changed.
    pub(crate) async fn open(
        server: &str,
        declared: &Declaration,
        programs: &CheckPlace,
        changed: &Arc<Notify>,
    ) -> Result<Self, Fault> {
        let handler = Handler {
            server: server.to_owned(),
            changed: Arc::clone(changed),
            reports: Reports::default(),
        };
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let limit = declared.start_limit();
        let too_long = TooLong::default();
        let (service, process) = match &declared.url {
            Some(url) => {
                let transport = http::transport(url, &declared.headers, &too_long)?;
                let starting = handler.serve_with_lifecycle(transport, lifecycle);
                (tokio::time::timeout(limit, starting).await, None)
            }
            None => {
                let (process, streams) = Process::start(server, declared, programs, &too_long)?;
                let starting = handler.serve_with_lifecycle(streams, lifecycle);
                (tokio::time::timeout(limit, starting).await, Some(process))
            }
        };
        let said = process
            .as_ref()
            .map(Process::last_words)
            .unwrap_or_default();
        let fault = match service {
            Ok(Ok(service)) => {
                let connection = Self {
                    service,
                    process,
                    said,
                    too_long,
                    limit,
                };
                connection.follow_changes(changed);
                return Ok(connection);
            }
            Ok(Err(_)) if too_long.is_set() => Fault::TooLong,
            Ok(Err(error)) => {
                tokio::time::sleep(LAST_WORDS).await;
                describe_start(&error, &said)
            }
            Err(_) => silent(limit, &said),
        };
        if let Some(process) = process {
            process.end().await;
        }
        Err(fault)
    }

    /// Subscribes to changes of the list, in the era in which they have to be asked for.
    fn follow_changes(&self, changed: &Arc<Notify>) {
        if self.version() < Some(ProtocolVersion::V_2026_07_28) {
            return;
        }
        let (peer, changed) = (self.service.peer().clone(), Arc::clone(changed));
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that has no such subscription is asked for its list from time to time.
            let Ok(mut subscription) = peer.listen(filter).await else {
                return;
            };
            while let Ok(Some(_)) = subscription.next().await {
                changed.notify_one();
            }
        });
    }

    /// Returns the version of the protocol that was agreed on.
    pub(crate) fn version(&self) -> Option<ProtocolVersion> {
        let info = self.service.peer().peer_info()?;
        Some(info.protocol_version.clone())
    }

    /// Returns what calls go over; `handle` runs what outlives a call.
    pub(crate) fn line(&self, handle: &Handle) -> Line {
        Line {
            peer: self.service.peer().clone(),
            reports: self.service.service().reports.clone(),
            handle: handle.clone(),
        }
    }

    /// Returns whether nothing comes from it any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// Returns what became of a request that has no answer.
    pub(crate) fn describe(&self, error: &ServiceError) -> Fault {
        if self.too_long.is_set() {
            return Fault::TooLong;
        }
        match error {
            ServiceError::McpError(error) => protocol(&error.message),
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => Fault::Closed {
                said: self.said.text(),
            },
            error => protocol(&error.to_string()),
        }
    }

    pub(crate) fn silent(&self, limit: Duration) -> Fault {
        silent(limit, &self.said)
    }

    /// Lists all tools, each as its server has it, by name.
    ///
    /// The library's own list would answer from a cache.
    pub(crate) async fn list(&self) -> Result<BTreeMap<String, Value>, Fault> {
        let listing = tokio::time::timeout(self.limit, self.list_pages()).await;
        listing.unwrap_or_else(|_| Err(self.silent(self.limit)))
    }

    async fn list_pages(&self) -> Result<BTreeMap<String, Value>, Fault> {
        let bad = |cause: String| Fault::BadList { cause };
        let (mut tools, mut cursors) = (BTreeMap::new(), BTreeSet::new());
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let answer = self.service.peer().send_request(request).await;
            let answer = answer.map_err(|error| self.describe(&error))?;
            let ServerResult::ListToolsResult(page) = answer else {
                return Err(bad("something else came".to_owned()));
            };
            for tool in page.tools {
                let name = tool.name.to_string();
                let shown = visible::line(&name).into_owned();
                let definition = serde_json::to_value(tool)
                    .map_err(|error| bad(format!("`{shown}`: {error}")))?;
                if definition.to_string().len() > MAX_DEFINITION {
                    return Err(bad(format!(
                        "`{shown}` has a definition of more than {MAX_DEFINITION} bytes"
                    )));
                }
                if tools.insert(name, definition).is_some() {
                    return Err(bad(format!("it has two tools `{shown}`")));
                }
            }
            if tools.len() > MAX_TOOLS {
                return Err(bad(format!("it has more than {MAX_TOOLS} tools")));
            }
            match page.next_cursor {
                None => return Ok(tools),
                Some(next) if !cursors.insert(next.clone()) => {
                    return Err(bad("its pages lead in a circle".to_owned()));
                }
                next => cursor = next,
            }
        }
        Err(bad(format!("it has more than {MAX_PAGES} pages")))
    }

    /// Closes the connection, and ends the server's process.
    pub(crate) async fn close(mut self) {
        drop(self.service.close_with_timeout(GRACE).await);
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }
}

fn silent(limit: Duration, said: &Said) -> Fault {
    Fault::Silent {
        seconds: limit.as_secs().max(1),
        said: said.text(),
    }
}

fn protocol(cause: &str) -> Fault {
    Fault::Protocol {
        cause: shorten(&visible::line(cause), MAX_CAUSE),
    }
}

fn describe_start(error: &ClientInitializeError, said: &Said) -> Fault {
    match error {
        ClientInitializeError::ConnectionClosed(_) => Fault::Closed { said: said.text() },
        ClientInitializeError::TransportError { error, .. } => {
            let said = said.text().or_else(|| Some(error.to_string()));
            let said = said.map(|it| shorten(&visible::line(&it), MAX_CAUSE));
            Fault::Closed { said }
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            describe_start(fallback, said)
        }
        error => protocol(&error.to_string()),
    }
}
