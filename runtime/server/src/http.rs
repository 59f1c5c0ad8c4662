//! HTTP: MCP at `/mcp`, an API of the same objects at `/api`, metrics and health.
//!
//! MCP is served in both eras.
//!
//! ```text
//! connection ─→ middleware: Host, Origin, token → Caller, Share, body ─→ /mcp      own session, any handler of rmcp
//!                                                                     ├→ /api      Dispatcher::call_own, status by code
//!                                                                     └→ /metrics
//!            ├─→ Host, Origin ─→ /, /dashboard/…  (no token: the pages hold nothing; what they show comes from /api)
//!            └─→ /healthz, /readyz  (no token)
//! ```
//!
//! What to rely on: `middleware.rs` checks every request but those to `/healthz` (the process answers) and `/readyz` (so
//! does its store; otherwise 503 with the cause).

mod api;
mod body;
mod connection;
mod keys;
mod middleware;
mod pages;
mod peer;
mod sessions;
mod stream;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use statemark_tools::{Caller, Dispatcher, Problem};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;
use crate::limits::Limits;
use crate::mcp::Server;
use crate::mcp::wire::MAX_MESSAGE;
use crate::metrics::{self, Metrics};

use connection::{Connections, most_connections};
use keys::Keys;
use middleware::{Middleware, refuse};
use sessions::Sessions;

/// Longest silence of a session of the older era.
///
/// Why: a person goes to lunch; a session costs a few kilobytes.
const MAX_SILENCE: Duration = Duration::from_secs(8 * 60 * 60);

/// Longest time for which an answer is kept after its connection broke.
///
/// Why: a client tries again within seconds, and a busy server gives thousands of answers in each.
const ANSWER_KEPT: Duration = Duration::from_secs(10);

/// Longest time that open requests get to finish when the server ends.
const GRACE: Duration = Duration::from_secs(5);

/// The options of a server over HTTP.
#[derive(Clone)]
pub struct HttpOptions {
    /// The address to listen on. Port 0 picks one.
    pub address: SocketAddr,
    /// Host names under which the server answers, besides those of the loopback.
    pub hosts: Vec<String>,
    /// Origins whose pages may call the server.
    ///
    /// Other pages in a browser may not, except the server's own.
    pub origins: Vec<String>,
    /// The caller without a token, where there are no tokens.
    ///
    /// Callers with a token share its project.
    pub caller: Caller,
}

/// A server that listens.
pub struct Serving {
    /// The address that it listens on.
    pub address: SocketAddr,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Serving {
    /// Waits until the server ends.
    ///
    /// # Errors
    ///
    /// The server failed.
    pub async fn ended(self) -> std::io::Result<()> {
        self.task.await.map_err(std::io::Error::other)?
    }

    /// Returns a function that ends the server: streams end, and open requests get a few seconds.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let stop = self.stop.clone();
        move || stop.cancel()
    }
}

/// Listens, and serves a dispatcher until it is stopped.
///
/// # Errors
///
/// The address isn't available; or it isn't the loopback and there are no tokens.
pub async fn serve_http(
    dispatcher: Arc<Dispatcher>,
    options: HttpOptions,
) -> std::io::Result<Serving> {
    let stop = CancellationToken::new();
    let hub = Hub::new(dispatcher, limits());
    let keys = Keys::of_store(Arc::clone(&hub.dispatcher), Arc::clone(&hub.health));
    let (served, caller) = (Arc::clone(&hub), options.caller.clone());
    let make = move || Server::over(Arc::clone(&served), caller.clone());
    let counted = Arc::clone(&hub);
    let routes = Router::new()
        .nest(
            "/api",
            api::router(get(stream::stream), Arc::clone(&hub), stop.clone()),
        )
        .route("/api/", api::index())
        .route(
            "/metrics",
            get(move |caller| write_metrics(Arc::clone(&counted), caller)),
        )
        .fallback(|| async {
            let message = "there is nothing here: the dashboard is at `/`, the API at `/api`, and MCP at `/mcp`";
            let problem = Problem::new("unknown_path", message);
            refuse(StatusCode::NOT_FOUND, problem)
        });
    let shared = (Arc::clone(&hub.metrics), Arc::clone(&hub.limits));
    let open = Router::new().route("/readyz", get(move || is_ready(Arc::clone(&hub))));
    let routes = Routes {
        routes,
        pages: pages::router(),
        open,
    };
    listen(make, routes, keys, shared, &options, stop).await
}

/// Makes limits where no caller takes more than three quarters of the connections.
fn limits() -> Limits {
    Limits::new(most_connections() * 3 / 4)
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
    let shared = (Arc::default(), Arc::new(limits()));
    let stop = CancellationToken::new();
    let routes = Routes::default();
    listen(make, routes, Keys::Nobody, shared, &options, stop).await
}

