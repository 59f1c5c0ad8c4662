//! Requests of the protocol whose parameters aren't as it has them: what is wrong where.
//!
//! rmcp takes what it can't read for a request of somebody else's making, and would say that there is no such method.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, CustomRequest, ErrorCode, GetPromptRequestParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::arguments;

/// What is said of a request that nothing here answers.
pub(super) fn refusal(request: &CustomRequest) -> ErrorData {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    let why = match &*request.method {
        "initialize" => why::<InitializeRequestParams>(params),
        "completion/complete" => why::<CompleteRequestParams>(params),
        "prompts/get" => why::<GetPromptRequestParams>(params),
        "prompts/list" | "resources/list" | "resources/templates/list" | "tools/list" => {
            why::<PaginatedRequestParams>(params)
        }
        "resources/read" => why::<ReadResourceRequestParams>(params),
        "resources/subscribe" => why::<SubscribeRequestParams>(params),
        "resources/unsubscribe" => why::<UnsubscribeRequestParams>(params),
        "subscriptions/listen" => why::<SubscriptionsListenRequestParams>(params),
        "tools/call" => why::<CallToolRequestParams>(params),
        "ping" | "server/discover" => None,
        method => {
            let message = format!("there is no method `{method}`");
            return ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None);
        }
    };
    let why = why.unwrap_or_else(|| "they aren't as the protocol has them".to_owned());
    ErrorData::invalid_params(
        format!("the parameters of `{}`: {why}", request.method),
        None,
    )
}

/// Why parameters aren't of a kind, if they aren't.
fn why<T: DeserializeOwned>(params: Value) -> Option<String> {
    let read = arguments::parse_value::<T>(params);
    read.err().map(|problem| problem.message)
}
