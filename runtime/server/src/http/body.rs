//! Bodies of requests: read whole before anything else, within bounds of size, time and memory.
//!
//! A body takes up to some ten times its size in memory once it is parsed. So those that are large are parsed one at a time,
//! and none may have more values than a message needs, or a key twice in one object. Each caller has one large body at a
//! time, from its arrival to the end of the answer: who sends slowly, or many at once, keeps nobody else waiting.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::StatusCode;
use rmcp::ErrorData;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_stream::StreamExt;

use crate::limits::{Permit, Share};
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
    /// Held by the one request whose large body is parsed.
    large: Semaphore,
}

/// The turns of a request with a large body.
pub(super) struct Large<'b> {
    /// The caller's own: to be kept until the request is answered whole.
    pub(super) own: Permit,
    /// Everybody's: to be kept until the answer begins.
    _parsed: Option<SemaphorePermit<'b>>,
}

/// A body that can't be taken: the status that says so, and the message.
pub(super) type Refused = (StatusCode, Unread);

impl Bodies {
    pub(super) const fn new() -> Self {
        Self {
            large: Semaphore::const_new(1),
        }
    }

    /// Reads the body of a request of a caller with that share.
    ///
    /// With a large one come its turns.
    pub(super) async fn read(
        &self,
        share: &Share,
        request: Request,
    ) -> Result<(Request, Option<Large<'_>>), Refused> {
        let (parts, body) = request.into_parts();
        let read = tokio::time::timeout(TIME, collect(share, body)).await;
        let (bytes, own) = read.unwrap_or_else(|_| {
            let message = format!("the body didn't arrive within {} s", TIME.as_secs());
            Err(refused(StatusCode::REQUEST_TIMEOUT, message))
        })?;
        let large = match own {
            Some(own) => Some(Large {
                own,
                _parsed: self.large.acquire().await.ok(),
            }),
            None => None,
        };
        if let Err(unread) = wire::check_values(&bytes) {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, unread));
        }
        if let Err(unread) = wire::check_keys(&bytes) {
            return Err((StatusCode::BAD_REQUEST, unread));
        }
        Ok((Request::from_parts(parts, Body::from(bytes)), large))
    }
}

/// Reads a body; with it comes the caller's turn for a large one, if it is.
async fn collect(share: &Share, body: Body) -> Result<(Bytes, Option<Permit>), Refused> {
    // Who announces too much needn't send it.
    if body.size_hint().lower() > u64::try_from(MAX_MESSAGE).unwrap_or(u64::MAX) {
        return Err((StatusCode::PAYLOAD_TOO_LARGE, wire::too_long(&[])));
    }
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
            turn = share.large_body().await.ok();
        }
        read.extend_from_slice(&chunk);
    }
    let bytes = if read.is_empty() { first } else { read.into() };
    Ok((bytes, turn))
}

fn refused(status: StatusCode, message: String) -> Refused {
    let error = ErrorData::invalid_request(message, None);
    (status, Unread { id: None, error })
}