/// The routes of a server besides MCP.
#[derive(Default)]
struct Routes {
    /// The routes after the whole middleware.
    routes: Router,
    /// The pages, for which only host and origin are checked.
    pages: Router,
    /// The routes that are open to all.
    open: Router,
}

/// Assembles the router.
fn router<H: ServerHandler>(
    make: impl Fn() -> H + Send + Sync + 'static,
    Routes {
        routes,
        pages,
        open,
    }: Routes,
    keys: Keys,
    (metrics, limits): &(Arc<Metrics>, Arc<Limits>),
    options: &HttpOptions,
    stop: &CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(middleware::allowed_hosts(options))
        // The middleware knows the server's own pages, which no list made beforehand can name.
        .disable_allowed_origins()
        .with_max_request_body_bytes(MAX_MESSAGE)
        .with_cancellation_token(stop.clone());
    let mut manager = LocalSessionManager::default();
    let mut patience = SessionConfig::default();
    patience.keep_alive = Some(MAX_SILENCE);
    patience.completed_cache_ttl = ANSWER_KEPT;
    manager.session_config = patience;
    let manager = Arc::new(manager);
    let sessions = Sessions::new(Arc::clone(&manager));
    let service = StreamableHttpService::new(move || Ok(make()), manager, config);
    let middleware = Arc::new(Middleware::new(
        options,
        keys,
        (Arc::clone(metrics), Arc::clone(limits)),
        sessions,
    ));
    routes
        .nest_service("/mcp", service)
        .layer(DefaultBodyLimit::max(MAX_MESSAGE))
        .layer(from_fn_with_state(
            Arc::clone(&middleware),
            middleware::pass,
        ))
        .merge(pages.layer(from_fn_with_state(middleware, middleware::pass_page)))
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(open)
}

/// Answers whether the store is reachable, for whoever sends requests here only if it is.
async fn is_ready(hub: Arc<Hub>) -> Response {
    match hub.health.check(&hub.dispatcher).await {
        Ok(()) => "ready\n".into_response(),
        Err(cause) => {
            let text = format!("not ready: {cause}\n");
            (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
        }
    }
}

/// Writes the metrics. Counting runs may take its time.
///
/// They tell of all runs and callers, which a token for one run doesn't see.
async fn write_metrics(hub: Arc<Hub>, Extension(caller): Extension<Caller>) -> Response {
    if caller.run.is_some() {
        let message = "the metrics are of all runs, and this token is for one";
        return refuse(StatusCode::FORBIDDEN, Problem::new("forbidden", message));
    }
    let count = move || {
        let count = || match hub.dispatcher.runs().store().status_counts() {
            Ok(counts) => {
                hub.health.report_reached();
                Some(counts)
            }
            Err(error) => {
                hub.health.report_lost(&error.to_string());
                None
            }
        };
        hub.metrics.text(count, || !hub.health.is_lost())
    };
    match tokio::task::spawn_blocking(count).await {
        Ok(text) => ([(header::CONTENT_TYPE, metrics::MEDIA)], text).into_response(),
        Err(error) => {
            let problem = Problem::new("failed", error.to_string());
            refuse(StatusCode::INTERNAL_SERVER_ERROR, problem)
        }
    }
}

async fn listen<H: ServerHandler>(
    make: impl Fn() -> H + Send + Sync + 'static,
    routes: Routes,
    keys: Keys,
    shared: (Arc<Metrics>, Arc<Limits>),
    options: &HttpOptions,
    stop: CancellationToken,
) -> std::io::Result<Serving> {
    let is_loopback = options.address.ip().is_loopback();
    let is_open = keys.allow_anonymous(keys::Unread::None).await;
    if !is_loopback && is_open.map_err(std::io::Error::other)? {
        return Err(std::io::Error::other(
            "an address that others can reach needs tokens: `statemark token create NAME --role person` makes the first",
        ));
    }
    let listener = bind(options.address).await?;
    let address = listener.local_addr()?;
    let router = router(make, routes, keys, &shared, options, &stop);
    let connections = Connections::new(most_connections(), shared.0);
    let (stopped, ended) = (stop.clone(), stop.clone());
    let task = tokio::spawn(async move {
        let serving = connections.serve(listener, router, stopped);
        let grace_over = async {
            ended.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            () = serving => {}
            () = grace_over => {}
        }
        Ok(())
    });
    Ok(Serving {
        address,
        stop,
        task,
    })
}

async fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let reason = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program has the port; take another, or 0 for any that is free".to_owned()
            }
            std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 are the system's; take another".to_owned()
            }
            _ => error.to_string(),
        };
        std::io::Error::new(error.kind(), format!("can't listen at {address}: {reason}"))
    })
}
