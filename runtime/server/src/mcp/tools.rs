//! `tools/list` and `tools/call`.
//!
//! A tool blocks a thread while it works, since stores are synchronous, and none while it waits. The connection continues
//! meanwhile.

use std::sync::Arc;
use std::time::Instant;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, Tool as McpTool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use statemark_tools::{Reply, Tool};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::Server;
use super::pages::page;
use crate::call::Call;

/// The lifetime of a list that no run can change. Unit: milliseconds.
///
/// Why: only another start of the server changes it.
const LIFETIME: u64 = 60_000;

/// Lists a page of the tools that a caller is offered.
pub(super) async fn list(
    server: &Server,
    asked: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListToolsResult, ErrorData> {
    let offered = server.ask(context, |dispatcher, ctx| {
        let mut tools = dispatcher.offered_tools(ctx.caller, describe);
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        Ok((tools, ctx.bound_run().is_some()))
    });
    let (tools, is_bound) = offered.await?;
    let (tools, next) = page(tools, |tool| &tool.name, asked)?;
    let mut answer = ListToolsResult::with_all_items(tools)
        .with_ttl_ms(if is_bound { 0 } else { LIFETIME })
        .with_cache_scope(CacheScope::Private);
    answer.next_cursor = next;
    Ok(answer)
}

/// Share of what is left by which progress grows where a report has nothing new but its words.
const LEAST_PROGRESS: f64 = 1e-6;

/// Calls a tool, reports its progress if the client wants it, and cancels it if the client gives up.
pub(super) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let caller = server.caller(&context);
    let id = server.request_id(&context);
    let hub = Arc::clone(&server.hub);
    let (given_up, running) = (CancellationToken::new(), server.calls.begin());
    // A request's future is dropped if its connection is gone.
    let _leaving = given_up.clone().drop_guard();
    let (sender, mut reports) = mpsc::unbounded_channel::<(f64, String)>();
    let call = Call {
        id: id.clone(),
        caller,
        share: server.share(&context),
        tool: request.name.to_string(),
        arguments: request.arguments.unwrap_or_default(),
        is_own: false,
        began: Instant::now(),
        given_up: given_up.clone(),
        reports: Some(sender),
    };
    let mut work = tokio::spawn(async move {
        let _running = running;
        call.answer(hub).await
    });
    let token = context.meta.get_progress_token();
    let mut reported = 0.0;
    let answer = loop {
        tokio::select! {
            done = &mut work => break done,
            () = context.ct.cancelled() => {
                given_up.cancel();
                break work.await;
            }
            Some((share, text)) = reports.recv() => {
                if let Some(token) = token.clone() {
                    // The protocol has it grow with each notification, whoever reports. The whole stays the answer's.
                    reported = if share > reported { share } else { reported + (1.0 - reported) * LEAST_PROGRESS };
                    let mut progress = ProgressNotificationParam::new(token, reported);
                    progress.total = Some(1.0);
                    progress.message = Some(text);
                    // The connection notices that the client has left.
                    drop(context.peer.notify_progress(progress).await);
                }
            }
        }
    };
    match answer.flatten() {
        Ok(Some(reply)) if reply.is_result => match serde_json::from_value(reply.answer) {
            Ok(result) => Ok(CallToolResult::into(result)),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        },
        Ok(Some(reply)) => Ok(call_result(reply).into()),
        Ok(None) => {
            let message = server.hub.dispatcher.describe_missing(&request.name);
            Err(ErrorData::invalid_params(message, None))
        }
        Err(error) => {
            tracing::error!(request = %id, tool = %request.name, cause = %error, "call failed");
            Err(ErrorData::internal_error(error.to_string(), None))
        }
    }
}

/// Describes a tool as the protocol has it.
pub(super) fn describe(tool: &Tool) -> McpTool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.annotations.read_only)
        .destructive(tool.annotations.destructive)
        .idempotent(tool.annotations.idempotent)
        .open_world(tool.annotations.open_world);
    let input = Arc::clone(&tool.input);
    let described = McpTool::new(tool.name.clone(), tool.description.clone(), input)
        .with_title(tool.title.clone())
        .with_annotations(annotations);
    match &tool.output {
        Some(output) => described.with_raw_output_schema(Arc::clone(output)),
        None => described,
    }
}

/// Converts an answer: objects become data and text, all else text alone, as older clients insist.
fn call_result(reply: Reply) -> CallToolResult {
    let (text, data) = match reply.answer {
        answer @ Value::Object(_) => (reply.text, Some(answer)),
        Value::String(text) => (text, None),
        _ => (reply.text, None),
    };
    let content = vec![ContentBlock::text(text)];
    let mut result = if reply.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = data;
    result
}
