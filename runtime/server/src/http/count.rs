//! Connections: counted while they are open, and told not to wait with small answers.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::dispatch::Dispatcher;
use crate::metrics::Metrics;

/// Who counts.
pub(super) trait Count: Send + Sync + 'static {
    fn metrics(&self) -> &Metrics;
}

impl Count for Dispatcher {
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
        self.count.metrics().count_opened();
        let count = Arc::clone(&self.count);
        let count = Some(count);
        (Connection { stream, count }, address)
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// An open connection. It counts until the server says that it is done with it: whoever has read the end of an answer finds
/// its connection counted no more.
pub(super) struct Connection {
    stream: TcpStream,
    /// Who counts it, as long as it counts.
    count: Option<Arc<dyn Count>>,
}

impl Connection {
    fn done(&mut self) {
        if let Some(count) = self.count.take() {
            count.metrics().count_closed();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.done();
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
        // Before the other side can read that it is the end.
        self.done();
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
