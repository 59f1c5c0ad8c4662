//! Bodies of requests: read whole before anything else, within bounds of size, time and memory.
//!
//! A body takes up to some ten times its size in memory once it is parsed. So those that are large are read one at a time,
//! and none may have more values than a message needs.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use rmcp::ErrorData;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_stream::StreamExt;

use crate::mcp::wire::{self, MAX_MESSAGE, Unread};

/// Most bytes of a body that is read beside others.
///
/// Why: a record takes 1 MiB; only artifacts are larger.
const MAX_SHARED: usize = 2 << 20;

/// Longest time in which a body arrives.
///
/// Why: a client on the same machine takes milliseconds, one far away some seconds.
const TIME: Duration = Duration::from_secs(60);

/// A reader of bodies.
pub(super) struct Bodies {
    /// Held by the one request whose body is large.
    large: Semaphore,
}

/// A body that can't be taken: the status that says so, and the message.
pub(super) type Refused = (StatusCode, Unread);

impl Bodies {
    pub(super) const fn new() -> Self {
        Self {
            large: Semaphore::const_new(1),
        }
    }

    /// Reads the body of a request.
    ///
    /// What comes with it is to be kept while the body is.
    pub(super) async fn read(
        &self,
        request: Request,
    ) -> Result<(Request, Option<SemaphorePermit<'_>>), Refused> {
        let (parts, body) = request.into_parts();
        let read = tokio::time::timeout(TIME, self.collect(body)).await;
        let (bytes, turn) = read.unwrap_or_else(|_| {
            let message = format!("the body didn't arrive within {} s", TIME.as_secs());
            Err(refused(StatusCode::REQUEST_TIMEOUT, message))
        })?;
        if let Err(unread) = wire::check_values(&bytes) {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, unread));
        }
        Ok((Request::from_parts(parts, Body::from(bytes)), turn))
    }

    async fn collect(&self, body: Body) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Refused> {
        let mut chunks = body.into_data_stream();
        let (mut read, mut turn) = (Vec::new(), None);
        let mut first = Bytes::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| {
                let message = format!("the body can't be read: {error}");
                refused(StatusCode::BAD_REQUEST, message)
            })?;
            // Most bodies are one chunk, which isn't copied.
            if first.is_empty() && read.is_empty() {
                first = chunk;
                continue;
            }
            read.extend_from_slice(&std::mem::take(&mut first));
            let length = read.len().saturating_add(chunk.len());
            if length > MAX_MESSAGE {
                return Err((StatusCode::PAYLOAD_TOO_LARGE, wire::too_long(&read)));
            }
            if length > MAX_SHARED && turn.is_none() {
                turn = self.large.acquire().await.ok();
            }
            read.extend_from_slice(&chunk);
        }
        let bytes = if read.is_empty() { first } else { read.into() };
        Ok((bytes, turn))
    }
}

fn refused(status: StatusCode, message: String) -> Refused {
    let error = ErrorData::invalid_request(message, None);
    (status, Unread { id: None, error })
}
