//! The middleware before everything but `/healthz`: one pass over each request.
//!
//! ```text
//! Host, Origin ─→ token → Caller, Share ─→ body ─→ to `/mcp`: own session, readable body ─→ handler ─→ streams end with their token
//! ```
//!
//! A page in somebody's browser can send requests to a server on the same machine, but it can't choose their `Host` and
//! `Origin`. So both are checked before anything is read. rmcp answers a request by the session that it names, whoever
//! sends it. So a request that names another caller's session is handed on with a session that doesn't exist, and nobody
//! learns which sessions there are.
//!
//! Each request has an id, its own or a new one, which its answer names. Refusals and failures are lines of the log.
//!
//! What to rely on: callers without a token are one caller. A revoked token is refused in a moment, and its open streams
//! end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcError};
use rmcp::transport::streamable_http_server::session::SessionId;
use statemark_runs::authority::InvalidToken;
use statemark_tools::{Caller, Credential, Problem, envelope};

use super::HttpOptions;
use super::body::Bodies;
use super::connection::Place;
use super::keys::{self, Keys, Unknown};
use super::sessions::{Owner, Sessions};
use crate::limits::{Limits, Permit, Share};
use crate::mcp::wire::{self, MAX_MESSAGE, Unread};
use crate::metrics::Metrics;
use crate::request_id::{self, RequestId};

/// The interval at which an open stream's token is checked.
///
/// Why: a revoked token ends its streams in a moment.
const TOKEN_INTERVAL: Duration = Duration::from_millis(500);

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// The headers that decide who calls, from where and how: a request has each at most once.
const DECISIVE: [&str; 5] = [
    "host",
    "origin",
    "authorization",
    "content-type",
    "sec-websocket-protocol",
];

/// The beginning of a protocol of a WebSocket that stands for a credential.
///
/// Why: a browser's WebSocket can't send `Authorization`, and a token in an address would stand in logs and histories.
const BEARER_PROTOCOL: &str = "statemark.bearer.";

/// A name that no session has: rmcp's are UUIDs.
const NO_SESSION: HeaderValue = HeaderValue::from_static("none");

/// The headers that keep answers out of other sites' pages.
const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");
const EMBEDDED_BY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");

/// The text with which rmcp answers for a session that doesn't exist.
const UNKNOWN_SESSION: &str = "Not Found: Session not found";

