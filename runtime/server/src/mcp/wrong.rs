//! Requests with wrong parameters: what is wrong, and where.
//!
//! rmcp takes a request that it can't read for one that it doesn't know, and would answer that there is no such method.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CustomRequest, ErrorCode, GetPromptRequestParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use statemark_tools::arguments;

/// Returns the error of a request that no handler takes.
pub(super) fn refusal(request: &CustomRequest) -> ErrorData {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    let fault = match &*request.method {
        "initialize" => find_fault::<InitializeRequestParams>(params),
        "completion/complete" => find_fault::<CompleteRequestParams>(params),
        "prompts/get" => find_fault::<GetPromptRequestParams>(params),
        "prompts/list" | "resources/list" | "resources/templates/list" | "tools/list" => {
            find_fault::<PaginatedRequestParams>(params)
        }
        "resources/read" => find_fault::<ReadResourceRequestParams>(params),
        "resources/subscribe" => find_fault::<SubscribeRequestParams>(params),
        "resources/unsubscribe" => find_fault::<UnsubscribeRequestParams>(params),
        "subscriptions/listen" => find_fault::<SubscriptionsListenRequestParams>(params),
        "tools/call" => find_fault::<CallToolRequestParams>(params),
        "ping" | "server/discover" => None,
        method => {
            let message = format!("there is no method `{method}`");
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
        }
    };
    let fault = fault.unwrap_or_else(|| "they aren't as the protocol has them".to_owned());
    ErrorData::invalid_params(
        format!("the parameters of `{}`: {fault}", request.method),
        None,
    )
}

/// Returns the reason why parameters aren't of a type, if they aren't.
fn find_fault<T: DeserializeOwned>(params: Value) -> Option<String> {
    let read = arguments::parse_value::<T>(params);
    read.err().map(|problem| problem.message)
}
