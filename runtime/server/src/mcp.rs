//! The protocol: rmcp's handler over the dispatcher, a file for each of its parts.
//!
//! Nothing is decided here. Tools, resources and prompts are those that the dispatcher gives the caller of the request;
//! one that a list leaves out is refused when it is named all the same. One handler serves both eras. They differ in
//! how a client hears of changes: `mcp/follow.rs`.

mod calls;
mod complete;
mod follow;
mod lines;
mod pages;
mod prompts;
mod resources;
mod stdio;
mod tools;
pub(crate) mod wire;
mod wrong;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool as McpTool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use statemark_tools::{Caller, Ctx, Dispatcher, Effort, Problem};

use crate::hub::Hub;
use crate::limits::{Limits, Share};
use crate::prompt;
use crate::request_id::RequestId;
pub use stdio::serve_stdio;

/// A handler of one connection, or of one request in the era without connections.
#[derive(Clone)]
pub struct Server {
    hub: Arc<Hub>,
    caller: Caller,
    /// The subscriptions of a client of the older era.
    subscriptions: follow::Subscriptions,
    calls: calls::Calls,
}

impl Server {
    /// Creates a handler for callers without a credential.
    #[must_use]
    pub fn new(dispatcher: Arc<Dispatcher>, caller: Caller) -> Self {
        Self::over(Hub::new(dispatcher, Limits::default()), caller)
    }

    /// Creates a handler that shares a hub with others.
    pub(crate) fn over(hub: Arc<Hub>, caller: Caller) -> Self {
        Self {
            hub,
            caller,
            subscriptions: follow::Subscriptions::default(),
            calls: calls::Calls::new(),
        }
    }

    /// Returns the caller of a request: by its HTTP credential if it has one.
    fn caller(&self, context: &RequestContext<RoleServer>) -> Caller {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let caller = self.credential(parts);
        let client = context.client_info();
        caller.with_client(client.as_ref().map(|it| it.name.as_str()))
    }

    /// Returns what the caller of a request may have under way.
    fn share(&self, context: &RequestContext<RoleServer>) -> Share {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let share = parts.and_then(|parts| parts.extensions.get::<Share>().cloned());
        share.unwrap_or_else(|| self.hub.limits.share(None))
    }

    /// Returns the id of a request: that of its HTTP request, else a new one.
    fn request_id(&self, context: &RequestContext<RoleServer>) -> RequestId {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let id = parts.and_then(|parts| parts.extensions.get::<RequestId>().cloned());
        id.unwrap_or_else(RequestId::new)
    }

    fn credential(&self, parts: Option<&axum::http::request::Parts>) -> Caller {
        let own = parts.and_then(|parts| parts.extensions.get::<Caller>().cloned());
        own.unwrap_or_else(|| self.caller.clone())
    }

    /// Answers the caller of a request, on a thread where that may take its time.
    async fn ask<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        ask: impl FnOnce(&Dispatcher, &Ctx<'_>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.ask_at(context, Effort::Long, ask).await
    }

    /// Asks as [`Server::ask`] does, at the cost of an effort.
    async fn ask_at<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        effort: Effort,
        ask: impl FnOnce(&Dispatcher, &Ctx<'_>) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let caller = self.caller(context);
        let dispatcher = Arc::clone(&self.hub.dispatcher);
        let working = self.share(context).turn(effort == Effort::Compiling).await;
        let work = tokio::task::spawn_blocking(move || {
            // Held by the work, which goes on where its caller has left.
            let _working = working;
            let ctx = dispatcher.ctx(&caller);
            ask(&dispatcher, &ctx).map_err(|problem| problem.callable_by(&ctx))
        });
        let answer = work.await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        answer.map_err(|problem| protocol_error(&problem))
    }
}

/// Converts a problem into an error of the protocol.
fn protocol_error(problem: &Problem) -> ErrorData {
    let data = Some(json!(problem));
    let message = problem.message.clone();
    match problem.code.as_str() {
        "unknown_resource" | "unknown_workflow" | "unknown_run" | "unknown_state"
        | "unknown_artifact" => ErrorData::resource_not_found(message, data),
        "store_failed" | "corrupt" | "busy" => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_params(message, data),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("statemark", env!("CARGO_PKG_VERSION")))
            .with_instructions(prompt::instructions(&self.hub.dispatcher.ctx(&self.caller)))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        tools::list(self, page, &context).await
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        let tool = self
            .hub
            .dispatcher
            .tools()
            .iter()
            .find(|tool| tool.name == name);
        tool.map(tools::describe)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, request, context).await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(self, page, &context).await
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        resources::templates(self, page)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(self, request.uri, &context).await
    }

    async fn list_prompts(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        prompts::list(self, page, &context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(self, request, &context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(self, request, &context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(wrong::refusal(&request))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let caller = self.credential(parts);
        let subscriber = follow::Subscriber::Session(context.peer, self.subscriptions.clone());
        tokio::spawn(follow::follow(Arc::clone(&self.hub), caller, subscriber));
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (hub, subscriptions) = (Arc::clone(&self.hub), self.subscriptions.clone());
        let subscribe = move |_: &Dispatcher, ctx: &Ctx<'_>| {
            follow::check(ctx, &request.uri)?;
            subscriptions.add(request.uri, &hub.publisher)
        };
        self.ask(&context, subscribe).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let caller = self.caller(context.request_context());
        let uris = context.accepted().resource_subscriptions.clone();
        let uris = uris.unwrap_or_default();
        let subscriber = follow::Subscriber::Stream(context.sink().clone(), uris);
        let work = follow::follow(Arc::clone(&self.hub), caller, subscriber);
        tokio::select! {
            () = work => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}