/// The middleware's options and state.
pub(super) struct Middleware {
    metrics: Arc<Metrics>,
    limits: Arc<Limits>,
    bodies: Bodies,
    sessions: Sessions,
    keys: Keys,
    caller: Caller,
    is_loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Middleware {
    pub(super) fn new(
        options: &HttpOptions,
        keys: Keys,
        (metrics, limits): (Arc<Metrics>, Arc<Limits>),
        sessions: Sessions,
    ) -> Self {
        let origin = |it: &String| it.trim_end_matches('/').to_ascii_lowercase();
        Self {
            metrics,
            limits,
            bodies: Bodies::new(),
            sessions,
            keys,
            caller: options.caller.clone(),
            is_loopback: options.address.ip().is_loopback(),
            hosts: allowed_hosts(options),
            origins: options.origins.iter().map(origin).collect(),
        }
    }

    /// Checks the host and the page that a request names.
    fn check_source(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        // A proxy in front of the server may have gone by another of them.
        if let Some(name) = DECISIVE
            .iter()
            .find(|it| headers.get_all(**it).iter().count() > 1)
        {
            let message = format!("the request has several headers `{name}`, and may have one");
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "repeated_header",
                message,
            ));
        }
        let host = headers.get(header::HOST).and_then(|it| it.to_str().ok());
        let target = request.uri().authority().map(Authority::as_str);
        let is_elsewhere = target.is_some_and(|target| !is_among(target, &self.hosts));
        let host = host.or(target).filter(|_| !is_elsewhere);
        let Some(host) = host.filter(|host| is_among(host, &self.hosts)) else {
            let message =
                "the server doesn't answer under this host name; `--host NAME` allows one";
            return Err(Refusal::new(StatusCode::FORBIDDEN, "bad_host", message));
        };
        let message = "pages of this origin may not call the server; `--origin URL` allows one";
        let Some(origin) = headers.get(header::ORIGIN) else {
            // A browser sends no `Origin` for what a page merely embeds, such as a picture.
            let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
            let is_foreign = matches!(site, Some(b"cross-site" | b"same-site"));
            return if is_foreign && !is_navigation(headers) {
                Err(Refusal::new(StatusCode::FORBIDDEN, "bad_origin", message))
            } else {
                Ok(())
            };
        };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        // The server's own pages may call it: their host was checked above.
        let is_own = origin == format!("http://{}", host.to_ascii_lowercase());
        if is_own || self.origins.contains(&origin) {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::FORBIDDEN, "bad_origin", message))
    }

    /// Finds the caller by its token.
    ///
    /// A caller on the same machine, of the server's own user, needs none where no token was ever made. Revoking the last
    /// token doesn't let everybody in.
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        place: Option<Arc<Place>>,
        unread: keys::Unread,
    ) -> Result<(Caller, Owner), Refusal> {
        let unreadable = |reason: String| {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "tokens_unreadable", reason)
        };
        let unauthorized =
            |message: String| Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
        let Some(text) = credential(headers) else {
            let is_own = || place.is_none_or(|place| place.is_of_own_user());
            let is_open = self.is_loopback
                && is_own()
                && self
                    .keys
                    .allow_anonymous(unread)
                    .await
                    .map_err(unreadable)?;
            return if is_open {
                Ok((self.caller.clone(), Owner(None)))
            } else {
                let message = "a token is needed: `Authorization: Bearer …`";
                Err(unauthorized(message.to_owned()))
            };
        };
        let token = match text {
            Some(text) => self.keys.find(text, unread).await,
            None => Err(Unknown::Invalid(InvalidToken::Unknown)),
        };
        let token = token.map_err(|unknown| match unknown {
            Unknown::Unreadable(reason) => unreadable(reason),
            Unknown::Invalid(invalid) => unauthorized(invalid.to_string()),
        })?;
        let caller = Caller {
            actor: token.actor(),
            run: token.run.clone(),
            project: self.caller.project.clone(),
            credential: Credential::of_token(&token),
            attempt: None,
        };
        Ok((caller, Owner(Some(token.hash))))
    }

    /// Hands a request to `/mcp`, so that it reaches no session but its caller's.
    async fn isolate(&self, owner: Owner, mut request: Request, next: Next) -> Response {
        let session = session_id(request.headers());
        let is_end = request.method() == Method::DELETE;
        let is_foreign = match &session {
            Some(session) => !self.sessions.is_owned(session, owner).await,
            None => false,
        };
        if is_foreign {
            request.headers_mut().insert(SESSION, NO_SESSION);
        }
        let response = run_readable(request, next).await;
        if is_end && response.status().is_success() {
            return match session {
                // rmcp reports success for any session.
                Some(_) if is_foreign => (StatusCode::NOT_FOUND, UNKNOWN_SESSION).into_response(),
                Some(session) => {
                    self.sessions.forget(&session);
                    response
                }
                None => response,
            };
        }
        if let Some(session) = session_id(response.headers()) {
            self.sessions.remember(session, owner).await;
        }
        response
    }

    /// Takes a part of the caller's share for a request.
    fn open(&self, owner: Owner, request: &Request) -> Result<(Share, Permit), Refusal> {
        let share = self.limits.share(owner.0);
        let too_many =
            |code, message: &str| Refusal::new(StatusCode::TOO_MANY_REQUESTS, code, message);
        if let Some(place) = request.extensions().get::<Arc<Place>>()
            && !place.acquaint(&share)
        {
            let message = "you have as many of the connections as one caller may: close some, or send over those that are open";
            return Err(too_many("too_many_connections", message));
        }
        let Some(open) = share.call() else {
            let message = "too many of your calls are open: wait until some end";
            return Err(too_many("too_many_calls", message));
        };
        Ok((share, open))
    }
}

