//! Connections: how many there are, whose they are, and how long one may be silent.
//!
//! ```text
//! accepted ─→ stranger ─→ asking ──┬─→ acquaintance: takes a part of a caller's share
//!                ↑                 │
//!                └── answered ─────┘
//! ```
//!
//! A stranger has asked for nothing, or for nothing that needs a credential. Where all connections are taken, one more ends
//! the stranger that has been one for longest, so that whoever opens many and says nothing stops nobody. A caller gets at
//! most three quarters. Small answers are sent at once.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::peer;
use crate::limits::{Permit, Share};
use crate::metrics::Metrics;

/// Longest time in which a request's head arrives, and longest silence between two requests.
///
/// Why: a head is one packet; clients keep idle connections for some seconds.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Files that the process opens besides connections: the store's, those of checks, of the terminal.
const OTHER_FILES: u64 = 64;

/// Most connections, whatever the system allows.
///
/// Why: each takes some ten kilobytes, and one store is busy with a fraction of them.
const MAX_CONNECTIONS: u64 = 4096;

/// Fewest connections. Why: below, nothing works, and the system's own limit says so.
const MIN_CONNECTIONS: u64 = 16;

/// The wait after an error that no single connection causes, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the most connections that the system's limit of open files leaves room for.
pub(super) fn most_connections() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = files.saturating_sub(OTHER_FILES);
    let most = most.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// The open connections of a server.
pub(super) struct Connections {
    most: usize,
    metrics: Arc<Metrics>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: usize,
    /// The strangers, oldest first.
    strangers: VecDeque<Arc<Place>>,
}

/// The place of a connection among the others.
pub(super) struct Place {
    connections: Arc<Connections>,
    /// The address that it comes from: of the caller, or of a proxy.
    pub(super) peer: SocketAddr,
    /// The address that it leads to; none if the system doesn't say.
    local: Option<SocketAddr>,
    /// True if it is one of this process' own user, once somebody has asked.
    is_own: OnceLock<bool>,
    /// Ends it, to make room.
    evicted: CancellationToken,
    /// The part of a caller's share that it takes.
    acquainted: OnceLock<Permit>,
}

impl Connections {
    pub(super) fn new(most: usize, metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            most,
            metrics,
            open: Mutex::default(),
        })
    }

    /// Serves a router over the connections that come, until it is stopped and the open ones have ended.
    pub(super) async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        router: Router,
        stop: CancellationToken,
    ) {
        let open = TaskTracker::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
        let service = TowerToHyperService::new(router);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let Ok((stream, peer)) = accepted else {
                // The client has left already, or the system has no room: the next one may fare better.
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let Some(place) = self.admit(peer, stream.local_addr().ok()) else {
                tracing::warn!(%peer, code = "too_many_connections", "connection refused");
                continue;
            };
            // Otherwise a small answer waits 40 ms for an acknowledgment of the one before. A failure only means that it waits.
            drop(stream.set_nodelay(true));
            let evicted = place.evicted.clone();
            let (service, of_requests) = (service.clone(), Arc::clone(&place));
            let service = service_fn(move |mut request: hyper::Request<Incoming>| {
                let place = Arc::clone(&of_requests);
                place.begin_asking();
                request.extensions_mut().insert(Arc::clone(&place));
                let answer = service.call(request);
                async move {
                    let answer: Result<Response<Body>, Infallible> = answer.await;
                    place.end_asking();
                    answer
                }
            });
            let connection = Connection {
                stream,
                place: Some(place),
            };
            let connection = http.serve_connection(TokioIo::new(connection), service);
            // A WebSocket takes the connection over, and its place.
            let connection = connection.with_upgrades();
            let stop = stop.clone();
            open.spawn(async move {
                tokio::pin!(connection);
                tokio::select! {
                    // A client that breaks off is its own business.
                    _ = connection.as_mut() => return,
                    () = evicted.cancelled() => return,
                    () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
                }
                drop(connection.await);
            });
        }
        open.close();
        open.wait().await;
    }

    /// Makes a place for one more connection; `None` if all have callers that have a right to theirs.
    fn admit(self: &Arc<Self>, peer: SocketAddr, local: Option<SocketAddr>) -> Option<Arc<Place>> {
        let mut open = self.open();
        if open.count >= self.most {
            match open.strangers.pop_front() {
                Some(oldest) => oldest.evicted.cancel(),
                None => {
                    self.metrics.count_refusal("too_many_connections");
                    return None;
                }
            }
        }
        let place = Arc::new(Place {
            connections: Arc::clone(self),
            peer,
            local,
            is_own: OnceLock::new(),
            evicted: CancellationToken::new(),
            acquainted: OnceLock::new(),
        });
        open.count += 1;
        open.strangers.push_back(Arc::clone(&place));
        self.metrics.count_opened();
        Some(place)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget_stranger(&self, place: &Place) {
        let mut open = self.open();
        let mut strangers = open.strangers.iter();
        let at = strangers.position(|it| std::ptr::eq(&**it, place));
        if let Some(at) = at {
            open.strangers.remove(at);
        }
    }
}

impl Place {
    /// Reports whether it comes from this process' own user, as far as the system tells.
    pub(super) fn is_of_own_user(&self) -> bool {
        let ask = || {
            self.local
                .is_none_or(|local| peer::is_own_user(self.peer, local))
        };
        *self.is_own.get_or_init(ask)
    }

    /// Counts the connection as one of a caller's. Returns false if the caller has too many.
    pub(super) fn acquaint(&self, share: &Share) -> bool {
        if self.acquainted.get().is_some() {
            return true;
        }
        let Some(permit) = share.connect() else {
            return false;
        };
        // Another request of the same connection may have come first.
        drop(self.acquainted.set(permit));
        true
    }

    /// Takes it from the strangers while a request of it is answered.
    fn begin_asking(&self) {
        self.connections.forget_stranger(self);
    }

    /// Puts it among the strangers again, unless the request had a right to be here.
    fn end_asking(self: &Arc<Self>) {
        if self.acquainted.get().is_none() {
            self.connections
                .open()
                .strangers
                .push_back(Arc::clone(self));
        }
    }
}

/// An open connection.
///
/// It counts until the server shuts it down: a client that has read the end of an answer finds it counted no more.
struct Connection {
    stream: TcpStream,
    /// Its place among the others, until it is closed.
    place: Option<Arc<Place>>,
}

impl Connection {
    fn leave(&mut self) {
        if let Some(place) = self.place.take() {
            let connections = &place.connections;
            connections.forget_stranger(&place);
            let mut open = connections.open();
            open.count = open.count.saturating_sub(1);
            connections.metrics.count_closed();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.leave();
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        // Before the client can read the end.
        self.leave();
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
