//! Connections, counted while they are open, that send small answers at once.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::metrics::Metrics;

/// A listener whose connections are counted.
pub(super) struct CountedListener {
    listener: TcpListener,
    metrics: Arc<Metrics>,
}

impl CountedListener {
    pub(super) fn new(listener: TcpListener, metrics: Arc<Metrics>) -> Self {
        Self { listener, metrics }
    }
}

impl Listener for CountedListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Otherwise a small answer waits 40 ms for an acknowledgment of the one before. A failure only means that it waits.
        drop(stream.set_nodelay(true));
        self.metrics.count_opened();
        let metrics = Some(Arc::clone(&self.metrics));
        (Connection { stream, metrics }, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// An open connection.
///
/// It counts until the server shuts it down: a client that has read the end of an answer finds it counted no more.
pub(super) struct Connection {
    stream: TcpStream,
    /// The counters that include it, until it is closed.
    metrics: Option<Arc<Metrics>>,
}

impl Connection {
    fn count_closed(&mut self) {
        if let Some(metrics) = self.metrics.take() {
            metrics.count_closed();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.count_closed();
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
        self.count_closed();
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