/// Passes a request through the middleware, under an id that its answer names, too.
pub(super) async fn pass(
    State(middleware): State<Arc<Middleware>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId::of_request(request.headers());
    request.extensions_mut().insert(id.clone());
    let peer = request.extensions().get::<Arc<Place>>();
    let peer = peer.map(|place| place.peer);
    // The query stays out of logs: arguments are the caller's.
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let began = Instant::now();
    let mut response = admit(middleware, request, next).await;
    let status = response.status();
    let took_ms = began.elapsed().as_millis();
    if status.is_server_error() {
        let cause = response.extensions().get::<Cause>();
        let cause = cause.map(|Cause(cause)| cause.as_str());
        let status = status.as_u16();
        tracing::error!(request = %id, %method, path, status, cause, "request failed");
    } else if let Some(Refused(code)) = response.extensions().get::<Refused>() {
        let status = status.as_u16();
        let peer = peer.map(tracing::field::display);
        tracing::warn!(request = %id, %method, path, status, code, peer, "request refused");
    } else {
        let status = status.as_u16();
        tracing::debug!(request = %id, %method, path, status, took_ms, "request");
    }
    let headers = response.headers_mut();
    if let Some(value) = id.header() {
        headers.insert(request_id::HEADER, value);
    }
    // What is told to one page is no picture, script or type of another's.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFFING);
    headers.insert(EMBEDDED_BY, SAME_ORIGIN);
    // What a token has opened stays in no cache.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Lets a request pass if its caller has a right to be here.
async fn admit(middleware: Arc<Middleware>, mut request: Request, next: Next) -> Response {
    // Whoever watches over a server needs its counters most when its store is gone.
    let unread = match request.uri().path() {
        "/metrics" => keys::Unread::Last,
        _ => keys::Unread::None,
    };
    let place = request.extensions().get::<Arc<Place>>().cloned();
    let known = match middleware.check_source(&request) {
        Ok(()) => {
            let headers = request.headers();
            middleware.authenticate(headers, place, unread).await
        }
        Err(refusal) => Err(refusal),
    };
    let admitted = known.and_then(|(caller, owner)| {
        let opened = middleware.open(owner, &request)?;
        Ok((caller, owner, opened))
    });
    let (caller, owner, (share, open)) = match admitted {
        Ok(admitted) => admitted,
        Err(refusal) => {
            let code = refusal.problem.code.clone();
            middleware.metrics.count_refusal(&code);
            let mut response = refusal.into_response();
            response.extensions_mut().insert(Refused(code));
            return response;
        }
    };
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(share.clone());
    let standing = Standing {
        middleware: Arc::clone(&middleware),
        owner,
        _open: Arc::new(open),
    };
    request.extensions_mut().insert(standing.clone());
    let is_mcp = is_mcp(request.uri().path());
    let (request, large) = match middleware.bodies.read(&share, request).await {
        Ok(read) => read,
        Err((status, unread)) if is_mcp => return refuse_message(status, unread),
        Err((status, unread)) => {
            let code = match status {
                StatusCode::BAD_REQUEST => "invalid_arguments",
                _ => "too_large",
            };
            return refuse(status, Problem::new(code, unread.error.message));
        }
    };
    let response = if is_mcp {
        middleware.isolate(owner, request, next).await
    } else {
        next.run(request).await
    };
    if !is_stream(&response) {
        return response;
    }
    response.map(|body| {
        Body::new(Revocable {
            body,
            _large: large.map(|it| it.own),
            revoked: Box::pin(async move { standing.revoked().await }),
        })
    })
}

/// Passes a request for a page of the dashboard.
///
/// Anybody may read it who reaches the server by one of its names.
pub(super) async fn pass_page(
    State(middleware): State<Arc<Middleware>>,
    request: Request,
    next: Next,
) -> Response {
    match middleware.check_source(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            middleware.metrics.count_refusal(&refusal.problem.code);
            refusal.into_response()
        }
    }
}

/// The right of a caller to an answer that goes on, as long as its token is valid.
///
/// It counts as an open call.
#[derive(Clone)]
pub(super) struct Standing {
    middleware: Arc<Middleware>,
    owner: Owner,
    _open: Arc<Permit>,
}

impl Standing {
    /// Waits until the caller's token is revoked; for ever if it has none.
    pub(super) async fn revoked(&self) {
        match &self.owner {
            Owner(Some(token)) => {
                while self.middleware.keys.is_valid(token).await {
                    tokio::time::sleep(TOKEN_INTERVAL).await;
                }
            }
            Owner(None) => std::future::pending().await,
        }
    }
}

