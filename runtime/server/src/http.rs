//! HTTP: MCP at `/mcp` in both eras, an API of the same objects at `/api`, and what operators look at.
//!
//! ```text
//! connection ─ TCP_NODELAY ─ count ─→ door: Host, Origin, token → Caller ─→ /mcp      own sessions, rmcp over any handler
//!                                                                        ├→ /api      Desk::call, status by code
//!                                                                        ├→ /metrics
//!                                                                        └→ /healthz  (no token)
//! ```
//!
//! What to rely on: nothing but `/healthz` is reached without passing the door; a token that was revoked is refused by the
//! next request and ends the streams that it has open; and a session is there for the caller alone who began it.

mod api;
mod auth;
mod body;
mod count;
mod sessions;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::dispatch::Dispatcher;
use crate::mcp::{Server, wire};
use crate::metrics::{self, Metrics};
use crate::problem::Problem;

pub use auth::Keys;

/// Largest body of a request. Unit: bytes.
const BODY: usize = wire::MOST;

/// How long a session of the older era may be silent. Why: a person goes to lunch; a session costs a few kilobytes.
const SILENCE: Duration = Duration::from_secs(8 * 60 * 60);

/// How long an answer is kept for a client whose connection broke before it came. Why: a client tries again within seconds,
/// and a busy server gives thousands of answers in each.
const KEPT: Duration = Duration::from_secs(10);

/// How long open requests get to finish when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// How a server is reached.
#[derive(Clone)]
pub struct HttpOptions {
    /// Where it listens. Port 0 picks one.
    pub address: SocketAddr,
    /// Names under which it is asked for, beside those of the loopback.
    pub hosts: Vec<String>,
    /// Pages that may call it; else none that a browser shows.
    pub origins: Vec<String>,
    /// Who may call.
    pub keys: Arc<dyn Keys>,
    /// Who calls without a token from the same machine where there are no tokens; the others are for the same project.
    pub caller: Caller,
}

/// A server that listens.
pub struct Serving {
    /// Where.
    pub address: SocketAddr,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Serving {
    /// Waits until the server ends.
    ///
    /// # Errors
    ///
    /// It failed.
    pub async fn ended(self) -> std::io::Result<()> {
        self.task.await.map_err(std::io::Error::other)?
    }

    /// Ends it when this is called: no new requests; streams end, and what is being answered gets a few seconds.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let stop = self.stop.clone();
        move || stop.cancel()
    }
}

/// Listens, and serves the desk until it is stopped.
///
/// # Errors
///
/// The address can't be had; or it isn't the loopback and there are no tokens.
pub async fn serve_http(
    dispatcher: Arc<Dispatcher>,
    options: HttpOptions,
) -> std::io::Result<Serving> {
    let stop = CancellationToken::new();
    let (own, caller) = (Arc::clone(&dispatcher), options.caller.clone());
    let make = move || Server::new(Arc::clone(&own), caller.clone());
    let counted = Arc::clone(&dispatcher);
    let own = Router::new()
        .nest("/api", api::router(Arc::clone(&dispatcher), stop.clone()))
        .route("/api/", api::index())
        .route("/metrics", get(move || told(Arc::clone(&counted))))
        .fallback(|| async {
            let message = "there is nothing here: the API is at `/api`, and MCP at `/mcp`";
            let problem = Problem::new("unknown_path", message);
            auth::refused(StatusCode::NOT_FOUND, problem)
        });
    let router = mounted(make, own, &options, dispatcher.clone(), &stop);
    listen(router, dispatcher, &options, stop).await
}

/// Listens, and serves any handler on the same router, with the same checks, until it is stopped.
///
/// # Errors
///
/// As for [`serve_http`].
pub async fn serve_handler<H: ServerHandler>(
    make: impl Fn() -> H + Send + Sync + 'static,
    options: HttpOptions,
) -> std::io::Result<Serving> {
    let stop = CancellationToken::new();
    let count = Arc::new(Metrics::default());
    let router = mounted(make, Router::new(), &options, count.clone(), &stop);
    listen(router, count, &options, stop).await
}

/// The handler at its place, with what stands beside it, behind the door.
fn mounted<H: ServerHandler>(
    make: impl Fn() -> H + Send + Sync + 'static,
    beside: Router,
    options: &HttpOptions,
    count: Arc<dyn count::Count>,
    stop: &CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(auth::hosts(options))
        // The door knows which pages are its own, which a list that is made beforehand can't.
        .disable_allowed_origins()
        .with_max_request_body_bytes(BODY)
        .with_cancellation_token(stop.clone());
    let mut sessions = LocalSessionManager::default();
    let mut patience = SessionConfig::default();
    patience.keep_alive = Some(SILENCE);
    patience.completed_cache_ttl = KEPT;
    sessions.session_config = patience;
    let sessions = Arc::new(sessions);
    let owners = sessions::Owners::new(Arc::clone(&sessions));
    let service = StreamableHttpService::new(move || Ok(make()), sessions, config);
    let mcp = Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn(body::check))
        .layer(middleware::from_fn_with_state(owners, sessions::isolate));
    let auth = auth::Auth::new(options, count);
    let behind = beside
        .merge(mcp)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(
            auth.clone(),
            auth::authenticate,
        ))
        .layer(middleware::from_fn_with_state(auth, auth::check_source));
    behind.route("/healthz", get(|| async { "ok\n" }))
}

/// What is counted. Counting runs may take its time.
async fn told(dispatcher: Arc<Dispatcher>) -> Response {
    let count = move || {
        let count = || dispatcher.runs().store().status_counts().ok();
        dispatcher.metrics().text(count)
    };
    match tokio::task::spawn_blocking(count).await {
        Ok(text) => ([(header::CONTENT_TYPE, metrics::MEDIA)], text).into_response(),
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            auth::refused(StatusCode::INTERNAL_SERVER_ERROR, problem)
        }
    }
}

async fn listen(
    router: Router,
    count: Arc<dyn count::Count>,
    options: &HttpOptions,
    stop: CancellationToken,
) -> std::io::Result<Serving> {
    let is_loopback = options.address.ip().is_loopback();
    let keys = options.keys.tokens().map_err(std::io::Error::other)?;
    if !is_loopback && keys.iter().next().is_none() {
        return Err(std::io::Error::other(
            "an address that others can reach needs tokens: `statemark token create NAME --role agent` makes one",
        ));
    }
    let asked = options.address;
    let listener = TcpListener::bind(asked).await.map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program has the port; take another, or 0 for any that is free".to_owned()
            }
            std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 are the system's; take another".to_owned()
            }
            _ => error.to_string(),
        };
        std::io::Error::new(error.kind(), format!("can't listen at {asked}: {why}"))
    })?;
    let address = listener.local_addr()?;
    let listener = count::Counted::new(listener, count);
    let (asked_to_end, ended) = (stop.clone(), stop.clone());
    let task = tokio::spawn(async move {
        let serving = axum::serve(listener, router);
        let serving = serving.with_graceful_shutdown(asked_to_end.cancelled_owned());
        let late = async {
            ended.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            done = serving.into_future() => done,
            () = late => Ok(()),
        }
    });
    Ok(Serving {
        address,
        stop,
        task,
    })
}
