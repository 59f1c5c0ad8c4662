//! The handler: lists and answers from the data, and the few things that a tool does besides.

#![expect(deprecated, reason = "the suite asks for what older revisions had")]

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities,
    ServerConfig, ServerNotification, ServerRequest, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;

use super::rounds::{Given, Round, play};

/// The data.
const DATA: &str = include_str!("fixture.json");

/// Between what a tool tells while it works.
const PAUSE: Duration = Duration::from_millis(50);

/// What all connections share.
pub(super) struct Shared {
    data: Value,
    changed: broadcast::Sender<String>,
}

impl Shared {
    pub(super) fn read() -> Self {
        Self {
            data: serde_json::from_str(DATA).expect("JSON"),
            changed: broadcast::channel(16).0,
        }
    }

    fn all(&self, kind: &str) -> &Map<String, Value> {
        self.data[kind].as_object().expect("an object")
    }

    fn one(&self, kind: &str, name: &str) -> Result<&Value, ErrorData> {
        self.all(kind).get(name).ok_or_else(|| {
            ErrorData::invalid_params(format!("there is no `{name}` among the {kind}"), None)
        })
    }
}

/// The handler.
#[derive(Clone)]
pub(super) struct Fixture(pub(super) Arc<Shared>);

type Context = RequestContext<RoleServer>;

/// A value of the protocol as it looks on the wire.
fn wired<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    let read = serde_json::from_value(value.clone());
    read.map_err(|error| ErrorData::internal_error(format!("{value}: {error}"), None))
}

/// A result that is complete, as it looks on the wire.
fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    wired(value)
}

