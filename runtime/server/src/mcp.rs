//! The protocol: rmcp's handler over the desk.
//!
//! A tool blocks a thread of its own, since stores are synchronous and `wait_run` waits; the connection goes on meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ServerCapabilities, ServerConfig, Tool as McpTool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::caller::Caller;
use crate::desk::Desk;
use crate::tool::{Call, Tool};

/// What clients put before their models.
const INSTRUCTIONS: &str = "\
Runs of workflows are driven here. `list_workflows` and `start_run` begin one; every answer about a run has `next`: where it \
is, what its state wants (`instructions`), the events that are legal with the facts that their guards read (`legal`), and the \
tools that its state grants (`tools`). `send_event` moves it; a refusal says what is legal instead. `explain_run` says why \
it stands still and which call moves it. People decide approvals elsewhere: ask with `request_human`, then `wait_run`.";

/// A handler of one connection, or of one request where there are no connections.
#[derive(Clone)]
pub struct Server {
    desk: Arc<Desk>,
    caller: Caller,
}

impl Server {
    /// A handler for whoever calls without a credential of their own.
    #[must_use]
    pub const fn new(desk: Arc<Desk>, caller: Caller) -> Self {
        Self { desk, caller }
    }

    /// Who sends a request: by the credential of the HTTP request if there is one.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let own = parts.and_then(|parts| parts.extensions.get::<Caller>().cloned());
        let caller = own.unwrap_or_else(|| self.caller.clone());
        let client = context.client_info();
        caller.through(client.as_ref().map(|it| it.name.as_str()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("statemark", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult {
            tools: self.desk.tools().iter().map(listed).collect(),
            ..ListToolsResult::default()
        })
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        let tool = self.desk.tools().iter().find(|tool| tool.name == name);
        tool.map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context);
        let desk = Arc::clone(&self.desk);
        let cancelled = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&cancelled);
        let (tell, mut words) = mpsc::unbounded_channel::<(f64, String)>();
        let name = request.name.to_string();
        let arguments = request.arguments.unwrap_or_default();
        let mut work = tokio::task::spawn_blocking(move || {
            let cancelled = || stop.load(Ordering::Relaxed);
            // Nobody may be left to hear it.
            let progress = |share: f64, said: &str| drop(tell.send((share, said.to_owned())));
            let call = Call {
                desk: &desk,
                caller: &caller,
                cancelled: &cancelled,
                progress: &progress,
            };
            desk.call(&call, &name, arguments)
        });
        let token = context.meta.get_progress_token();
        let answer = loop {
            tokio::select! {
                done = &mut work => break done,
                () = context.ct.cancelled() => {
                    cancelled.store(true, Ordering::Relaxed);
                    break work.await;
                }
                Some((share, said)) = words.recv() => {
                    if let Some(token) = token.clone() {
                        let mut progress = ProgressNotificationParam::new(token, share);
                        progress.total = Some(1.0);
                        progress.message = Some(said);
                        // A client that is gone will be noticed by its connection.
                        drop(context.peer.notify_progress(progress).await);
                    }
                }
            }
        };
        match answer {
            Ok(Some((value, is_error))) => Ok(told(value, is_error).into()),
            Ok(None) => {
                let message = format!("there is no tool `{}`", request.name);
                Err(ErrorData::invalid_params(message, None))
            }
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

/// A tool as clients are told of it.
fn listed(tool: &Tool) -> McpTool {
    let schema = |map: &serde_json::Map<_, _>| Arc::new(JsonObject::clone(map));
    let hints = tool.hints;
    let annotations = ToolAnnotations::new()
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    let listed = McpTool::new(tool.name, tool.description, schema(&tool.input))
        .with_title(tool.title)
        .with_annotations(annotations);
    match &tool.output {
        Some(output) => listed.with_raw_output_schema(schema(output)),
        None => listed,
    }
}

/// What a client is told of an answer: objects as data and as text, all else as text alone, which older clients insist on.
fn told(value: Value, is_error: bool) -> CallToolResult {
    let text = match value {
        Value::Object(_) if is_error => return CallToolResult::structured_error(value),
        Value::Object(_) => return CallToolResult::structured(value),
        Value::String(text) => text,
        other => other.to_string(),
    };
    let content = vec![ContentBlock::text(text)];
    if is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    }
}

/// Serves one client over standard input and output, until it goes away.
///
/// # Errors
///
/// The client doesn't speak the protocol, or the streams fail.
pub async fn serve_stdio(server: Server) -> std::io::Result<()> {
    let running = match server.serve(rmcp::transport::stdio()).await {
        // A client may leave without a word.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        running => running.map_err(std::io::Error::other)?,
    };
    running.waiting().await.map_err(std::io::Error::other)?;
    Ok(())
}
