//! What a request to `/mcp` says. What can't be read is answered as JSON-RPC has it, where rmcp would answer in plain text.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcError};

use super::BODY;
use crate::mcp::wire::{self, Unread};

/// Answers what can't be read.
pub(super) async fn check(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
    if parts.method != Method::POST || !is_json {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let Ok(bytes) = to_bytes(body, BODY).await else {
        return told(StatusCode::PAYLOAD_TOO_LARGE, wire::too_long(b""));
    };
    let request = Request::from_parts(parts, Body::from(bytes.clone()));
    let response = next.run(request).await;
    // Only then is it read a second time.
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let Err(error) = serde_json::from_slice::<ClientJsonRpcMessage>(&bytes) else {
        return response;
    };
    let unread = wire::unread(&bytes, &error).unwrap_or_else(|| Unread {
        id: None,
        error: ErrorData::invalid_request("the message can't be read", None),
    });
    told(StatusCode::BAD_REQUEST, unread)
}

fn told(status: StatusCode, unread: Unread) -> Response {
    let error = JsonRpcError::new(unread.id, unread.error);
    (status, Json(error)).into_response()
}
