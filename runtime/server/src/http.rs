//! Streamable HTTP: both protocol eras on one address, behind tokens.

use std::net::SocketAddr;
use std::sync::{Arc, RwLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use statemark_store::Tokens;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::desk::Desk;
use crate::mcp::Server;

/// Largest body of a request. Unit: bytes. Why: an artifact of 16 MiB, escaped as JSON.
const BODY: usize = 32 << 20;

/// How a server is reached.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where it listens. Port 0 picks one.
    pub address: SocketAddr,
    /// Names under which it is asked for, beside those of the loopback.
    pub hosts: Vec<String>,
    /// Pages that may call it; else none that a browser shows.
    pub origins: Vec<String>,
    /// Who may call. Empty: everybody on the loopback, as an agent.
    pub tokens: Arc<RwLock<Tokens>>,
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

    /// Ends it: no new requests, open ones are cancelled.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

/// Who is let in.
#[derive(Clone)]
struct Door {
    tokens: Arc<RwLock<Tokens>>,
    is_loopback: bool,
}

/// Listens, and serves until it is stopped.
///
/// # Errors
///
/// The address can't be had; or it isn't the loopback and there are no tokens.
pub async fn serve_http(desk: Arc<Desk>, options: HttpOptions) -> std::io::Result<Serving> {
    let is_loopback = options.address.ip().is_loopback();
    let is_open = options
        .tokens
        .read()
        .is_ok_and(|tokens| tokens.iter().next().is_none());
    if !is_loopback && is_open {
        return Err(std::io::Error::other(
            "an address that others can reach needs tokens: `statemark token create NAME --role agent` makes one",
        ));
    }
    let stop = CancellationToken::new();
    let mut hosts = vec![
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
        "::1".to_owned(),
    ];
    hosts.extend(options.hosts);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(options.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(BODY)
        .with_cancellation_token(stop.clone());
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(Server::new(Arc::clone(&desk), Caller::agent())),
        Arc::default(),
        config,
    );
    let door = Door {
        tokens: options.tokens,
        is_loopback,
    };
    let router = Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(door, let_in))
        .route("/healthz", get(|| async { "ok\n" }));
    let listener = TcpListener::bind(options.address).await?;
    let address = listener.local_addr()?;
    // Without it a small answer waits 40 ms for an acknowledgment of the one before.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let ended = stop.clone();
    let task = tokio::spawn(async move {
        axum::serve(listener, router)
            .with_graceful_shutdown(ended.cancelled_owned())
            .await
    });
    Ok(Serving {
        address,
        stop,
        task,
    })
}

/// Lets a request in as its token says. Without tokens, who is on the same machine is an agent.
async fn let_in(State(door): State<Door>, mut request: Request, next: Next) -> Response {
    let bearer = request.headers().get(header::AUTHORIZATION);
    let bearer = bearer.and_then(|it| it.to_str().ok());
    let bearer = bearer.and_then(|it| it.strip_prefix("Bearer "));
    let caller = {
        let Ok(tokens) = door.tokens.read() else {
            return refuse("the tokens can't be read");
        };
        match bearer {
            Some(text) => match tokens.find(text) {
                Some(token) => Caller {
                    actor: token.actor(),
                    run: token.run.clone(),
                    project: None,
                },
                None => {
                    return refuse(
                        "the token isn't good here: it was revoked, or is another project's",
                    );
                }
            },
            None if door.is_loopback && tokens.iter().next().is_none() => Caller::agent(),
            None => return refuse("a token is needed: `Authorization: Bearer …`"),
        }
    };
    request.extensions_mut().insert(caller);
    next.run(request).await
}

fn refuse(why: &'static str) -> Response {
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, format!("{why}\n")).into_response()
}
