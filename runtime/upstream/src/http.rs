//! Servers over HTTP: the protocol's streamable transport over `hyper` and `rustls`.
//!
//! Both are in the tree already.
//!
//! What to rely on: redirects aren't followed, so a header's secret goes to the declared server alone; certificates are the
//! system's; answers and events are bounded before they are parsed.
//!
//! Deliberately not here: OAuth (a token is a header from the environment), proxies, and a pool of connections.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use crate::fault::Fault;
use crate::process::{MAX_MESSAGE, TooLong, resolve};
use crate::request::{HttpError, send};

/// Largest answer with an error that is read. Unit: bytes. Why: it is cited in a line.
const MAX_ERROR: usize = 64 << 10;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Headers that the protocol has itself, or that say where a request goes.
pub(crate) const RESERVED: [&str; 7] = [
    "accept",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// Creates the transport to a server, with headers whose values name variables.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    too_long: &TooLong,
) -> Result<StreamableHttpClientTransport<Client>, Fault> {
    let mut all = HashMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| Fault::Undeclared)?;
        let mut value = HeaderValue::from_str(&resolve(value)?).map_err(|_| Fault::Undeclared)?;
        value.set_sensitive(true);
        all.insert(name, value);
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = all;
    config.max_sse_event_size = MAX_MESSAGE;
    let client = Client {
        too_long: too_long.clone(),
    };
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A client of one server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    too_long: TooLong,
}

impl From<HttpError> for StreamableHttpError<HttpError> {
    fn from(error: HttpError) -> Self {
        Self::Client(error)
    }
}

type Failure = StreamableHttpError<HttpError>;

/// Makes the headers of a request.
fn headers(
    session: Option<&str>,
    token: Option<String>,
    custom: HashMap<HeaderName, HeaderValue>,
) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    headers.extend(custom);
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, accepted);
    let value = |text: &str| HeaderValue::from_str(text).map_err(http::Error::from);
    if let Some(token) = token {
        headers.insert(AUTHORIZATION, value(&format!("Bearer {token}"))?);
    }
    if let Some(session) = session {
        headers.insert(SESSION, value(session)?);
    }
    Ok(headers)
}

/// Reads a body that may have so many bytes.
async fn read_body(body: Incoming, max: usize) -> Result<Bytes, Failure> {
    match Limited::new(body, max).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(StreamableHttpError::ResponseBodyTooLarge { max_size: max })
        }
        Err(error) => Err(HttpError::Unreachable(io::Error::other(error)).into()),
    }
}

fn is_of_kind(response: &Response<Incoming>, kind: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE);
    found.is_some_and(|it| it.as_bytes().starts_with(kind.as_bytes()))
}

/// Returns the events of a body. One that is too long ends them.
fn events(body: Incoming, too_long: &TooLong) -> BoxStream<'static, Result<Sse, SseError>> {
    let too_long = too_long.clone();
    let bounded = body.into_data_stream().scan(0_usize, move |length, chunk| {
        let chunk = chunk.map_err(io::Error::other).and_then(|bytes| {
            // An event ends with an empty line.
            let end = bytes
                .windows(2)
                .rposition(|it| it == b"\n\n" || it == b"\n\r");
            *length = end.map_or(*length + bytes.len(), |end| bytes.len() - end);
            if *length <= MAX_MESSAGE {
                return Ok(bytes);
            }
            too_long.set();
            Err(io::ErrorKind::InvalidData.into())
        });
        std::future::ready(Some(chunk))
    });
    SseStream::from_bytes_stream(bounded).boxed()
}

impl StreamableHttpClient for Client {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = serde_json::to_vec(&message).map_err(HttpError::from)?;
        let mut headers = headers(session.as_deref(), token, custom)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let response = send(&uri, (Method::POST, body.into()), headers).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            let body = read_body(response.into_body(), MAX_ERROR).await?;
            return describe_failure(&message, session.is_some(), status, &body);
        }
        let new_session = response.headers().get(SESSION);
        let new_session = new_session.and_then(|it| it.to_str().ok().map(str::to_owned));
        if is_of_kind(&response, EVENTS) {
            let events = events(response.into_body(), &self.too_long);
            return Ok(StreamableHttpPostResponse::Sse(events, new_session));
        }
        let is_answered = matches!(message, ClientJsonRpcMessage::Request(_));
        if !is_answered {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !is_of_kind(&response, JSON) {
            return Err(StreamableHttpError::UnexpectedContentType(None));
        }
        let body = match read_body(response.into_body(), MAX_MESSAGE).await {
            Err(error @ StreamableHttpError::ResponseBodyTooLarge { .. }) => {
                self.too_long.set();
                return Err(error);
            }
            body => body?,
        };
        let answer: ServerJsonRpcMessage =
            serde_json::from_slice(&body).map_err(HttpError::from)?;
        Ok(StreamableHttpPostResponse::Json(answer, new_session))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let headers = headers(Some(&session), token, custom)?;
        // A server may not let its sessions be ended.
        send(&uri, (Method::DELETE, Bytes::new()), headers).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut headers = headers(session.as_deref(), token, custom)?;
        if let Some(last) = last_event.and_then(|it| HeaderValue::from_str(&it).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let response = send(&uri, (Method::GET, Bytes::new()), headers).await?;
        match response.status() {
            status if status.is_success() && is_of_kind(&response, EVENTS) => {
                Ok(events(response.into_body(), &self.too_long))
            }
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

/// Describes an answer that is no success.
///
/// A server of the older era refuses the request by which the newer one begins; that is an answer, by which the client goes
/// on in the older one. Source: the protocol's section on backward compatibility.
fn describe_failure(
    message: &ClientJsonRpcMessage,
    has_session: bool,
    status: StatusCode,
    body: &[u8],
) -> Result<StreamableHttpPostResponse, Failure> {
    let is_known = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !has_session
        && !is_known
    {
        let error = match serde_json::from_slice::<ServerJsonRpcMessage>(body) {
            Ok(ServerJsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(format!("HTTP {status}"), None),
        };
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    let hint = if is_known {
        ": it wants a credential, which `headers` has from a variable of the environment"
    } else {
        ""
    };
    Err(StreamableHttpError::UnexpectedServerResponse(
        format!("HTTP {status}{hint}").into(),
    ))
}