/// Reports whether a person follows a link.
///
/// The answer is a page of its own then, which the other one doesn't see.
fn is_navigation(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// Returns the credential of a request; an empty one is none that anybody has.
fn credential(headers: &HeaderMap) -> Option<Option<&str>> {
    if let Some(given) = headers.get(header::AUTHORIZATION) {
        let parts = given.to_str().ok().and_then(|it| it.split_once(' '));
        let bearer = parts.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        return Some(bearer.map(|(_, text)| text));
    }
    let protocols = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
    let mut protocols = protocols.split(',').map(str::trim);
    let bearer = protocols.find_map(|it| it.strip_prefix(BEARER_PROTOCOL))?;
    headers
        .contains_key(header::UPGRADE)
        .then_some(Some(bearer))
}

/// Hands a request to `/mcp` on, and answers a body that can't be read.
///
/// The answer is JSON-RPC's, where rmcp's is plain text.
async fn run_readable(request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let media = parts.headers.get(header::CONTENT_TYPE);
    let is_json = media.is_some_and(|it| it.as_bytes().starts_with(b"application/json"));
    if parts.method != Method::POST || !is_json {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let Ok(bytes) = to_bytes(body, MAX_MESSAGE).await else {
        return refuse_message(StatusCode::PAYLOAD_TOO_LARGE, wire::too_long(b""));
    };
    let request = Request::from_parts(parts, Body::from(bytes.clone()));
    let response = next.run(request).await;
    // Only a body that rmcp couldn't read is parsed again.
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
    refuse_message(StatusCode::BAD_REQUEST, unread)
}

fn refuse_message(status: StatusCode, unread: Unread) -> Response {
    let error = JsonRpcError::new(unread.id, unread.error);
    (status, Json(error)).into_response()
}

/// A refusal of a request, in the envelope of all answers.
pub(super) struct Refusal {
    status: StatusCode,
    problem: Problem,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let problem = Problem::new(code, message);
        Self { status, problem }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = refuse(self.status, self.problem);
        // Whoever has no right to be here keeps no connection.
        let headers = response.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

/// The cause of an answer that says that something failed, for the log.
#[derive(Clone)]
pub(super) struct Cause(pub(super) String);

/// The code of a request that the middleware refused, for the log.
#[derive(Clone)]
struct Refused(String);

/// Returns a problem in the envelope of all answers.
pub(super) fn refuse(status: StatusCode, problem: Problem) -> Response {
    let cause = Cause(problem.message.clone());
    let (answer, _) = envelope::wrap(Err(problem));
    let mut response = (status, Json(answer)).into_response();
    response.extensions_mut().insert(cause);
    response
}

/// Returns the host names under which the server answers.
pub(super) fn allowed_hosts(options: &HttpOptions) -> Vec<String> {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let named = options.hosts.iter().map(|it| it.to_ascii_lowercase());
    loopback.into_iter().chain(named).collect()
}

/// Checks whether an authority is one of the names: with any port, or with the port that the name has.
fn is_among(authority: &str, names: &[String]) -> bool {
    let authority = authority.to_ascii_lowercase();
    let Ok(parsed) = authority.parse::<Uri>() else {
        return false;
    };
    let name = parsed.host().unwrap_or_default();
    let name = name.trim_start_matches('[').trim_end_matches(']');
    names.iter().any(|it| it == name || *it == authority)
}

fn is_mcp(path: &str) -> bool {
    let rest = path.strip_prefix("/mcp");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_stream(response: &Response) -> bool {
    let media = response.headers().get(header::CONTENT_TYPE);
    media.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"))
}

/// Reads the session that headers name, as rmcp does.
fn session_id(headers: &HeaderMap) -> Option<SessionId> {
    let text = headers.get(SESSION)?.to_str().ok()?;
    Some(text.to_owned().into())
}

/// A stream that ends when its caller's token is revoked.
struct Revocable {
    body: Body,
    /// The answer may begin before the tool does.
    _large: Option<Permit>,
    revoked: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for Revocable {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        if self.revoked.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_with_any_port_and_nothing_else_does() {
        let names = ["localhost", "::1", "runs.example.org:8443"].map(str::to_owned);
        for good in [
            "localhost",
            "LOCALHOST:7420",
            "[::1]:80",
            "runs.example.org:8443",
        ] {
            assert!(is_among(good, &names), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "runs.example.org",
            "local host",
        ] {
            assert!(!is_among(bad, &names), "{bad}");
        }
    }
}
