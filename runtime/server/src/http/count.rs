//! Connections: counted while they are open, and told not to wait with small answers.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::desk::Desk;
use crate::metrics::Metrics;

/// Who counts.
pub(super) trait Count: Send + Sync + 'static {
    fn metrics(&self) -> &Metrics;
}

impl Count for Desk {
    fn metrics(&self) -> &Metrics {
        Self::metrics(self)
    }
}

impl Count for Metrics {
    fn metrics(&self) -> &Metrics {
        self
    }
}

/// A listener whose connections are counted.
pub(super) struct Counted {
    listener: TcpListener,
    count: Arc<dyn Count>,
}

impl Counted {
    pub(super) fn new(listener: TcpListener, count: Arc<dyn Count>) -> Self {
        Self { listener, count }
    }
}

impl Listener for Counted {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Without it a small answer waits 40 ms for an acknowledgment of the one before. Where it can't be had, it waits.
        drop(stream.set_nodelay(true));
        self.count.metrics().opened();
        let count = Arc::clone(&self.count);
        (Connection { stream, count }, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// An open connection.
pub(super) struct Connection {
    stream: TcpStream,
    count: Arc<dyn Count>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.count.metrics().closed();
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
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