/// The value with `{name}` in its texts replaced by arguments.
fn filled(value: &Value, arguments: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (name, value) in arguments {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                text = text.replace(&format!("{{{name}}}"), &value);
            }
            Value::String(text)
        }
        Value::Array(all) => all.iter().map(|it| filled(it, arguments)).collect(),
        Value::Object(map) => {
            let filled = map
                .iter()
                .map(|(key, it)| (key.clone(), filled(it, arguments)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    }
}

/// What the client says that it can do.
fn declared(context: &Context) -> Value {
    json!(context.client_capabilities().unwrap_or_default())
}

/// Tells what a tool logs, to a client of the newer era only where it has asked for it.
async fn log(said: &Value, context: &Context) {
    let level = "io.modelcontextprotocol/logLevel";
    let is_newer = context.meta.protocol_version().is_some();
    if is_newer && json!(context.meta).get(level).is_none() {
        return;
    }
    let params = json!({"level": "info", "logger": "conformance", "data": said});
    let message = json!({"method": "notifications/message", "params": params});
    if let Ok(message) = wired::<ServerNotification>(message) {
        let _ = context.peer.send_notification(message).await;
    }
    tokio::time::sleep(PAUSE).await;
}

async fn progress(share: &Value, context: &Context) {
    if let Some(token) = context.meta.get_progress_token() {
        let share = share.as_f64().unwrap_or_default();
        let mut told = ProgressNotificationParam::new(token, share);
        told.total = Some(100.0);
        let _ = context.peer.notify_progress(told).await;
    }
    tokio::time::sleep(PAUSE).await;
}

impl Fixture {
    /// Asks the client by a request of the server's own, as was done up to 2025-11-25.
    async fn ask(&self, request: Value, says: &str, context: &Context) -> Result<Value, ErrorData> {
        let request: ServerRequest = wired(request)?;
        let answer = context.peer.send_request(request).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let action = json!(answer);
        let text = match action.get("action").and_then(Value::as_str) {
            Some(word) => format!("{says}action={word}, content={}", action["content"]),
            None => format!("{says}{}", action["content"]),
        };
        Ok(json!({"content": [{"type": "text", "text": text}]}))
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "completions": {},
            "logging": {},
            "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true},
            "tools": {"listChanged": true},
        });
        let capabilities: ServerCapabilities = wired(capabilities).expect("capabilities");
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("statemark-conformance", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let names = self.0.all("tools").keys();
        Ok(ListToolsResult::with_all_items(
            names.filter_map(|name| self.get_tool(name)).collect(),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.0.all("tools").get(name)?;
        let empty = json!({"type": "object", "properties": {}});
        let schema = tool.get("inputSchema").unwrap_or(&empty);
        wired(json!({"name": name, "description": "For the suite.", "inputSchema": schema})).ok()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.0.one("tools", &request.name)?;
        if let Some(word) = tool["needs"].as_str()
            && declared(&context).get(word).is_none()
        {
            let needed = wired(json!({word: {}}))?;
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        let says = tool["says"].as_str().unwrap_or_default();
        let arguments = request.arguments.unwrap_or_default();
        if tool.get("rounds").is_some() {
            let given = Given {
                responses: request.input_responses,
                state: request.request_state,
                declared: declared(&context),
            };
            return Ok(match play(tool, &request.name, given)? {
                Round::Open(open) => wired::<InputRequiredResult>(open)?.into(),
                Round::Done(said) => {
                    let text = format!("{says}{said}");
                    complete::<CallToolResult>(
                        json!({"content": [{"type": "text", "text": text}]}),
                    )?
                    .into()
                }
            });
        }
        for said in tool["logs"].as_array().into_iter().flatten() {
            log(said, &context).await;
        }
        for share in tool["progress"].as_array().into_iter().flatten() {
            progress(share, &context).await;
        }
        if let Some(list) = tool["changes"].as_str() {
            // Nobody may be listening.
            let _ = self.0.changed.send(list.to_owned());
        }
        let answer = match tool.get("asks") {
            Some(asks) => self.ask(filled(asks, &arguments), says, &context).await?,
            None => tool["answer"].clone(),
        };
        Ok(complete::<CallToolResult>(answer)?.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.0.all("prompts").iter().map(|(name, prompt)| {
            let arguments = prompt.get("arguments").cloned().unwrap_or(json!([]));
            wired(json!({"name": name, "description": "For the suite.", "arguments": arguments}))
        });
        Ok(ListPromptsResult::with_all_items(
            prompts.collect::<Result<_, _>>()?,
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.0.one("prompts", &request.name)?;
        if prompt.get("rounds").is_some() {
            let given = Given {
                responses: request.input_responses,
                state: request.request_state,
                declared: declared(&context),
            };
            if let Round::Open(open) = play(prompt, &request.name, given)? {
                return Ok(wired::<InputRequiredResult>(open)?.into());
            }
        }
        let arguments = request.arguments.unwrap_or_default();
        Ok(complete::<GetPromptResult>(filled(&prompt["answer"], &arguments))?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let uris = self.0.all("resources").keys();
        let resources = uris.map(|uri| Resource::new(uri, uri));
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let template = self.0.all("template");
        let part = |key: &str| template[key].as_str().unwrap_or_default();
        let id = uri.strip_prefix(part("before"));
        let id = id.and_then(|it| it.strip_suffix(part("after")));
        let mut found = match (self.0.all("resources").get(uri), id) {
            (Some(found), _) => found.clone(),
            (None, Some(id)) => {
                let arguments = Map::from_iter([("id".to_owned(), json!(id))]);
                let text = filled(&template["text"], &arguments);
                json!({"mimeType": template["mimeType"], "text": text})
            }
            (None, None) => {
                let message = format!("there is no resource `{uri}`");
                return Err(ErrorData::resource_not_found(
                    message,
                    Some(json!({"uri": uri})),
                ));
            }
        };
        found["uri"] = json!(uri);
        Ok(complete::<ReadResourceResult>(json!({"contents": [found]}))?.into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        complete(json!({"completion": {"values": ["one", "two"], "total": 2, "hasMore": false}}))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changed = self.0.changed.subscribe();
        loop {
            let list = tokio::select! {
                list = changed.recv() => list,
                () = context.cancelled() => return Ok(()),
            };
            // What the client didn't ask for isn't sent.
            let _ = match list.as_deref() {
                Ok("tools") => context.sink().notify_tool_list_changed().await,
                Ok(_) => context.sink().notify_prompt_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }
}
